import { WINDOW_MS } from '../accepted-log.ts';
import type { Grant } from '../grant.ts';
import { type LimiterCore, type LimiterSettings, LocalCore } from '../limiter-core.ts';
import type { LimiterState } from '../limiter-state.ts';
import type { Answer, DatedAnswer, RefusedAnswer, RetryAfterReading } from '../transitions.ts';
import type { LimitStore } from './limit-store.ts';
import {
  applyReport,
  endsCall,
  type Proposal,
  propose,
  type Report,
  shareOf,
  shareOfLimit,
  shiftReport,
  takeTurns,
} from './proposal.ts';
import { StoreExchange, type StoreExchangeOptions } from './store-exchange.ts';

/** Between attempts to reach a store that failed. */
const TRY_AGAIN_MS = 1_000;
/** How often to look whether other processes have made room: after an answer of theirs, and at all. */
const LOOK_AGAIN_MS = 30;
const LOOK_AGAIN_AT_LEAST_MS = 1_000;

/** Where processes share a limit, and under what name. */
export type Sharing = Pick<StoreExchangeOptions, 'store' | 'name'>;

export interface SharedCoreOptions extends StoreExchangeOptions {
  readonly settings: LimiterSettings;
  /** Something may be granted now that was not before. */
  readonly onChange: () => void;
  /** The store failed; each process continues alone. */
  readonly onOutage: (reason: string) => void;
}

/**
 * The limit of one key for several processes. Each takes the state that all share, adds what it has to report, decides
 * as it would alone, and writes the outcome if no other process wrote meanwhile; else it starts again. So all decide with
 * the same code, and no slot is granted twice.
 */
export class SharedCore implements LimiterCore {
  readonly #options: SharedCoreOptions;
  #exchange: StoreExchange;
  /** What all knew at the last exchange, with what this process has seen since then. */
  #local: LocalCore;
  /** Not yet in the store; in this process's time. */
  #reports: Report[] = [];
  /** Granted and not yet reported. */
  #inFlight = 0;
  /** Of these, not yet handed to a call. */
  #granted = { n: 0, probe: false };
  #wanted = 0;
  #queued = 0;
  #asksForLimit = false;
  #askAt = Number.NEGATIVE_INFINITY;
  #isExchanging = false;
  #hasMore = false;
  /** The store failed: this process decides alone until then, and longer if it fails again. */
  #aloneUntil: number | undefined;
  /** How many processes learn the limit alone since then, each a part of it. */
  #learners = 1;

  constructor(options: SharedCoreOptions) {
    this.#options = options;
    this.#exchange = new StoreExchange(options);
    this.#local = new LocalCore(options.settings);
  }

  get state(): LimiterState {
    return this.#local.state;
  }

