import { type SteadyTime, steadyTime } from '../../time/clock.ts';
import { type Demand, Limit, shiftReport, startingState } from '../key-limit.ts';
import { applyReport, type Report, type RetryAfterReading, stayClosedUntil } from '../limit-rules.ts';
import {
  addInFlight,
  isUnknown,
  type LimiterSettings,
  type LimiterState,
  UNBOUNDED,
  WINDOW_MS,
} from '../limit-state.ts';
import { advance, freeSlots, type Grant, grant, isLimitWanted } from '../slots.ts';
import type { Lease, SharedState } from './shared-state.ts';
import { EXCHANGE_TIMEOUT_MS, StoreExchange, type StoreExchangeOptions } from './store-exchange.ts';
import { patienceEnd } from './store-guard.ts';

/** Between two checks whether other processes have released slots: while they have requests in flight, and at most. */
const LOOK_AGAIN_MS = 50;
const LOOK_AGAIN_AT_LEAST_MS = 1_000;
/** A process that has not written for this long is dead; attempts take less time. */
const LEASE_MS = 30_000;
/** A process that waits writes this often, and has ended if it has missed two writes. */
const WAITING_MS = 5_000;
/** Longest duration of a `quota()` call for the limit, which may have to wait for the next window. */
const QUOTA_CALL_MS = WINDOW_MS;

const NO_GRANT: Grant = { count: 0, askAgainAt: undefined };
const NO_DEMAND: Demand = { wanted: 0, low: 0, queued: 0, deadlineAt: UNBOUNDED };
const NO_LEASE: Lease = { inFlight: 0, waiting: 0, low: 0, seenAt: 0, askedAt: 0 };

/** The store through which processes share a limit, and its name there. */
export type Sharing = Pick<StoreExchangeOptions, 'store' | 'name'>;

export interface SharedLimitOptions extends StoreExchangeOptions {
  readonly settings: LimiterSettings;
  /** Called when a grant may have become possible. */
  readonly onChange: () => void;
}

/**
 * The limit of one key for several processes. Each process reads the shared state, applies its reports, decides like a
 * single process, and writes the result if no other process wrote meanwhile; otherwise it starts again. All processes
 * decide with the same code, and no slot is granted twice.
 */
