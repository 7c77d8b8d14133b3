import { type SteadyTime, steadyTime } from '../../clock.ts';
import { WINDOW_MS } from '../accepted-log.ts';
import type { Grant } from '../grant.ts';
import { LimiterCore, type LimiterSettings } from '../limiter-core.ts';
import type { Report, RetryAfterReading } from '../transitions.ts';
import type { LimitStore } from './limit-store.ts';
import { type Proposal, propose, shareOf, shareOfLimit, shiftReport, takeTurns } from './proposal.ts';
import { StoreExchange, type StoreExchangeOptions } from './store-exchange.ts';

/** Between attempts to reach a store that failed. */
const TRY_AGAIN_MS = 1_000;
/**
 * Shortest and longest time between two checks whether other processes have released slots; it grows by a factor while
 * no process writes.
 */
const LOOK_AGAIN_MS = 30;
const LOOK_AGAIN_FACTOR = 1.5;
const LOOK_AGAIN_AT_LEAST_MS = 1_000;

const NO_GRANT: Grant = { count: 0, isProbe: false, askAgainAt: undefined };

/** The store through which processes share a limit, and its name there. */
export type Sharing = Pick<StoreExchangeOptions, 'store' | 'name'>;

export interface SharedCoreOptions extends StoreExchangeOptions {
  readonly settings: LimiterSettings;
  /** Called when a grant may have become possible. */
  readonly onChange: () => void;
  /** Called when the store fails and this process continues alone. */
  readonly onOutage?: ((reason: string) => void) | undefined;
}

/**
 * The limit of one key for several processes. Each process reads the shared state, applies its reports, decides like a
 * single process, and writes the result if no other process wrote meanwhile; otherwise it starts again. All processes
 * decide with the same code, and no slot is granted twice.
 */
