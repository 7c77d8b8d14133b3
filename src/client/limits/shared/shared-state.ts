import * as z from 'zod';
import { savedLimit } from '../saved-limit.ts';

/** A process that was not heard of for so long has died; attempts end sooner. */
export const LEASE_MS = 30_000;

/** What one process has in flight. */
const holder = z.object({ inFlight: z.number().int().nonnegative(), seenAt: z.number() });

const sharedState = z.object({
  /** The last write, by the store's clock. */
  at: z.number(),
  limit: savedLimit,
  holders: z.record(z.string(), holder),
});

export type SharedState = z.infer<typeof sharedState>;
export type Holder = z.infer<typeof holder>;

/** `undefined` for what this version of the package cannot have written: better to learn anew than to fail. */
export function parseSharedState(text: string): SharedState | undefined {
  try {
    return sharedState.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
