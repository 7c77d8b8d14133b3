import { onAnyAbort } from '../../foreign-values.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import type { QuotaData } from '../../generated/types.ts';
import type { ResponseMeta } from '../call/api-call.ts';
import { AbortError, ConfigError, isTemporary } from '../errors/errors.ts';
import { describeValue } from '../errors/program-values.ts';
import type { CallOptions, PollOptions, PollSchedule, StandardSchema } from '../options/call-options.ts';
import type { QuotaEstimate } from '../options/client-options.ts';
import { readOptions } from '../options/option-table.ts';
import { resolveCall } from '../options/resolve-options.ts';
import { abortErrorOf } from '../state/lifetime.ts';
import type { RunningPoll } from '../state/poll-budget.ts';
import { type QuotaLedger, SHARED_KEY_MS } from '../state/quota-ledger.ts';
import { granularityMs, perMinuteIn, resetsAtMsIn } from '../state/quota-record.ts';
import { abortable, Cancellation, onReturn } from '../time/abort.ts';
import type { LoopClient } from './connect.ts';

/** The query of a poll, or a list of queries: each round then makes a call per query. */
export type PollQueries<Query> = Query | readonly Query[];

/** One result of a poll. */
export interface PollItem<Data, Query = object | undefined> {
  /** The query of the call; `undefined` if the poll has none. */
  readonly query: Query;
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
export interface Poll<Data, Query = object | undefined> extends AsyncIterable<Data> {
  /** Iterates the same responses with their query, their `meta` and the time of the next call. */
  withMeta(): AsyncIterable<PollItem<Data, Query>>;
}

/** Interval of quota updates during a long wait, which a larger plan shortens. */
const QUOTA_REFRESH_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** For a record without a reset. */
const LONGEST_MONTH_MS = 31 * 86_400_000;

/** The options of a poll, and its client. */
interface PollClient extends LoopClient {
  readonly options: PollOptions<OperationId, StandardSchema | undefined>;
}

/** @throws ConfigError if the options are wrong, or there is no query */
export function createPoll<Data>(query: PollQueries<object> | undefined, given: PollClient): Poll<Data> {
  const parts = resolvePoll(query, given);
  return {
    withMeta: () => new Rounds<Data>(parts).iterate((item) => item),
    [Symbol.asyncIterator]: () => new Rounds<Data>(parts).iterate(({ data }) => data),
  };
}

type PollParts = ReturnType<typeof resolvePoll>;

function resolvePoll(query: PollQueries<object> | undefined, { options, ...client }: PollClient) {
  const { cache, quotaGuard } = client.settings;
  const { every = 'quota', operation = 'latest', onError, signal, ...given } = readOptions('poll', options);
  const call = cache === undefined || given.maxAgeMs !== undefined ? given : { ...given, maxAgeMs: 0 };
  resolveCall(call, client.settings); // throws before the first call
  const queries: readonly (object | undefined)[] = Array.isArray(query) ? query : [query];
  if (queries.length === 0) throw new ConfigError('query: expected at least one query, got an empty list');
  // Requests of the quota that are not spread.
  const reserve = given.priority === 'high' ? 0 : (quotaGuard?.reserve ?? 0);
  const signals = signal === undefined ? client.lifetime.signals : [...client.lifetime.signals, signal];
  return { ...client, signals, queries, every, operation, onError, reserve, call };
}

type Interval = Omit<PollSchedule, 'at'>;
type CallOutcome<Data> = Omit<PollItem<Data>, 'next'> | { readonly error: unknown };

/** One iteration of a poll. */
class Rounds<Data> implements RunningPoll {
  readonly requests: number;
  readonly #parts: PollParts;
  #interval: Interval | undefined;
  /** The quota that the poll shares with the other polls of its key. */
  #quota: QuotaLedger | undefined;
  /** Dated time of `SteadyTime` at which the last round started. */
  #startedAt = 0;
  /** Ends the calls and the waits; the reason is the error of the loop. */
  readonly #stop = new Cancellation();
  #hasReturned = false;

  constructor(parts: PollParts) {
    const { queries, operation } = parts;
    this.#parts = parts;
    this.requests = operations[operation].consumesQuota ? queries.length : 0;
  }

  get fixedMs(): number | undefined {
    const { every, call } = this.#parts;
    const intervalMs = every === 'snapshot' ? this.#interval?.intervalMs : every;
    // Younger responses come from the cache.
    return typeof intervalMs === 'number' ? Math.max(intervalMs, call.maxAgeMs ?? 0) : undefined;
  }

  iterate<Item>(itemOf: (item: PollItem<Data>) => Item): AsyncGenerator<Item, void, undefined> {
    return onReturn(this.#run(itemOf), () => this.#end());
  }

  #end(): void {
    this.#hasReturned = true;
    this.#stop.cancel(new AbortError());
    this.#quota?.polls.end(this);
  }

