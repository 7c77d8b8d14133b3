import type { Answer, DatedAnswer, Grant, LimitCore, LimitView, RefusedAnswer } from '../limit-core.ts';
import type { LimiterSettings } from '../limiter-settings.ts';
import { LocalCore } from '../local-core.ts';
import type { RetryAfterReading } from '../retry-after-reader.ts';
import { WINDOW_MS } from '../window.ts';
import { Agreement, type AgreementOptions } from './agreement.ts';
import { type Draft, draftNext } from './draft.ts';
import { endsCall, type Report, shifted, tell } from './report.ts';
import { shareOf } from './share.ts';

/** Between attempts to reach a store that failed. */
const TRY_AGAIN_MS = 1_000;
/** How often to look whether other processes have made room: after an answer of theirs, and at all. */
const LOOK_AGAIN_MS = 50;
const LOOK_AGAIN_AT_LEAST_MS = 1_000;

export interface SharedCoreOptions extends AgreementOptions {
  readonly settings: LimiterSettings;
  /** Something may be granted now that was not before. */
  readonly onChange: () => void;
  /** The store failed; each process goes on by itself. */
  readonly onOutage: (reason: string) => void;
}

/**
 * The limit of one key for several processes. Each takes the state that all share, adds what it has to report, decides
 * as it would alone, and writes the outcome if nobody else wrote meanwhile; else it begins anew. So all decide with the
 * same code, and no slot is granted twice.
 */
export class SharedCore implements LimitCore {
  readonly #options: SharedCoreOptions;
  readonly #agreement: Agreement;
  /** What all knew at the last exchange, with what this process has seen since then. */
  #believed: LocalCore;
  /** Not yet in the store; in this process's time. */
  #reports: Report[] = [];
  /** Granted and not yet reported. */
  #open = 0;
  /** Of these, not yet handed to a call. */
  #granted = { n: 0, probe: false };
  #waiting = 0;
  #askAt = Number.NEGATIVE_INFINITY;
  #isExchanging = false;
  #hasMore = false;
  /** The store failed: this process decides alone until then, and longer if it fails again. */
  #aloneUntil: number | undefined;

  constructor(options: SharedCoreOptions) {
    this.#options = options;
    this.#agreement = new Agreement(options);
    this.#believed = new LocalCore(options.settings);
  }

