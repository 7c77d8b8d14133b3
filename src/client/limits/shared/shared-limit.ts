import { type SteadyTime, steadyTime } from '../../time/clock.ts';
import { patienceEnd } from '../../time/store-guard.ts';
import { type Demand, type Grant, type Limit, LocalLimit, NO_GRANT, type SlotOptions } from '../key-limit.ts';
import type { Report, RetryAfterReading } from '../limit-rules.ts';
import {
  closedUntil,
  copyOf,
  type LimiterSettings,
  type LimiterState,
  LONG_AGO,
  LONGEST_WAIT_MS,
  UNBOUNDED,
  WINDOW_MS,
} from '../limit-state.ts';
import { type Decision, decide, isResult, type NumberedReport } from './shared-decision.ts';
import { EXCHANGE_TIMEOUT_MS, StoreExchange, type StoreExchangeOptions } from './store-exchange.ts';

/** Between two checks whether other processes have released slots, if the grant has no time to ask again. */
const LOOK_AGAIN_MS = 50;
/** The longest time between two checks of a process that waits. What it knows is old after as long. */
const LONGEST_LOOK_MS = 1_000;
/** A store that fails is tried more often while calls are made: after this time, it may work again. */
const ALONE_MS = 3_000;

const NO_DEMAND: Demand = { wanted: 0, low: 0, queued: 0, deadlineAt: UNBOUNDED };

/** The store through which processes share a limit, and its name there. */
export type Sharing = Pick<StoreExchangeOptions, 'store' | 'name'>;

export interface SharedLimitOptions extends StoreExchangeOptions {
  /** Called when a grant may have become possible. */
  readonly onChange: () => void;
}

/**
 * The limit of one key for several processes. Each process reads the shared state, applies its reports, decides like a
 * single process, and writes the result if no other process wrote meanwhile; otherwise it starts again. All processes
 * decide with the same code, and no slot is granted twice.
 */
export class SharedLimit implements Limit {
  readonly #onChange: () => void;
  /** What this process knows of the shared limit, in its own time. */
  readonly #known: LocalLimit;
  readonly #time: SteadyTime;
  readonly #exchange: StoreExchange;
  /** Reports that are not in the store, as far as this process knows. */
  #reports: NumberedReport[] = [];
  /** Number of all reports so far. */
  #reported = 0;
  /** Number of requests that were granted and not reported yet. */
  #inFlight = 0;
  /** Those of them that no call has used yet. */
  #granted = NO_GRANT;
  #demand = NO_DEMAND;
  /** Since when calls wait, or one with an earlier deadline than the others. */
  #waitsSince = LONG_AGO;
  #asksForLimit = false;
  #askAt = Number.NEGATIVE_INFINITY;
  /** Until when this process relies on what it knows: the shared state, or that the store has failed. */
  #knownUntil = LONG_AGO;
  #exchanging: Promise<void> | undefined;
  #hasMore = false;
  /** Whether requests were granted without the store since the last proposal, which does not have them. */
  #hasGrantedAlone = false;
  /** Whether the known state is that of this process alone: the store has failed, or is too slow for a deadline. */
  #isAlone = false;
  /** Whether this process has ended its calls, and leaves its part of the limit to others. */
  #isClosed = false;
  /** Number of processes that each continue with a part of the limit; otherwise 1. */
  #sharers = 1;
  /** The ends of the longest waits that this process was asked for. A store that fails over can lose a refusal. */
  #refusedUntil = LONG_AGO;
  #blockedUntil = LONG_AGO;

  constructor(settings: LimiterSettings, options: SharedLimitOptions) {
    this.#onChange = options.onChange;
    this.#known = new LocalLimit(settings);
    this.#time = steadyTime(options.clock);
    const onOutage = (reason: string, outage: number) => this.#isClosed || options.onOutage?.(reason, outage);
    this.#exchange = new StoreExchange({ ...options, onOutage });
  }

  get state(): LimiterState {
    return this.#known.state;
  }

  /** Whether the limit in `state` is only the part of this process, without the store. */
  get isPart(): boolean {
    return this.#sharers > 1;
  }