  async *#run<Item>(itemOf: (item: PollItem<Data>) => Item): AsyncGenerator<Item, void, undefined> {
    const unlisten = onAnyAbort(this.#parts.signals, (signal) => this.#stop.cancel(abortErrorOf(signal)));
    try {
      for (;;) {
        for (const outcome of await this.#startRound()) {
          const item = await this.#itemOf(await outcome);
          if (item !== undefined) yield itemOf(item);
        }
        await this.#wait();
      }
    } catch (error) {
      if (!this.#hasReturned) throw error;
    } finally {
      unlisten();
      this.#end();
    }
  }

  /** The outcomes of a round, in the order of the queries; the only one is the error of `quota()`, if it failed. */
  async #startRound(): Promise<readonly (CallOutcome<Data> | Promise<CallOutcome<Data>>)[]> {
    const { queries, operation, call, request, settings } = this.#parts;
    if (this.#stop.aborted) throw this.#stop.reason;
    this.#startedAt = settings.time.datedNow();
    try {
      await this.#updateQuota();
    } catch (error) {
      return [{ error }];
    }
    this.#shareQuota();
    const options = { ...call, signal: this.#stop.toSignal() };
    return queries.map(async (query) => {
      try {
        const result = await request<Data>(operation, query, options).withMeta();
        const isCounted = result.meta.source === 'network' && this.requests > 0;
        if (isCounted) this.#parts.stateInUse()?.quota.polls.sent();
        return { query, ...result };
      } catch (error) {
        return { error: this.#stop.reason ?? error };
      }
    });
  }

  /** `undefined` after a temporary failure. */
  async #itemOf(outcome: CallOutcome<Data>): Promise<PollItem<Data> | undefined> {
    if (!('error' in outcome)) return { ...outcome, next: this.#schedule() };
    const { error } = outcome;
    const { onError } = this.#parts;
    if (!isTemporary(error) || onError === undefined) throw error;
    await this.#untilStopped(async () => onError(error, this.#schedule()));
    return undefined;
  }

  /** Ends with the poll, even if a function of the program does not. */
  #untilStopped(work: (stop: Cancellation) => Promise<unknown>): Promise<unknown> {
    return abortable(work(this.#stop), this.#stop);
  }

  async #wait(): Promise<void> {
    const { time } = this.#parts.settings;
    for (;;) {
      const { intervalMs, reason } = this.#schedule();
      const leftMs = this.#startedAt + intervalMs - time.datedNow();
      if (leftMs <= 0) return;
      await this.#untilStopped((stop) => time.sleep(Math.min(leftMs, QUOTA_REFRESH_MS), stop));
      // No call was made yet, so there is no interval.
      if (reason === 'unknown') return;
      await this.#updateQuota();
    }
  }

  /** @throws the error of `quota()`, if no quota record is known */
  async #updateQuota(): Promise<void> {
    const { every, settings, request, call } = this.#parts;
    const { asOf } = this.#estimate() ?? {};
    const ageMs = settings.clock.now() - (asOf?.getTime() ?? Number.NEGATIVE_INFINITY);
    if (typeof every === 'number' || (ageMs >= 0 && ageMs < SHARED_KEY_MS)) return;
    const { headers, timeoutMs, maxRetries } = call;
    const options: CallOptions = { headers, timeoutMs, maxRetries, priority: 'high', signal: this.#stop.toSignal() };
    await request('quota', undefined, options).catch((error: unknown) => {
      if (this.#stop.aborted) throw this.#stop.reason;
      if ((this.#interval ?? this.#estimate()) === undefined) throw error;
    });
  }

  #estimate(): QuotaEstimate | undefined {
    return this.#parts.stateInUse()?.quota.estimate();
  }

  #schedule(): PollSchedule {
    const { every, settings } = this.#parts;
    this.#shareQuota();
    const fromMs = settings.time.toEpoch(this.#startedAt);
    const known =
      typeof every === 'number' ? { intervalMs: every, reason: 'every' as const } : this.#intervalAt(fromMs);
    this.#interval = known ?? this.#interval;
    const interval = this.#interval ?? { intervalMs: MINUTE_MS, reason: 'unknown' };
    return { ...interval, at: new Date(fromMs + interval.intervalMs) };
  }

  /** The key, and with it the quota, is known from the first call on. The key can be rotated. */
  #shareQuota(): void {
    const quota = this.#parts.stateInUse()?.quota;
    if (quota === this.#quota) return;
    this.#quota?.polls.end(this);
    this.#quota = quota;
    quota?.polls.start(this);
  }

  /**
   * The shortest interval that the plan and, for `'quota'`, its remaining requests allow; `undefined` without a record.
   * @throws ConfigError for unknown snapshots
   */
  #intervalAt(fromMs: number): Interval | undefined {
    const { every, queries, reserve } = this.#parts;
    const { quota, remaining } = this.#quota?.estimate() ?? {};
    if (this.#quota === undefined || quota === undefined) return undefined;
    const { polls } = this.#quota;
    const snapshotMs = granularityMs(quota.snapshot_granularity);
    if (snapshotMs === undefined) this.#reportUnknownSnapshots(quota);
    // Negative if the clocks disagree, so that another bound is longer.
    const leftMs = (resetsAtMsIn(quota) ?? fromMs + LONGEST_MONTH_MS) - fromMs;
    const perMinute = perMinuteIn(quota) ?? 1;
    const perRound = Math.max(queries.length, polls.requestsPerRound); // a free call uses the limit, too
    const minutes = Math.max(perRound / perMinute, every === 'quota' ? 1 : 0); // other calls need the minute
    const spreads = every === 'quota' && remaining !== undefined && this.requests > 0;
    const bounds: readonly Interval[] = [
      { intervalMs: Math.ceil(MINUTE_MS * minutes), reason: 'limit' },
      { intervalMs: snapshotMs ?? 0, reason: 'snapshot' },
      { intervalMs: spreads ? polls.spreadMs({ requests: remaining - reserve, leftMs }) : 0, reason: 'quota' },
    ];
    return bounds.reduce((longest, bound) => (bound.intervalMs > longest.intervalMs ? bound : longest));
  }

  /** @throws ConfigError if the option asks for the snapshots */
  #reportUnknownSnapshots({ snapshot_granularity }: QuotaData): void {
    const { every, events } = this.#parts;
    const problem = `every: cannot parse the plan's snapshot_granularity ${describeValue(snapshot_granularity)}`;
    if (every === 'snapshot') throw new ConfigError(`${problem}; pass a number of milliseconds`);
    events.warnOnce(`${problem}, so a poll may repeat unchanged rates; to avoid it, pass a number of milliseconds`);
  }
}