  acquire(now: number, waiting: number): Grant {
    this.#waiting = waiting;
    const granted = this.#handOut(waiting);
    if (granted) return granted;
    if (waiting === 0) return { n: 0, probe: false, at: undefined };
    if (this.#aloneUntil !== undefined) {
      if (now >= this.#aloneUntil) this.#exchangeSoon();
      return this.#acquireAlone(now, waiting);
    }
    if (this.#room() === 0) return { n: 0, probe: false, at: undefined };
    if (now >= this.#askAt) this.#exchangeSoon();
    return { n: 0, probe: false, at: this.#hasMore ? undefined : this.#askAt };
  }

  ok(answer: DatedAnswer): void {
    this.#remember({ kind: 'ok', answer });
    this.#believed.ok(this.#inSharedTime(answer));
  }

  limited(answer: RefusedAnswer): RetryAfterReading {
    this.#remember({ kind: 'limited', answer });
    return this.#believed.limited(this.#inSharedTime(answer));
  }

  lost(answer: Answer): void {
    this.#remember({ kind: 'lost', answer });
    this.#believed.lost(this.#inSharedTime(answer));
  }

  unused(): void {
    this.#remember({ kind: 'unused' });
    this.#believed.unused();
  }

  tellLimit(perMinute: number): void {
    this.#remember({ kind: 'told', perMinute });
    this.#believed.tellLimit(perMinute);
  }

  slotAt(now: number, ahead: number): number {
    return Math.max(
      now,
      this.#agreement.time.toLocal(this.#believed.slotAt(this.#agreement.time.fromLocal(now), ahead)),
    );
  }

  view(): LimitView {
    const view = this.#believed.view();
    return { ...view, gateAt: this.#agreement.time.toLocal(view.gateAt), inFlight: this.#open };
  }

  /** What the store has granted goes to the calls that wait; those may have become fewer. */
  #handOut(waiting: number): Grant | undefined {
    const { n: granted, probe } = this.#granted;
    if (granted === 0) return undefined;
    this.#granted = { n: 0, probe: false };
    const n = Math.min(granted, waiting);
    for (let call = n; call < granted; call += 1) this.unused();
    return { n, probe, at: waiting > n ? this.#askAt : undefined };
  }

  #acquireAlone(now: number, waiting: number): Grant {
    const { n, probe, at } = this.#believed.acquire(this.#agreement.time.fromLocal(now), waiting);
    this.#open += n;
    return { n, probe, at: at === undefined ? undefined : this.#agreement.time.toLocal(at) };
  }

  /** Calls that may join those of this process in flight. */
  #room(): number {
    return Math.max(0, this.#options.settings.maxConcurrent - this.#open);
  }

  /** For the store. */
  #remember(report: Report): void {
    if (endsCall(report)) this.#open -= 1;
    this.#reports.push(report);
    if (this.#aloneUntil === undefined) this.#exchangeSoon();
    else this.#forgetOldReport();
  }

  /** In an outage, what is older than a minute counts no longer. */
  #forgetOldReport(): void {
    const [oldest] = this.#reports;
    const isOld = oldest && !('answer' in oldest && oldest.answer.now >= this.#options.now() - WINDOW_MS);
    if (isOld) this.#reports.shift();
  }

  #inSharedTime<Dated extends Answer>(answer: Dated): Dated {
    return {
      ...answer,
      now: this.#agreement.time.fromLocal(answer.now),
      sentAt: this.#agreement.time.fromLocal(answer.sentAt),
    };
  }

  /** In a microtask, so that what happens together is written together; one exchange at a time. */
  #exchangeSoon(): void {
    this.#hasMore = true;
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    queueMicrotask(() => void this.#exchange());
  }

  async #exchange(): Promise<void> {
    try {
      while (this.#hasMore) {
        this.#hasMore = false;
        this.#adopt(await this.#agreement.reach(() => this.#draft()));
        this.#options.onChange();
      }
      this.#isExchanging = false;
    } catch (error) {
      this.#hasMore = false;
      this.#isExchanging = false;
      this.#goOnAlone(error);
      this.#options.onChange();
    }
  }

  #draft(): Draft {
    return draftNext({
      settings: this.#options.settings,
      id: this.#agreement.id,
      known: this.#agreement.state,
      open: this.#open,
      reports: this.#reports.map((report) => shifted(report, this.#agreement.time.aheadMs)),
      wanted: Math.min(this.#waiting, this.#room()),
      now: this.#agreement.now(),
    });
  }

  #adopt({ core, grant, reported }: Draft): void {
    this.#aloneUntil = undefined;
    this.#reports.splice(0, reported);
    this.#believed = core;
    for (const report of this.#reports) tell(core, shifted(report, this.#agreement.time.aheadMs));
    this.#granted = { n: grant.n, probe: grant.probe };
    this.#open += grant.n;
    const now = this.#options.now();
    const at = grant.at === undefined ? now + LOOK_AGAIN_MS : this.#agreement.time.toLocal(grant.at);
    this.#askAt = Math.max(now + 1, Math.min(at, now + LOOK_AGAIN_AT_LEAST_MS));
  }

  #goOnAlone(error: unknown): void {
    const { settings, now, onOutage } = this.#options;
    const isNew = this.#aloneUntil === undefined;
    this.#aloneUntil = now() + TRY_AGAIN_MS;
    if (!isNew) return;
    const { state } = this.#draft();
    const processes = Object.keys(state.holders).length;
    const share = shareOf(state.limit, { processes, inFlight: this.#open });
    this.#believed = new LocalCore(settings, share);
    onOutage(error instanceof Error ? error.message : String(error));
  }
}
