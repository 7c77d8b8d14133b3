import type { QuotaData } from '../../generated/types.ts';
import type { Clock } from '../clock.ts';
import type { KeyedRequest } from '../request.ts';

/** Estimate of a key's quota: the last quota record, and the requests of this process since. Other processes are not counted. */
export interface QuotaEstimate {
  /** The last quota record of the service. */
  readonly quota: QuotaData;
  /** Time at which the record arrived. */
  readonly asOf: Date;
  /** Requests since then that count against the quota, or may count because their response was lost. */
  readonly usedSince: number;
  /** Estimated requests left; `undefined` if the plan has no numeric limit. */
  readonly remaining: number | undefined;
}

/** Updates the ledger of a call's key, unless its record is younger than `maxAgeMs`. */
export type RefreshQuota = (request: KeyedRequest, maxAgeMs: number) => Promise<void>;

/** Maximum age of an estimate for a key that other processes may use too. */
export const SHARED_KEY_MS = 300_000;

/** A poll that runs: it uses requests of the month of its key. */
export interface RunningPoll {
  /** Requests of a round that count toward the quota. */
  readonly requests: number;
  /** The interval between rounds; `undefined` if the poll spreads what is left of the month. */
  readonly fixedMs: number | undefined;
  /** Called when another poll of the key has started or ended. */
  readonly changed: () => void;
}

interface Known {
  readonly quota: QuotaData;
  readonly asOfMs: number;
  readonly spentBefore: number;
}

/** Pause after a failed `quota()`. */
const FAILURE_PAUSE_MS = 60_000;

/** Counts the requests of a key between two quota records. */
export class QuotaLedger {
  readonly #clock: Clock;
  #known: Known | undefined;
  #fetchFailedAtMs = Number.NEGATIVE_INFINITY;
  #spent = 0;
  readonly #reservedFor = new Set<object>();
  readonly #polls = new Set<RunningPoll>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Requests that this process has spent so far. */
  get spent(): number {
    return this.#spent;
  }

  /**
   * A record replaces the count. `spentBefore` is `spent` at the time of its request. Later requests may or may not be in
   * the record; they are counted, so that the estimate is never too high.
   */
  sawQuota(quota: QuotaData, spentBefore: number): void {
    this.#known = { quota, asOfMs: this.#clock.now(), spentBefore };
  }

  /** A call of `quota()` failed. */
  fetchFailed(): void {
    this.#fetchFailedAtMs = this.#clock.now();
  }

  /** Whether the record is no older than `maxAgeMs`, or `quota()` has just failed. */
  isUpToDate(maxAgeMs: number): boolean {
    const estimate = this.estimate();
    if (estimate !== undefined && this.#isWithin(maxAgeMs, estimate.asOf.getTime())) return true;
    return this.#isWithin(FAILURE_PAUSE_MS, this.#fetchFailedAtMs);
  }

  /** A request was sent that counts, or whose response was lost. A 429 is free (docs/facts.md, Limits). */
  spend(): void {
    this.#spent += 1;
  }

  /** Reserves a request for a call in flight, so that concurrent calls cannot all pass the check for the last request. */
  reserveRequest(call: object): void {
    this.#reservedFor.add(call);
  }

  releaseRequest(call: object): void {
    this.#reservedFor.delete(call);
  }

  /** Requests left that are not reserved; `undefined` if unknown. */
  available(): number | undefined {
    const remaining = this.estimate()?.remaining;
    return remaining === undefined ? undefined : Math.max(0, remaining - this.#reservedFor.size);
  }

  startPoll(poll: RunningPoll): void {
    for (const { changed } of this.#polls) changed();
    this.#polls.add(poll);
  }

  endPoll(poll: RunningPoll): void {
    this.#polls.delete(poll);
    for (const { changed } of this.#polls) changed();
  }

  /** Number of requests in one round of all polls. */
  get requestsPerRound(): number {
    return sumOf(this.#polls, ({ requests }) => requests);
  }

  /**
   * The interval with which the polls without a fixed one, which all have the same, use what the others and the reserve
   * leave of the month until its reset, `leftMs` from now. `undefined` without a numeric limit.
   */
  spreadMs(leftMs: number, reserve: number): number | undefined {
    const remaining = this.estimate()?.remaining;
    if (remaining === undefined) return undefined;
    const spreading = sumOf(this.#polls, ({ requests, fixedMs }) => (fixedMs === undefined ? requests : 0));
    const taken = sumOf(this.#polls, ({ requests, fixedMs }) =>
      fixedMs === undefined ? 0 : (requests * leftMs) / fixedMs,
    );
    const available = remaining - reserve - taken;
    return available <= spreading ? leftMs : Math.ceil((leftMs * spreading) / available);
  }

  /** `undefined` before the first record, and after its period has ended. */
  estimate(): QuotaEstimate | undefined {
    if (this.#known === undefined || hasEnded(this.#known, this.#clock.now())) return undefined;
    const { quota, asOfMs, spentBefore } = this.#known;
    const left = remainingOf(quota);
    const usedSince = this.#spent - spentBefore;
    const remaining = left === undefined ? undefined : Math.max(0, left - usedSince);
    return { quota, asOf: new Date(asOfMs), usedSince, remaining };
  }

  /** A time in the future means that the clock was set back, so the age is not known. */
  #isWithin(maxAgeMs: number, atMs: number): boolean {
    const ageMs = this.#clock.now() - atMs;
    return ageMs >= 0 && ageMs <= maxAgeMs;
  }
}

function sumOf<Item>(items: Iterable<Item>, of: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += of(item);
  return sum;
}

/** If the period was over when the record arrived, the clocks disagree, and the record of the service is valid. */
function hasEnded({ quota, asOfMs }: Known, nowMs: number): boolean {
  const resetsAtMs = Date.parse(quota.resets_at);
  return asOfMs < resetsAtMs && nowMs >= resetsAtMs;
}

/**
 * Requests left this month; `undefined` if the plan has no numeric limit. The value for the Unlimited plan is not
 * documented, so text, null, absence, negative numbers, and its 0 all count as no limit.
 */
export function remainingOf({ plan, monthly_limit: limit, monthly_used: used }: QuotaData): number | undefined {
  const count = typeof limit === 'string' && /^\d+$/.test(limit) ? Number(limit) : limit;
  if (typeof count !== 'number' || count < 0 || (count === 0 && plan === 'unlimited')) return undefined;
  return Math.max(0, count - used);
}

/** Whether the monthly quota is exhausted. */
export function isExhausted(quota: QuotaData): boolean {
  return remainingOf(quota) === 0;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNIT_MS = new Map([
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((unit) => [unit, SECOND_MS] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((unit) => [unit, MINUTE_MS] as const),
  ...['h', 'hr', 'hrs', 'hour', 'hours'].map((unit) => [unit, HOUR_MS] as const),
  ...['d', 'day', 'days'].map((unit) => [unit, DAY_MS] as const),
]);

/**
 * Returns the milliseconds of a `snapshot_granularity`; `undefined` if it cannot be parsed. The service documents `5min`
 * only, so similar spellings are accepted too.
 *
 * @example granularityMs('5min') // 300_000
 */
export function granularityMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d+)\s*([a-z]+)$/.exec(text.trim().toLowerCase()) ?? [];
  const ms = Number(count) * (UNIT_MS.get(unit) ?? Number.NaN);
  return ms > 0 && Number.isSafeInteger(ms) ? ms : undefined;
}