export class SharedCore extends LimiterCore {
  readonly #options: SharedCoreOptions;
  readonly #time: SteadyTime;
  #exchange: StoreExchange;
  /** Reports that are not in the store yet, in the time of this process. */
  #reports: Report[] = [];
  /** Number of requests that were granted and not reported yet. */
  #inFlight = 0;
  /** Those of them that no call has used yet. */
  #granted = NO_GRANT;
  #wanted = 0;
  #queued = 0;
  #asksForLimit = false;
  #askAt = Number.NEGATIVE_INFINITY;
  #lookAgainMs = LOOK_AGAIN_MS;
  /** The version of the state at the last check. */
  #seenVersion = '';
  #isExchanging = false;
  #exchanged: Promise<void> = Promise.resolve();
  #hasMore = false;
  /** Set if the store failed: this process decides alone until this time, and longer if the store fails again. */
  #aloneUntil: number | undefined;
  /** Number of processes that each learn a part of the limit alone in an outage; otherwise 1. */
  #learners = 1;
  /** The end of the longest Retry-After of this process, in its own time. A store that fails over can lose a refusal. */
  #refusedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SharedCoreOptions) {
    super(options.settings);
    this.#options = options;
    this.#time = steadyTime(options.clock);
    this.#exchange = new StoreExchange(options);
  }

  override get aheadMs(): number {
    return this.#exchange.aheadMs;
  }

  /** Another client of the key has another store: it replaces the store in use if that has failed. */
  offerStore(store: LimitStore): void {
    if (this.#aloneUntil === undefined || store === this.#options.store) return;
    this.#exchange = new StoreExchange({ ...this.#options, store });
    this.#aloneUntil = this.#time.now();
  }

  /** Resolves when the store has all reports, or has failed. */
  stored(): Promise<void> {
    return this.#exchanged;
  }

  override grant(now: number, wanted: number): Grant {
    this.#wanted = wanted;
    const granted = this.#handOut(wanted);
    if (granted) return granted;
    if (wanted === 0) return NO_GRANT;
    if (this.#aloneUntil !== undefined) return this.#grantAlone(now, wanted, this.#aloneUntil);
    if (now >= this.#askAt) this.#exchangeSoon();
    return { ...NO_GRANT, askAgainAt: this.#hasMore ? undefined : this.#askAt };
  }

  override report(report: Report): RetryAfterReading | undefined {
    const isAlone = this.#aloneUntil !== undefined;
    const learners = this.#learners;
    if (report.kind !== 'configured') this.#inFlight -= 1;
    this.#reports.push(report.kind === 'refused' ? { ...report, isOfShare: isAlone } : report);
    if (!isAlone) this.#exchangeSoon();
    const inStoreTime = shiftReport(report, this.aheadMs);
    const isLimit = inStoreTime.kind === 'configured';
    const own = isLimit ? { ...inStoreTime, perMinute: shareOfLimit(inStoreTime.perMinute, learners) } : inStoreTime;
    const reading = super.report(own);
    const { waitMs = 0 } = reading ?? {};
    if (waitMs <= this.settings.maxRetryAfterMs) this.#refusedUntil = Math.max(this.#refusedUntil, report.now + waitMs);
    this.state = takeTurns(this.state, { now: own.now, waitMs: reading?.waitMs }, learners);
    return reading;
  }

  /** Only the first process that detects this calls `quota()`. */
  override asksForLimit(now: number, waiting: number): boolean {
    this.#queued = waiting;
    if (this.#aloneUntil !== undefined) return super.asksForLimit(now + this.aheadMs, waiting);
    const asks = this.#asksForLimit;
    this.#asksForLimit = false;
    return asks;
  }

  /** Passes the granted slots to the waiting calls, whose number may have decreased. */
  #handOut(wanted: number): Grant | undefined {
    const { count: granted, isProbe } = this.#granted;
    this.#granted = NO_GRANT;
    const count = Math.min(granted, wanted);
    this.#wanted -= count;
    const now = this.#time.now();
    for (let call = count; call < granted; call += 1) this.report({ kind: 'unused', now, sentAt: now, isProbe });
    return count === 0 ? undefined : { count, isProbe, askAgainAt: wanted > count ? this.#askAt : undefined };
  }

  /** Asks again for the next slot, or for the next try of the store if that is earlier and no try is running. */
  #grantAlone(now: number, wanted: number, aloneUntil: number): Grant {
    if (now >= aloneUntil) this.#exchangeSoon();
    const { count, isProbe, askAgainAt } = super.grant(now + this.aheadMs, wanted);
    this.#inFlight += count;
    const slotAt = askAgainAt === undefined ? undefined : askAgainAt - this.aheadMs;
    return { count, isProbe, askAgainAt: this.#isExchanging ? slotAt : Math.min(aloneUntil, slotAt ?? aloneUntil) };
  }

  /**
   * In an outage of the store, drops reports that have no effect: of requests that expired, refusals whose wait ended,
   * and unused slots.
   */
  #forgetOldReports(): void {
    if (this.#aloneUntil === undefined) return;
    const now = this.#time.now();
    const isClosed = this.state.gate.opensAt - this.aheadMs > now;
    this.#reports = this.#reports.filter((report) => {
      if (report.kind === 'configured' || (report.kind === 'refused' && isClosed)) return true;
      return report.kind !== 'unused' && report.now > now - WINDOW_MS;
    });
  }

  /** In a microtask, so that simultaneous reports are written together; one exchange at a time. */
  #exchangeSoon(): void {
    this.#hasMore = true;
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    this.#exchanged = Promise.resolve().then(() => this.#exchangeAll());
  }

  async #exchangeAll(): Promise<void> {
    const exchange = this.#exchange;
    try {
      while (this.#hasMore) {
        this.#hasMore = false;
        this.#apply(await exchange.commit(() => this.#propose()));
        this.#options.onChange();
      }
      this.#isExchanging = false;
    } catch (error) {
      this.#isExchanging = false;
      if (exchange === this.#exchange) this.#continueAlone(error);
      this.#options.onChange();
    }
  }

  #propose(): Proposal {
    // Before each proposal and at no other time, because `#apply` removes as many reports as the proposal has.
    this.#forgetOldReports();
    const { aheadMs, id, state } = this.#exchange;
    return propose({
      settings: this.settings,
      id,
      known: state,
      inFlight: this.#inFlight,
      reports: this.#reports.map((report) => shiftReport(report, aheadMs)),
      wanted: this.#wanted,
      queued: this.#queued,
      refusedUntil: this.#refusedUntil + aheadMs,
      now: this.#exchange.now(),
    });
  }

  #apply({ state, grant, asks, reported }: Proposal): void {
    this.#aloneUntil = undefined;
    this.#learners = 1;
    this.#reports.splice(0, reported);
    this.state = { ...state.limit, log: state.limit.log.copy() };
    for (const report of this.#reports) super.report(shiftReport(report, this.aheadMs));
    this.#asksForLimit ||= asks;
    this.#inFlight += grant.count;
    // If a request was refused during the exchange, the grant is returned: it did not consider the refusal.
    const isRefused = this.#reports.some(({ kind }) => kind === 'refused');
    this.#granted = grant;
    if (isRefused) this.#handOut(0);
    const now = this.#time.now();
    const { version } = this.#exchange;
    this.#lookAgainMs = version === this.#seenVersion ? LOOK_AGAIN_FACTOR * this.#lookAgainMs : LOOK_AGAIN_MS;
    this.#seenVersion = version;
    const at = grant.askAgainAt === undefined ? now + this.#lookAgainMs : grant.askAgainAt - this.aheadMs;
    this.#askAt = Math.min(at, now + LOOK_AGAIN_AT_LEAST_MS);
  }

  #continueAlone(error: unknown): void {
    const isNew = this.#aloneUntil === undefined;
    this.#aloneUntil = this.#time.now() + TRY_AGAIN_MS;
    if (!isNew) return;
    const { state } = this.#propose();
    const processes = Object.keys(state.leases).length;
    this.#learners = state.limit.phase === 'known' ? 1 : processes;
    this.state = shareOf(state.limit, { processes, inFlight: this.#inFlight, now: state.at });
    this.#options.onOutage?.(error instanceof Error ? error.message : String(error));
  }
}
