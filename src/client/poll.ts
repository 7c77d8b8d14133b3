import type { OperationId } from '../generated/operations.ts';
import type { CallOptions, ResponseMeta } from './api-call.ts';
import { abortErrorOf, onReturn } from './cancellation.ts';
import type { Clock, SteadyTime } from './clock.ts';
import { type AnyFxRatesError, ConfigError, FxRatesError, type FxRatesErrorKind } from './errors/errors.ts';
import { granularityMs, type QuotaEstimate, SHARED_KEY_MS } from './quota/quota-ledger.ts';

/** The next call of a poll. */
export interface PollSchedule {
  /** Time of the next call. */
  readonly at: Date;
  /** Milliseconds from the start of one call to the start of the next. */
  readonly intervalMs: number;
  /**
   * Reason for the interval. `'every'`: the option. `'limit'`: the per-minute limit. `'snapshot'`: the snapshot interval of
   * the plan. `'quota'`: the quota must last until it resets. `'unknown'`: `quota()` failed.
   */
  readonly reason: 'every' | 'limit' | 'snapshot' | 'quota' | 'unknown';
}

/** Options of a poll. Those of a call apply to each of its calls. */
export interface PollOptions<Id extends OperationId = OperationId> extends Omit<CallOptions, 'signal'> {
  /**
   * Interval from one call to the next in milliseconds. `'snapshot'` uses the snapshot interval of the plan. `'quota'` spreads
   * the requests left, without the reserve of `quotaGuard`, until the quota resets. It is never shorter than the snapshot
   * interval.
   *
   * @default 'quota'
   * @example 300_000
   */
  readonly every?: 'quota' | 'snapshot' | number | undefined;
  /**
   * Signal that ends the poll: the loop throws `AbortError`.
   *
   * @default undefined
   * @example AbortSignal.timeout(86_400_000)
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Name of the operation to call.
   *
   * @default 'latest'
   */
  readonly operation?: Id | undefined;
  /**
   * Called after a temporary failure (`network`, `server`, `timeout`, `rate_limited`, `quota_exhausted`); the poll then
   * continues. An error that it throws ends the poll. If omitted, every failure ends the poll.
   *
   * @default undefined
   * @example (error, next) => console.warn(error.message, next.at)
   */
  readonly onError?: ((error: AnyFxRatesError, next: PollSchedule) => void) | undefined;
}

/** One result of a poll. */
export interface PollItem<Data> {
  /** The data of the response. */
  readonly data: Data;
  /** The rest of the response. */
  readonly meta: ResponseMeta;
  /** The next call. */
  readonly next: PollSchedule;
}

/**
 * An async iterable that repeats a call. Each iteration starts again with a call. `return()` of an iterator ends a pending
 * `next()` immediately.
 */
export interface Poll<Data> extends AsyncIterable<Data> {
  /** Iterates the same responses with their `meta` and the time of the next call. */
  withMeta(): AsyncIterable<PollItem<Data>>;
}

/** The parts of a client that a poll uses. */
export interface PollParts {
  readonly every: 'quota' | 'snapshot' | number;
  /** The signals of the client, which end the poll. */
  readonly clientSignals: readonly AbortSignal[];
  /** The signal of the options, which ends the poll and its calls. */
  readonly signal: AbortSignal | undefined;
  readonly onError: PollOptions['onError'];
  /** Requests of the quota that are not spread. */
  readonly reserve: number;
  readonly clock: Clock;
  readonly time: SteadyTime;
  readonly call: (signal: AbortSignal) => Promise<{ readonly data: unknown; readonly meta: ResponseMeta }>;
  readonly fetchQuota: (signal: AbortSignal) => Promise<unknown>;
  readonly estimate: () => QuotaEstimate | undefined;
}

const TEMPORARY_KINDS: readonly FxRatesErrorKind[] = [
  'network',
  'server',
  'timeout',
  'rate_limited',
  'quota_exhausted',
];
/** Interval of quota updates during a long wait, which a larger plan shortens. */
const QUOTA_REFRESH_MS = 3_600_000;
const MINUTE_MS = 60_000;

export function createPoll<Data>(parts: PollParts): Poll<Data> {
  return {
    withMeta: () => new Rounds<Data>(parts).iterate((item) => item),
    [Symbol.asyncIterator]: () => new Rounds<Data>(parts).iterate(({ data }) => data),
  };
}

type Interval = Omit<PollSchedule, 'at'>;

/** One iteration of a poll. */
class Rounds<Data> {
  readonly #parts: PollParts;
  #interval: Interval | undefined;
  /** Time of `SteadyTime` at which the last call started. */
  #startedAt = 0;
  readonly #stop = new AbortController();
  /** Ends the calls. If the client is closed, it ends them itself. */
  readonly #callSignal: AbortSignal;
  readonly #signal: AbortSignal;