  /** Another client of the key has another store: takes its place if the one in use has failed. */
  offerStore(store: LimitStore): void {
    if (this.#aloneUntil === undefined || store === this.#options.store) return;
    this.#exchange = new StoreExchange({ ...this.#options, store });
    this.#aloneUntil = this.#options.now();
  }

  grant(now: number, wanted: number): Grant {
    this.#wanted = wanted;
    const granted = this.#handOut(wanted);
    if (granted) return granted;
    if (wanted === 0) return { n: 0, probe: false, at: undefined };
    if (this.#aloneUntil !== undefined) return this.#grantAlone(now, wanted, this.#aloneUntil);
    if (now >= this.#askAt) this.#exchangeSoon();
    return { n: 0, probe: false, at: this.#hasMore ? undefined : this.#askAt };
  }

  accepted(answer: DatedAnswer): void {
    this.#remember({ kind: 'accepted', answer });
    this.#local.accepted(this.#inStoreTime(answer));
  }

  refused(answer: RefusedAnswer): RetryAfterReading {
    const isOfShare = this.#aloneUntil !== undefined;
    this.#remember({ kind: 'refused', answer: { ...answer, isOfShare } });
    const inStoreTime = this.#inStoreTime(answer);
    const reading = this.#local.refused(inStoreTime);
    if (isOfShare) this.#local.state = takeTurns(this.#local.state, { ...inStoreTime, ...reading }, this.#learners);
    return reading;
  }

  lost(answer: Answer): void {
    this.#remember({ kind: 'lost', answer });
    this.#local.lost(this.#inStoreTime(answer));
  }

  unused(): void {
    this.#remember({ kind: 'unused' });
    this.#local.unused();
  }

  configure(perMinute: number, now: number): void {
    this.#remember({ kind: 'configured', perMinute, at: now });
    const own = this.#aloneUntil === undefined ? perMinute : shareOfLimit(perMinute, this.#learners);
    this.#local.configure(own, now + this.#exchange.aheadMs);
  }

  /** Of all processes, the first that notices asks. */
  asksForLimit(now: number, waiting: number): boolean {
    this.#queued = waiting;
    if (this.#options.settings.perMinute !== 'learn') return false;
    if (this.#aloneUntil !== undefined) return this.#local.asksForLimit(now + this.#exchange.aheadMs, waiting);
    const asks = this.#asksForLimit;
    this.#asksForLimit = false;
    return asks;
  }

  slotAt(now: number, ahead: number): number {
    return Math.max(now, this.toLocal(this.#local.slotAt(now + this.#exchange.aheadMs, ahead)));
  }

  lastSlotAt(now: number, calls: number): number {
    return Math.max(now, this.toLocal(this.#local.lastSlotAt(now + this.#exchange.aheadMs, calls)));
  }

  toLocal(at: number): number {
    return at - this.#exchange.aheadMs;
  }

  /** What the store has granted goes to the calls that wait; those may have become fewer. */
  #handOut(wanted: number): Grant | undefined {
    const { n: granted, probe } = this.#granted;
    if (granted === 0) return undefined;
    this.#granted = { n: 0, probe: false };
    const n = Math.min(granted, wanted);
    this.#wanted -= n;
    for (let call = n; call < granted; call += 1) this.unused();
    return n === 0 ? undefined : { n, probe, at: wanted > n ? this.#askAt : undefined };
  }

  /** Also asks again when the store is to be tried, however long the next slot takes. */
  #grantAlone(now: number, wanted: number, aloneUntil: number): Grant {
    if (now >= aloneUntil) this.#exchangeSoon();
    const { n, probe, at } = this.#local.grant(now + this.#exchange.aheadMs, wanted);
    this.#inFlight += n;
    const tryAt = Math.max(aloneUntil, now + 1);
    return { n, probe, at: at === undefined ? tryAt : Math.min(tryAt, this.toLocal(at)) };
  }

  /** For the store. */
  #remember(report: Report): void {
    if (endsCall(report)) this.#inFlight -= 1;
    this.#reports.push(report);
    if (this.#aloneUntil === undefined) this.#exchangeSoon();
    else this.#forgetOldReport();
  }

  /** In an outage, what is older than a minute counts no longer. */
  #forgetOldReport(): void {
    const [oldest] = this.#reports;
    const isOld = oldest && 'answer' in oldest && oldest.answer.now < this.#options.now() - WINDOW_MS;
    if (isOld || oldest?.kind === 'unused') this.#reports.shift();
  }

  #inStoreTime<Dated extends Answer>(answer: Dated): Dated {
    const { aheadMs } = this.#exchange;
    return { ...answer, now: answer.now + aheadMs, sentAt: answer.sentAt + aheadMs };
  }

  /** In a microtask, so that what happens together is written together; one exchange at a time. */
  #exchangeSoon(): void {
    this.#hasMore = true;
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    queueMicrotask(() => void this.#exchangeAll());
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
      this.#hasMore = false;
      this.#isExchanging = false;
      if (exchange === this.#exchange) this.#continueAlone(error);
      this.#options.onChange();
    }
  }

  #propose(): Proposal {
    const { aheadMs, id, state } = this.#exchange;
    return propose({
      settings: this.#options.settings,
      id,
      known: state,
      inFlight: this.#inFlight,
      reports: this.#reports.map((report) => shiftReport(report, aheadMs)),
      wanted: this.#wanted,
      queued: this.#queued,
      now: this.#exchange.now(),
    });
  }

  #apply({ core, grant, asks, reported }: Proposal): void {
    this.#aloneUntil = undefined;
    this.#reports.splice(0, reported);
    this.#local = core;
    for (const report of this.#reports) applyReport(core, shiftReport(report, this.#exchange.aheadMs));
    this.#asksForLimit ||= asks;
    this.#inFlight += grant.n;
    // If a request was refused during the exchange, the grant is returned: the store did not know about the refusal.
    const isRefused = this.#reports.some(({ kind }) => kind === 'refused');
    this.#granted = { n: isRefused ? 0 : grant.n, probe: grant.probe };
    for (let call = this.#granted.n; call < grant.n; call += 1) this.unused();
    const now = this.#options.now();
    const at = grant.at === undefined ? now + LOOK_AGAIN_MS : this.toLocal(grant.at);
    this.#askAt = Math.max(now + 1, Math.min(at, now + LOOK_AGAIN_AT_LEAST_MS));
  }

  #continueAlone(error: unknown): void {
    const { settings, now, onOutage } = this.#options;
    const isNew = this.#aloneUntil === undefined;
    this.#aloneUntil = now() + TRY_AGAIN_MS;
    if (!isNew) return;
    const { state } = this.#propose();
    const processes = Object.keys(state.leases).length;
    this.#learners = state.limit.phase === 'known' ? 1 : processes;
    const share = shareOf(state.limit, { processes, inFlight: this.#inFlight, now: state.at });
    this.#local = new LocalCore({ ...settings, perMinute: 'learn' }, share);
    onOutage(error instanceof Error ? error.message : String(error));
  }
}