  /**
   * `state` counts the slots that no call uses yet as in flight. The requests of other processes are counted only while
   * their number is new: they end without a report to this process, and the store decides.
   */
  slotAt(now: number, ahead: number, options: SlotOptions): number {
    const { settings, state } = this.#known;
    const isOld = now > this.#knownUntil;
    if (isOld && options.estimate === 'certain') return closedUntil(state);
    const known = isOld ? new LocalLimit(settings, { ...state, inFlight: this.#inFlight }) : this.#known;
    return known.slotAt(now, ahead - this.#granted.count, options);
  }

  /** This process has ended its calls. Resolves when the store has all reports, or has failed. */
  async stored(): Promise<void> {
    this.#isClosed = true;
    const { id, state } = this.#exchange;
    if (this.#reports.length > 0 || state?.leases[id]) this.#exchangeSoon();
    await this.#exchanging;
  }

  grant(now: number, demand: Demand): Grant {
    const isDue = now >= this.#askAt || isFirstBeside(this.#demand, demand);
    this.#observe(now, demand);
    const granted = this.#handOut(demand.wanted);
    if (granted) return granted;
    if (demand.wanted === 0) return this.#endWait(now);
    if (this.#decidesAlone(now)) return this.#grantAlone(now, demand);
    if (isDue) this.#exchangeSoon();
    const waitsFrom = Math.max(this.#exchange.askedAt ?? now, this.#waitsSince);
    const patientUntil = patienceEnd(waitsFrom, demand.deadlineAt);
    if (now >= patientUntil) {
      this.#continueAlone(now);
      return this.#grantAlone(now, demand);
    }
    const askAt = this.#hasMore ? UNBOUNDED : this.#askAt;
    // An exchange that takes longer than its own limit fails, which wakes the calls: this wait is not for a slot.
    const mayEndFirst = this.#exchanging && patientUntil < waitsFrom + EXCHANGE_TIMEOUT_MS;
    return { count: 0, askAgainAt: Math.min(askAt, mayEndFirst ? patientUntil : UNBOUNDED) };
  }

  report(report: Report): RetryAfterReading | undefined {
    if (isResult(report)) this.#inFlight -= 1;
    this.#reported += 1;
    this.#reports.push({ ...report, number: this.#reported });
    // The slot of the call that has arrived is asked for next.
    if (!this.#decidesAlone(report.now) && report.kind !== 'called') this.#exchangeSoon();
    if (report.kind === 'configured') {
      this.#asksForLimit = false;
      return this.#known.report({ ...report, perMinute: partOf(report.perMinute, this.#sharers) });
    }
    const reading = this.#known.report(report);
    const { waitMs } = reading ?? {};
    if (waitMs !== undefined) this.#keepWait(waitMs, report.now + Math.min(waitMs, LONGEST_WAIT_MS));
    return reading;
  }

  #keepWait(waitMs: number, until: number): void {
    if (waitMs > this.#known.settings.maxRetryAfterMs) this.#blockedUntil = Math.max(this.#blockedUntil, until);
    else this.#refusedUntil = Math.max(this.#refusedUntil, until);
  }

  /** Only the process that the state names calls `quota()`. */
  isWanted(now: number, waiting: number): boolean {
    return this.#isAlone ? this.#known.isWanted(now, waiting) : this.#asksForLimit;
  }

  /** No call waits: the others need not leave a slot for this process, and learn of a call that has arrived. */
  #endWait(now: number): Grant {
    const hasNews = this.#isWaiting || this.#reports.length > 0;
    // After each exchange it is called again.
    if (hasNews && !this.#decidesAlone(now) && this.#exchange.askedAt === undefined) this.#exchangeSoon();
    return NO_GRANT;
  }

  /** Whether calls need not wait for the store: it failed a moment ago, and is tried again in the background. */
  #decidesAlone(now: number): boolean {
    return this.#isAlone && now <= this.#knownUntil;
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
    this.#serve(count);
    this.#return(granted - count);
    return count === 0 ? undefined : { count, askAgainAt: wanted > count ? this.#askAt : UNBOUNDED };
  }

  #observe(now: number, demand: Demand): void {
    const { wanted, deadlineAt } = this.#demand;
    if (wanted === 0 || demand.deadlineAt < deadlineAt) this.#waitsSince = now;
    this.#demand = demand;
  }

  /** These calls no longer wait. */
  #serve(count: number): void {
    const { wanted, low, queued } = this.#demand;
    const left = wanted - count;
    this.#demand = { ...this.#demand, wanted: left, low: Math.min(low, left), queued: queued - count };
  }

  /** Reports granted slots that no call uses. */
  #return(slots: number): void {
    const now = this.#time.datedNow();
    for (let slot = 0; slot < slots; slot += 1) this.report({ kind: 'unused', now, sentAt: now });
  }

  /** Asks again for the next slot, or for the next try of the store if that is earlier and no try is running. */
  #grantAlone(now: number, demand: Demand): Grant {
    const { awayUntil = now } = this.#exchange.guard;
    if (now >= awayUntil) this.#exchangeSoon();
    const { count, askAgainAt } = this.#known.grant(now, demand);
    this.#serve(count);
    this.#inFlight += count;
    this.#hasGrantedAlone ||= count > 0;
    return { count, askAgainAt: Math.min(askAgainAt, this.#exchanging ? UNBOUNDED : awayUntil) };
  }

  /** In a microtask, so that simultaneous reports are written together; one exchange at a time. */
  #exchangeSoon(): void {
    this.#hasMore = true;
    this.#exchanging ??= Promise.resolve().then(() => this.#exchangeAll());
  }

  async #exchangeAll(): Promise<void> {
    try {
      while (this.#hasMore) {
        this.#apply(await this.#exchange.commit(() => this.#proposeAnew()));
        this.#onChange();
      }
      this.#exchanging = undefined;
    } catch {
      this.#exchanging = undefined; // the guard of the store has reported why
      this.#continueAlone(this.#time.datedNow());
      this.#onChange();
    }
  }

  /** While others write first, a call can become too late, or its patience can end. */
  #proposeAnew(): Decision {
    this.#onChange();
    this.#hasMore = false;
    return this.#propose();
  }

  #propose(demand = this.#demand): Decision {
    const { id, state, aheadMs } = this.#exchange;
    this.#hasGrantedAlone = false;
    // After an outage of the store, requests that expired do not count: the longest waits are kept.
    const expired = this.#time.datedNow() - WINDOW_MS;
    this.#reports = this.#reports.filter(({ kind, now }) => kind === 'configured' || now > expired);
    const reports = this.#reports.map((report) => shifted(report, aheadMs));
    const own = {
      id,
      reports,
      demand,
      inFlight: this.#inFlight,
      settings: this.#known.settings,
      refusedUntil: this.#refusedUntil + aheadMs,
      blockedUntil: this.#blockedUntil + aheadMs,
      isClosed: this.#isClosed,
    };
    return decide(state, own, this.#exchange.now());
  }

  #apply({ state, grant, asks, reported }: Decision): void {
    this.#isAlone = false;
    this.#sharers = 1;
    this.#reports = this.#reports.filter(({ number }) => number > reported);
    this.#known.state = copyOf(state.limit, -this.#exchange.aheadMs);
    for (const report of this.#reports) this.#known.report(report);
    this.#asksForLimit ||= asks;
    this.#inFlight += grant.count;
    // The grant did not consider what was granted or refused during the exchange.
    const isObsolete = this.#hasGrantedAlone || this.#reports.some(({ kind }) => kind === 'refused');
    this.#granted = isObsolete ? NO_GRANT : grant;
    if (isObsolete) this.#return(grant.count);
    const now = this.#time.datedNow();
    this.#knownUntil = now + LONGEST_LOOK_MS;
    const at = grant.askAgainAt === UNBOUNDED ? now + LOOK_AGAIN_MS : grant.askAgainAt - this.#exchange.aheadMs;
    this.#askAt = this.#isWaiting ? Math.min(at, now + LONGEST_LOOK_MS) : now;
  }

  #continueAlone(now: number): void {
    this.#knownUntil = now + ALONE_MS;
    if (this.#isAlone) return;
    this.#isAlone = true;
    const { id, state: last } = this.#exchange;
    this.#sharers = new Set([...Object.keys(last?.leases ?? {}), id]).size; // also those that have been silent since
    const { state } = this.#propose(NO_DEMAND); // without a grant, which this process would not use
    const known = copyOf(state.limit, -this.#exchange.aheadMs);
    this.#known.state = shareOf(known, this.#sharers, this.#inFlight);
  }
}

/** Whether a call is the first beside those of low priority, which ask the store later. */
function isFirstBeside(before: Demand, { wanted, low }: Demand): boolean {
  return before.low === before.wanted && low < wanted;
}

/** The report in a clock that is `aheadMs` ahead. */
function shifted(report: NumberedReport, aheadMs: number): NumberedReport {
  const now = report.now + aheadMs;
  return 'sentAt' in report ? { ...report, now, sentAt: report.sentAt + aheadMs } : { ...report, now };
}

/** The state with which one of several processes continues when the store fails: an equal part of everything. */
function shareOf(state: LimiterState, processes: number, inFlight: number): LimiterState {
  const { configured, limit, log, gate, pace } = state;
  return {
    ...state,
    inFlight,
    gate: { ...gate, acceptedBefore: Math.floor(gate.acceptedBefore / processes) },
    configured: partOf(configured, processes),
    limit: partOf(limit, processes),
    log: log.copy(0, processes),
    pace: pace && {
      ...pace,
      tokens: pace.tokens / processes,
      perMs: pace.perMs / processes,
      capacity: Math.max(1, pace.capacity / processes),
    },
  };
}

/** An equal part of a limit, at least one request per minute. */
function partOf(perMinute: number, processes: number): number {
  return Math.max(1, Math.floor(perMinute / processes));
}
