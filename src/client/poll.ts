import type { OperationId } from '../generated/operations.ts';
import type { ResponseMeta } from './api-call.ts';
import type { CallOptions } from './call-options.ts';
import { type AnyFxRatesError, ConfigError, FxRatesError, type FxRatesErrorKind } from './errors/errors.ts';
import { type KeyQuota, type RunningPoll, SHARED_KEY_MS } from './key/key-quota.ts';
import { granularityMs } from './key/quota-record.ts';
import { abortErrorOf } from './lifetime.ts';
import { onReturn } from './time/abort.ts';
import type { Clock, SteadyTime } from './time/clock.ts';

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
export interface PollOptions<Id extends OperationId = OperationId> extends CallOptions {
  /**
   * Interval from one call to the next in milliseconds. `'snapshot'` uses the snapshot interval of the plan. `'quota'` spreads
   * the requests left, without the reserve of `quotaGuard`, until the quota resets. All polls of a key in the process share
   * these requests. The interval is never shorter than the snapshot interval.
   *
   * @default 'quota'
   * @example 300_000
   */
  readonly every?: 'quota' | 'snapshot' | number | undefined;
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

/** The query of a poll, or a list of queries: each round then makes a call per query. */
export type PollQueries<Query> = Query | readonly Query[];

/** One result of a poll. */
export interface PollItem<Data, Query = object> {
  /** The query of the call; `undefined` if the poll has none. */
  readonly query: Query | undefined;
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
export interface Poll<Data, Query = object> extends AsyncIterable<Data> {
  /** Iterates the same responses with their query, their `meta` and the time of the next call. */
  withMeta(): AsyncIterable<PollItem<Data, Query>>;
}

/** The parts of a client that a poll uses. */
export interface PollParts {
  /** One for each call of a round. */
  readonly queries: readonly (object | undefined)[];
  /** Whether a call counts toward the quota. */
  readonly consumesQuota: boolean;
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
  readonly call: (
    query: object | undefined,
    signal: AbortSignal,
  ) => Promise<{ readonly data: unknown; readonly meta: ResponseMeta }>;
  readonly fetchQuota: (signal: AbortSignal) => Promise<unknown>;
  /** The quota of the key in use; `undefined` before the first key. */
  readonly quota: () => KeyQuota | undefined;
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
type CallOutcome<Data> = Omit<PollItem<Data>, 'next'> | { readonly error: unknown };

/** One iteration of a poll. */
class Rounds<Data> implements RunningPoll {
  readonly requests: number;
  readonly #parts: PollParts;
  #interval: Interval | undefined;
  /** The quota that the poll shares with the other polls of its key. */
  #quota: KeyQuota | undefined;
  /** Time of `SteadyTime` at which the last round started. */
  #startedAt = 0;
  readonly #stop = new AbortController();
  /** Ends the current sleep, because other polls have started or ended. */
  #alarm = new AbortController();
  /** Ends the calls. If the client is closed, it ends them itself. */
  readonly #callSignal: AbortSignal;
  readonly #signal: AbortSignal;

  constructor(parts: PollParts) {
    const { signal, clientSignals, queries, consumesQuota } = parts;
    this.#parts = parts;
    this.requests = consumesQuota ? queries.length : 0;
    this.#callSignal = AbortSignal.any([this.#stop.signal, ...(signal ? [signal] : [])]);
    this.#signal = AbortSignal.any([this.#callSignal, ...clientSignals]);
  }

  get fixedMs(): number | undefined {
    const { every } = this.#parts;
    if (typeof every === 'number') return every;
    return every === 'snapshot' ? this.#interval?.intervalMs : undefined;
  }

  readonly changed = (): void => this.#alarm.abort();

  iterate<Item>(itemOf: (item: PollItem<Data>) => Item): AsyncGenerator<Item, void, undefined> {
    return onReturn(this.#run(itemOf), () => this.#end());
  }

  #end(): void {
    this.#stop.abort();
    this.#quota?.endPoll(this);
  }

  async *#run<Item>(itemOf: (item: PollItem<Data>) => Item): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        for (const outcome of await this.#startRound()) {
          const item = await this.#itemOf(await outcome);
          if (item !== undefined) yield itemOf(item);
        }
        await this.#wait();
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      this.#end();
    }
  }

  /** The outcomes of a round, in the order of the queries; the only one is the error of `quota()`, if it failed. */
  async #startRound(): Promise<readonly (CallOutcome<Data> | Promise<CallOutcome<Data>>)[]> {
    const { queries, call, time } = this.#parts;
    if (this.#signal.aborted) throw abortErrorOf(this.#signal);
    this.#startedAt = time.now();
    try {
      await this.#updateQuota();
    } catch (error) {
      return [{ error }];
    }
    return queries.map((query) =>
      call(query, this.#callSignal).then(
        ({ data, meta }) => ({ query, data: data as Data, meta }), // the operation's data, or the output of the schema
        (error: unknown) => ({ error }),
      ),
    );
  }