  constructor(parts: PollParts) {
    const { signal, clientSignals } = parts;
    this.#parts = parts;
    this.#callSignal = AbortSignal.any([this.#stop.signal, ...(signal ? [signal] : [])]);
    this.#signal = AbortSignal.any([this.#callSignal, ...clientSignals]);
  }

  iterate<Item>(itemOf: (item: PollItem<Data>) => Item): AsyncGenerator<Item, void, undefined> {
    return onReturn(this.#run(itemOf), () => this.#stop.abort());
  }

  async *#run<Item>(itemOf: (item: PollItem<Data>) => Item): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        if (this.#signal.aborted) throw abortErrorOf(this.#signal);
        this.#startedAt = this.#parts.time.now();
        const item = await this.#call();
        if (item !== undefined) yield itemOf(item);
        await this.#wait();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  /** `undefined` after a temporary failure. */
  async #call(): Promise<PollItem<Data> | undefined> {
    const { call, onError } = this.#parts;
    try {
      await this.#updateQuota();
      const { data, meta } = await call(this.#callSignal);
      return { data: data as Data, meta, next: this.#schedule() }; // the operation's data, or the output of the schema
    } catch (error) {
      const isTemporary = FxRatesError.is(error) && TEMPORARY_KINDS.includes(error.kind);
      if (!isTemporary || onError === undefined) throw error;
      await onError(error, this.#schedule()); // an async function rejects where another one throws
      return undefined;
    }
  }

  async #wait(): Promise<void> {
    const { clock, time } = this.#parts;
    const signal = this.#signal;
    for (;;) {
      const { intervalMs, reason } = this.#schedule();
      const leftMs = this.#startedAt + intervalMs - time.now();
      if (leftMs <= 0) return;
      await clock.sleep(Math.min(leftMs, QUOTA_REFRESH_MS), signal).catch((error: unknown) => {
        throw signal.aborted ? abortErrorOf(signal) : error;
      });
      // No call was made yet, so there is no interval.
      if (reason === 'unknown') return;
      await this.#updateQuota();
    }
  }

  /** @throws the error of `quota()`, if no quota record is known */
  async #updateQuota(): Promise<void> {
    const { every, estimate, fetchQuota, clock } = this.#parts;
    if (typeof every === 'number') return;
    const ageMs = clock.now() - (estimate()?.asOf.getTime() ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs < SHARED_KEY_MS) return;
    try {
      await fetchQuota(this.#callSignal);
    } catch (error) {
      const isAborted = FxRatesError.is(error) && error.kind === 'aborted';
      if (isAborted || this.#interval === undefined) throw error;
    }
  }

  #schedule(): PollSchedule {
    const { every, estimate, reserve, time } = this.#parts;
    const known = typeof every === 'number' ? { intervalMs: every, reason: 'every' as const } : undefined;
    const quota = estimate();
    const fromMs = time.toEpoch(this.#startedAt);
    this.#interval = known ?? (quota && intervalOf(quota, { every, fromMs, reserve })) ?? this.#interval;
    const interval = this.#interval ?? { intervalMs: MINUTE_MS, reason: 'unknown' };
    return { ...interval, at: new Date(fromMs + interval.intervalMs) };
  }
}

interface Spreading extends Pick<PollParts, 'every' | 'reserve'> {
  /** Epoch milliseconds of the last call. */
  readonly fromMs: number;
}

/**
 * The shortest interval that the plan and, for `'quota'`, its remaining requests allow. @throws ConfigError for unknown
 * snapshots
 */
function intervalOf({ quota, remaining }: QuotaEstimate, { every, fromMs, reserve }: Spreading): Interval {
  const snapshotMs = granularityMs(quota.snapshot_granularity);
  if (every === 'snapshot' && snapshotMs === undefined) {
    throw new ConfigError(
      `every: cannot parse the plan's snapshot_granularity '${quota.snapshot_granularity}'; pass a number of milliseconds`,
    );
  }
  const leftMs = Date.parse(quota.resets_at) - fromMs; // negative if the clocks disagree, so that another bound is longer
  const requests = Math.max(1, (remaining ?? Number.POSITIVE_INFINITY) - reserve);
  const bounds: readonly Interval[] = [
    { intervalMs: Math.ceil(MINUTE_MS / Math.max(1, quota.rate_limit_per_minute)), reason: 'limit' },
    { intervalMs: snapshotMs ?? 0, reason: 'snapshot' },
    { intervalMs: every === 'quota' ? Math.ceil(leftMs / requests) : 0, reason: 'quota' },
  ];
  return bounds.reduce((longest, bound) => (bound.intervalMs > longest.intervalMs ? bound : longest));
}