export class SharedLimit extends Limit {
  readonly #options: SharedLimitOptions;
  readonly #time: SteadyTime;
  readonly #exchange: StoreExchange;
  /** Reports that are not in the store yet, in the time of this process. */
  #reports: Report[] = [];
  /** Number of requests that were granted and not reported yet. */
  #inFlight = 0;
  /** Those of them that no call has used yet. */
  #granted = NO_GRANT;
  #demand = NO_DEMAND;
  #asksForLimit = false;
  #askAt = Number.NEGATIVE_INFINITY;
  #isExchanging = false;
  #exchanged: Promise<void> = Promise.resolve();
  #hasMore = false;
  /** Whether this process decides without the store, which has failed, or is too slow for a deadline. */
  #isAlone = false;
  /** Number of processes that each continue with a part of the limit; otherwise 1. */
  #sharers = 1;
  /** Of the store's clock, when `state` was last set: during an exchange, the estimate can change before the state does. */
  #aheadMs = 0;
  /** The end of the longest Retry-After of this process, in its dated time. A store that fails over can lose a refusal. */
  #refusedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SharedLimitOptions) {
    const time = steadyTime(options.clock);
    super(options.settings, time);
    this.#options = options;
    this.#time = time;
    this.#exchange = new StoreExchange(options);
  }

  override get aheadMs(): number {
    return super.aheadMs + this.#aheadMs;
  }

  override get reserved(): number {
    return this.#granted.count;
  }

  /** Resolves when the store has all reports, or has failed. */
  stored(): Promise<void> {
    return this.#exchanged;
  }

  override grant(now: number, demand: Demand): Grant {
    this.#demand = demand;
    const granted = this.#handOut(demand.wanted);
    if (granted) return granted;
    if (demand.wanted === 0) return this.#endWait();
    if (this.#isAlone) return this.#grantAlone(now, demand);
    if (now >= this.#askAt) this.#exchangeSoon();
    const askedAt = this.#exchange.askedAt ?? now;
    const patientUntil = patienceEnd(askedAt, demand.deadlineAt);
    if (now >= patientUntil) {
      this.#continueAlone();
      return this.#grantAlone(now, demand);
    }
    const askAt = this.#hasMore ? UNBOUNDED : this.#askAt;
    // An exchange that takes longer than its own limit fails, which wakes the calls as well.
    const mayEndFirst = this.#isExchanging && patientUntil < askedAt + EXCHANGE_TIMEOUT_MS;
    return { count: 0, askAgainAt: earliest(askAt, mayEndFirst ? patientUntil : UNBOUNDED) };
  }

  override report(report: Report): RetryAfterReading | undefined {
    if (isResult(report)) this.#inFlight -= 1;
    if (report.kind === 'configured') this.#asksForLimit = false;
    this.#reports.push(report);
    // The slot of the call that has arrived is asked for next.
    if (!this.#isAlone && report.kind !== 'called') this.#exchangeSoon();
    const isLimit = report.kind === 'configured';
    const reading = super.report(isLimit ? { ...report, perMinute: partOf(report.perMinute, this.#sharers) } : report);
    const { waitMs = 0 } = reading ?? {};
    const openAt = report.now + this.#time.skippedMs + waitMs;
    if (waitMs <= this.settings.maxRetryAfterMs) this.#refusedUntil = Math.max(this.#refusedUntil, openAt);
    return reading;
  }

  /** Only the process that the state names calls `quota()`. */
  override isWanted(now: number, waiting: number): boolean {
    return this.#isAlone ? super.isWanted(now, waiting) : this.#asksForLimit;
  }

  /** The others need not leave a slot for this process any longer. */
  #endWait(): Grant {
    const hasNews = this.#isWaiting || this.#reports.some(({ kind }) => kind === 'called');
    if (hasNews && !this.#isAlone && !this.#isExchanging) this.#exchangeSoon();
    return NO_GRANT;
  }

  /** Whether this process waits, as far as the store knows. */
  get #isWaiting(): boolean {
    const { id, state } = this.#exchange;
    return (state?.leases[id]?.waiting ?? 0) > 0;
  }

  /** Passes the granted slots to the waiting calls, whose number may have decreased. */
  #handOut(wanted: number): Grant | undefined {
    const { count: granted } = this.#granted;
    this.#granted = NO_GRANT;
    const count = Math.min(granted, wanted);
    const { low, queued } = this.#demand;
    const left = wanted - count;
    this.#demand = { ...this.#demand, wanted: left, low: Math.min(low, left), queued: queued - count };
    const now = this.#time.now();
    for (let call = count; call < granted; call += 1) this.report({ kind: 'unused', now, sentAt: now });
    return count === 0 ? undefined : { count, askAgainAt: wanted > count ? this.#askAt : undefined };
  }

  /** Asks again for the next slot, or for the next try of the store if that is earlier and no try is running. */
  #grantAlone(now: number, demand: Demand): Grant {
    const { awayUntil = now } = this.#exchange.guard;
    if (now >= awayUntil) this.#exchangeSoon();
    const { count, askAgainAt = UNBOUNDED } = super.grant(now, demand);
    this.#inFlight += count;
    return { count, askAgainAt: earliest(askAgainAt, this.#isExchanging ? UNBOUNDED : awayUntil) };
  }

  /** In an outage of the store, drops reports of requests that expired: `#refusedUntil` has the end of a longer wait. */
  #forgetOldReports(): void {
    const expired = this.#time.now() - WINDOW_MS;
    this.#reports = this.#reports.filter(({ kind, now }) => kind === 'configured' || now > expired);
  }

  /** In a microtask, so that simultaneous reports are written together; one exchange at a time. */
  #exchangeSoon(): void {
    this.#hasMore = true;
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    this.#exchanged = Promise.resolve().then(() => this.#exchangeAll());
  }

  async #exchangeAll(): Promise<void> {
    try {
      while (this.#hasMore) {
        this.#hasMore = false;
        this.#apply(await this.#exchange.commit(() => this.#offer()));
        this.#options.onChange();
      }
      this.#isExchanging = false;
    } catch {
      this.#isExchanging = false; // the guard of the store has reported why
      this.#continueAlone();
      this.#options.onChange();
    }
  }

  /** Drops old reports before each offer and at no other time, because `#apply` removes as many as the offer has. */
  #offer(): Proposal {
    this.#forgetOldReports();
    return this.#propose();
  }

  /** Applies the reports of this process to the shared state, and requests a grant for its calls. */
  #propose(): Proposal {
    const { id, state: known, aheadMs } = this.#exchange;
    const reports = this.#reports.map((report) => shiftReport(report, aheadMs));
    const now = Math.max(this.#exchange.now(), known?.at ?? 0);
    const stored = Object.entries(known?.leases ?? {});
    // Returns to the head of the order: its slot was refused, or its only call waits because of a `quota()` for all.
    const isFirst = reports.some(
      ({ kind }) => kind === 'refused' || (kind === 'configured' && this.#demand.wanted === 1),
    );
    const leases = new Map<string, Lease>(isFirst ? [[id, NO_LEASE], ...stored] : stored);
    const own = leases.get(id) ?? NO_LEASE;
    leases.set(id, own);
    const dead = reclaimDead(leases, { id, now });
    const limit = this.#withReports([...reports, ...dead], own.inFlight, now);
    const isLow = this.#demand.low === this.#demand.wanted;
    const { others, share } = shareFor(id, { leases, now, isLow, slots: freeSlots(advance(limit, now)) });
    const granted = grant(limit, { now, ...atMost(Math.min(share, roomUnder(limit, this.settings)), this.#demand) });
    const { count } = granted.grant;
    const waiting = this.#demand.wanted - count;
    const low = Math.min(this.#demand.low, waiting);
    const queued = others.reduce((sum, lease) => sum + lease.waiting, this.#demand.queued - count);
    // The call that is sent now calls `quota()`: a process without a grant would do so only after its first one.
    const asks = count > 0 && isLimitWanted(granted.state, { now, waiting: queued }) && !isAsked(leases, now);
    const isChanged = count > 0 || waiting > 0 !== own.waiting > 0 || waiting > low !== own.waiting > own.low;
    if (count > 0) leases.delete(id); // it is served, and goes to the end of the order
    leases.set(id, { inFlight: this.#inFlight + count, waiting, low, seenAt: now, askedAt: asks ? now : own.askedAt });
    const isDue = waiting > 0 && now - own.seenAt >= WAITING_MS;
    return {
      state: { at: now, limit: granted.state, leases: Object.fromEntries(leases) },
      // If its share is used, the grant has no time to ask again: the process checks soon whether others used the rest.
      grant: granted.grant,
      reported: reports.length,
      asks,
      isNews: isChanged || isDue || reports.length + dead.length > 0,
    };
  }

  /** The shared state after the reports of this process, and of those that died. `inStore`: its requests in flight there. */
  #withReports(reports: readonly Report[], inStore: number, now: number): LimiterState {
    const { state, aheadMs } = this.#exchange;
    // The log is changed in place, and the known state is needed again if another process writes first.
    const before = startingState(this.settings, state && copyOf(state.limit));
    // Zero, except after an outage of the store, or if the other processes assumed that this one was dead.
    const missing = this.#inFlight + this.#reports.filter(isResult).length - inStore;
    const limit = reports.reduce(
      (next, report) => applyReport(next, respondedBetween(report, state?.at ?? 0, now), this.settings),
      addInFlight(before, missing),
    );
    return { ...limit, gate: stayClosedUntil(limit.gate, this.#refusedUntil - this.#time.skippedMs + aheadMs) };
  }

  #apply({ state, grant, asks, reported }: Proposal): void {
    this.#isAlone = false;
    this.#sharers = 1;
    this.#reports.splice(0, reported);
    this.#setState(copyOf(state.limit));
    for (const report of this.#reports) super.report(report);
    this.#asksForLimit ||= asks;
    this.#inFlight += grant.count;
    // If a request was refused during the exchange, the grant is returned: it did not consider the refusal.
    const isRefused = this.#reports.some(({ kind }) => kind === 'refused');
    this.#granted = grant;
    if (isRefused) this.#handOut(0);
    const now = this.#time.now();
    const at = grant.askAgainAt === undefined ? now + LOOK_AGAIN_MS : grant.askAgainAt - this.aheadMs;
    this.#askAt = this.#isWaiting ? Math.min(at, now + LOOK_AGAIN_AT_LEAST_MS) : now;
  }

  #continueAlone(): void {
    if (this.#isAlone) return;
    this.#isAlone = true;
    const { state } = this.#propose();
    this.#sharers = Object.keys(state.leases).length;
    this.#setState(shareOf(state.limit, this.#sharers, this.#inFlight));
  }

  #setState(state: LimiterState): void {
    this.state = state;
    this.#aheadMs = this.#exchange.aheadMs - super.aheadMs;
  }
}

/** The next state that a process offers to the store, and the calls that it may send when the state is written. */
interface Proposal {
  readonly state: SharedState;
  readonly grant: Grant;
  /** Whether this process, and no other, must call `quota()` for the limit. */
  readonly asks: boolean;
  /** Number of reports in the state. */
  readonly reported: number;
  readonly isNews: boolean;
}

/** The state with which one of several processes continues when the store fails: an equal part of everything. */
function shareOf(state: LimiterState, processes: number, inFlight: number): LimiterState {
  const { configured, limit, log, pace } = state;
  return {
    ...state,
    inFlight,
    configured: partOf(configured, processes),
    limit: partOf(limit, processes),
    log: log.copy(processes),
    pace: pace && { ...pace, perMs: pace.perMs / processes, capacity: Math.max(1, pace.capacity / processes) },
  };
}

/** An equal part of a limit, at least one request per minute. */
function partOf(perMinute: number, processes: number): number {
  return Math.max(1, Math.floor(perMinute / processes));
}

/** The earlier time; `undefined` if there is none. */
function earliest(at: number, other: number): number | undefined {
  const first = Math.min(at, other);
  return first === UNBOUNDED ? undefined : first;
}

function copyOf(state: LimiterState): LimiterState {
  return { ...state, log: state.log.copy() };
}

/** A response that arrived while another process wrote counts as later than that write: all processes see one order. */
function respondedBetween(report: Report, earliest: number, latest: number): Report {
  // The wait of a refusal counts from its response.
  const from = report.kind === 'refused' ? report.now : Math.max(earliest, report.now);
  return { ...report, now: Math.min(latest, from) };
}

/** Whether a process called `quota()` for the limit, and its response can still arrive. */
function isAsked(leases: ReadonlyMap<string, Lease>, now: number): boolean {
  return [...leases.values()].some(({ askedAt }) => now - askedAt < QUOTA_CALL_MS);
}

/** Whether a report is about a request that was granted. */
function isResult(report: Report): boolean {
  return 'sentAt' in report;
}

/** As many of the calls; those of low priority are the last. */
function atMost(slots: number, { wanted, low }: Demand): Pick<Demand, 'wanted' | 'low'> {
  const first = Math.min(wanted, slots);
  return { wanted: first, low: Math.max(0, first - (wanted - low)) };
}

interface Sharers {
  readonly leases: ReadonlyMap<string, Lease>;
  readonly now: number;
  readonly slots: number;
  /** Whether only calls of low priority wait in this process: otherwise, it competes only with others of these. */
  readonly isLow: boolean;
}

/**
 * The other processes that wait, and how many of the free slots this process may use: an equal share, but none if
 * processes that are earlier in the order need all of them. `leases` are in the order in which they were last served, or
 * first seen.
 */
function shareFor(
  id: string,
  { leases, now, slots, isLow }: Sharers,
): { readonly others: readonly Lease[]; readonly share: number } {
  const isWaiting = ({ waiting, low, seenAt }: Lease) => waiting > (isLow ? 0 : low) && now - seenAt < 3 * WAITING_MS;
  const waiting = [...leases].filter(([name, lease]) => name === id || isWaiting(lease));
  const ahead = waiting.findIndex(([name]) => name === id);
  const others = waiting.filter(([name]) => name !== id).map(([, lease]) => lease);
  if (others.length === 0) return { others, share: UNBOUNDED };
  return { others, share: slots > 0 && ahead >= slots ? 0 : Math.max(1, Math.ceil(slots / waiting.length)) };
}

/** A refusal of an unknown limit meets all requests in flight: together, the processes send as many as one would. */
function roomUnder(limit: LimiterState, { maxConcurrent }: LimiterSettings): number {
  return isUnknown(limit) ? Math.max(0, maxConcurrent - limit.inFlight) : UNBOUNDED;
}

/** Removes dead processes. The service may have counted their requests in flight. */
function reclaimDead(leases: Map<string, Lease>, { id, now }: { readonly id: string; readonly now: number }): Report[] {
  const dead = [...leases].filter(([name, { seenAt }]) => name !== id && now - seenAt >= LEASE_MS);
  for (const [name] of dead) leases.delete(name);
  return dead.flatMap(([, { inFlight, seenAt }]) =>
    new Array<Report>(inFlight).fill({ kind: 'lost', now, sentAt: Math.max(seenAt, now - WINDOW_MS) }),
  );
}