  /** `undefined` after a temporary failure. */
  async #itemOf(outcome: CallOutcome<Data>): Promise<PollItem<Data> | undefined> {
    if (!('error' in outcome)) return { ...outcome, next: this.#schedule() };
    const { error } = outcome;
    const { onError } = this.#parts;
    const isTemporary = FxRatesError.is(error) && TEMPORARY_KINDS.includes(error.kind);
    if (!isTemporary || onError === undefined) throw error;
    await onError(error, this.#schedule()); // an async function rejects where another one throws
    return undefined;
  }

  async #wait(): Promise<void> {
    const { time } = this.#parts;
    for (;;) {
      this.#alarm = new AbortController();
      const { intervalMs, reason } = this.#schedule();
      const leftMs = this.#startedAt + intervalMs - time.now();
      if (leftMs <= 0) return;
      const isOver = await this.#sleep(Math.min(leftMs, QUOTA_REFRESH_MS));
      // No call was made yet, so there is no interval.
      if (isOver && reason === 'unknown') return;
      if (isOver) await this.#updateQuota();
    }
  }

  /** Returns false if other polls have started or ended. */
  async #sleep(ms: number): Promise<boolean> {
    const alarm = this.#alarm.signal;
    try {
      await this.#parts.clock.sleep(ms, AbortSignal.any([this.#signal, alarm]));
      return true;
    } catch (error) {
      if (this.#signal.aborted) throw abortErrorOf(this.#signal);
      if (alarm.aborted) return false;
      throw error;
    }
  }

  /** @throws the error of `quota()`, if no quota record is known */
  async #updateQuota(): Promise<void> {
    const { every, fetchQuota, clock } = this.#parts;
    if (typeof every === 'number') return;
    const ageMs = clock.now() - (this.#parts.quota()?.estimate()?.asOf.getTime() ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs < SHARED_KEY_MS) return;
    try {
      await fetchQuota(this.#callSignal);
    } catch (error) {
      const isAborted = FxRatesError.is(error) && error.kind === 'aborted';
      if (isAborted || this.#interval === undefined) throw error;
    }
  }

  #schedule(): PollSchedule {
    const { every, time } = this.#parts;
    this.#shareQuota();
    const fromMs = time.toEpoch(this.#startedAt);
    const known =
      typeof every === 'number' ? { intervalMs: every, reason: 'every' as const } : this.#intervalAt(fromMs);
    this.#interval = known ?? this.#interval;
    const interval = this.#interval ?? { intervalMs: MINUTE_MS, reason: 'unknown' };
    return { ...interval, at: new Date(fromMs + interval.intervalMs) };
  }

  /** The key, and with it the quota, is known from the first call on. The key can be rotated. */
  #shareQuota(): void {
    const quota = this.#parts.quota();
    if (quota === this.#quota) return;
    this.#quota?.endPoll(this);
    this.#quota = quota;
    quota?.startPoll(this);
  }

  /**
   * The shortest interval that the plan and, for `'quota'`, its remaining requests allow; `undefined` without a record.
   * @throws ConfigError for unknown snapshots
   */
  #intervalAt(fromMs: number): Interval | undefined {
    const { every, reserve } = this.#parts;
    const quota = this.#quota?.estimate()?.quota;
    if (this.#quota === undefined || quota === undefined) return undefined;
    const snapshotMs = granularityMs(quota.snapshot_granularity);
    if (every === 'snapshot' && snapshotMs === undefined) {
      throw new ConfigError(
        `every: cannot parse the plan's snapshot_granularity '${quota.snapshot_granularity}'; pass a number of milliseconds`,
      );
    }
    const leftMs = Date.parse(quota.resets_at) - fromMs; // negative if the clocks disagree, so that another bound is longer
    const perMinute = Math.max(1, quota.rate_limit_per_minute);
    const bounds: readonly Interval[] = [
      { intervalMs: Math.ceil((MINUTE_MS * this.#quota.requestsPerRound) / perMinute), reason: 'limit' },
      { intervalMs: snapshotMs ?? 0, reason: 'snapshot' },
      { intervalMs: every === 'quota' ? (this.#quota.spreadMs(leftMs, reserve) ?? 0) : 0, reason: 'quota' },
    ];
    return bounds.reduce((longest, bound) => (bound.intervalMs > longest.intervalMs ? bound : longest));
  }
}
