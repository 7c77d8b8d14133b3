import { emptyState, type ServiceState } from '../service/service-state.ts';
import type { AnswerFunction, Rule, SentAnswer } from './rule-schema.ts';

/** The state of a mock: that of its service, and its rules. */
export interface RuleState extends ServiceState {
  /** Of those that match a request, the last one counts. */
  rules: readonly RuleRecord[];
  /** Number of the newest rule. */
  lastRule: number;
  /** The ids of all rules so far, also of removed ones, so that a filter with another id is a mistake. */
  ruleIds: Set<string>;
}

export function emptyRuleState(seed: number): RuleState {
  return { ...emptyState(seed), rules: [], lastRule: 0, ruleIds: new Set() };
}

/** A rule as the mock keeps it. */
export interface RuleRecord {
  readonly settings: Omit<Rule, 'respond' | 'addedAt' | 'matched' | 'used' | 'hasFunction'>;
  /** `undefined` if the rule has no response of its own. */
  readonly answers: readonly PreparedAnswer[] | AnswerFunction | undefined;
  readonly addedAt: number;
  matched: number;
  used: number;
  /** Matching requests by key id, `''` for requests without a known key. */
  readonly matchedByKey: Record<string, number>;
}

/** A response of a rule as the mock keeps it. */
export interface PreparedAnswer extends SentAnswer {
  /** `error.code` in the body, for the journal. */
  readonly code: string | undefined;
}

/** A rule in a snapshot: without its function. */
export interface SavedRule extends Omit<Rule, 'respond'> {
  /** The responses as they are sent. */
  readonly respond?: readonly SentAnswer[] | undefined;
  /** Matching requests by key id, `''` for requests without a known key. */
  readonly matchedByKey: Readonly<Record<string, number>>;
}

/** The rule of `mock.latest` for every query; those for one base have its id and the base. */
export const LATEST = 'latest';
/** The lowest rule of a recording; the others have its id and a number. */
export const RECORDED = 'recorded';

/** The place of a rule among the others: those for every query of `latest` lie below those for one base, below all others. */
export function rankOf(id: string): number {
  if (id === RECORDED || id === LATEST) return 0;
  if (isRecorded(id)) return 1;
  return isLatest(id) ? 2 : 3;
}

/** Whether a rule is one of `mock.latest`. */
export function isLatest(id: string): boolean {
  return id === LATEST || id.startsWith(`${LATEST}.`) || isRecorded(id);
}

/** Whether a rule is one of a recording, of which a test need not use every response. */
export function isRecorded(id: string): boolean {
  return id === RECORDED || id.startsWith(`${RECORDED}.`);
}
