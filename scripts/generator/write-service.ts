import type { Contract } from './contract.ts';
import { literal } from './source.ts';

/** `service.ts`: facts about the service that do not belong to one operation. */
export function writeService({ plans, apiKeyPattern, notShown }: Contract): string {
  return `
/** What an account plan allows. */
export interface Plan {
  readonly title: string;
  readonly rateLimitPerMinute: number;
  /** Requests per month; null for no limit. */
  readonly monthlyLimit: number | null;
  /** API keys that may be active at once; null when not shown. */
  readonly maxActiveKeys: number | null;
}

export const plans = ${literal(plans)} as const satisfies Record<string, Plan>;

/** Name of a plan. */
export type PlanName = keyof typeof plans;

/** Regular expression of an API key. */
export const apiKeyPattern = ${literal(apiKeyPattern)};

/** What the service's specification leaves open, by name. */
export const notShown = ${literal(notShown)} as const satisfies Record<string, string>;

export type NotShown = keyof typeof notShown;
`;
}
