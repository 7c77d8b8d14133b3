import type { CancelSignal } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import { Timers } from '../timers.ts';
import type { QuotaLedger } from './quota-ledger.ts';

/** While requests wait, the quota can change (an upgrade, another process), and so can the clock. */
const LOOK_AGAIN_MS = 300_000;

interface PacedRequest {
  /** Requests that are not spread. */
  readonly reserve: number;
  readonly signal: CancelSignal;
  /** Told once, when this request is the next and its time has not come. */
  readonly onWait: (wait: { readonly untilMs: number; readonly waiting: number }) => void;
}

interface Turn extends PacedRequest {
  readonly come: () => void;
  isTold: boolean;
}

/** Lets the requests of a key through one by one, evenly spread until its quota resets; first come, first served. */
export class Pacer {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #ledger: QuotaLedger;
  readonly #waiting = new Set<Turn>();
  #lastAtMs: number | undefined;
  #spacingMs = 0;
  #stopTimer: (() => void) | undefined;

  constructor(clock: Clock, ledger: QuotaLedger) {
    this.#clock = clock;
    this.#timers = new Timers(clock);
    this.#ledger = ledger;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Epoch milliseconds of the turn of a request that comes now, as things stand. */
  slotAt(reserve: number): number {
    return this.#nextAt(reserve) + this.#waiting.size * this.#spacingMs;
  }

  /** Resolves when it is this request's turn; rejects with the signal's reason, and then takes no turn. */
  turn(request: PacedRequest): Promise<void> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        this.#waiting.delete(turn);
        if (this.#waiting.size === 0) this.#stopTimer?.();
        reject(signal.reason);
      };
      const come = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const turn = { ...request, come, isTold: false };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.add(turn);
      if (this.#waiting.size === 1) this.#advance();
    });
  }

  /** Lets through whoever may go, and sets a timer for the next. */
  #advance(): void {
    for (const turn of this.#waiting) {
      const now = this.#clock.now();
      const untilMs = this.#nextAt(turn.reserve);
      if (untilMs > now) {
        this.#wait(turn, untilMs);
        return;
      }
      this.#waiting.delete(turn);
      this.#lastAtMs = now;
      turn.come();
    }
  }

  #wait(turn: Turn, untilMs: number): void {
    const waitMs = Math.min(untilMs - this.#clock.now(), LOOK_AGAIN_MS);
    this.#stopTimer = this.#timers.after(waitMs, () => this.#advance());
    if (!turn.isTold) turn.onWait({ untilMs, waiting: this.#waiting.size });
    turn.isTold = true;
  }

  #nextAt(reserve: number): number {
    const now = this.#clock.now();
    if (this.#lastAtMs === undefined) return now;
    this.#lastAtMs = Math.min(this.#lastAtMs, now); // the clock may have been set back
    this.#spacingMs = this.#spacingSince(this.#lastAtMs, reserve) ?? this.#spacingMs;
    return Math.max(now, this.#lastAtMs + this.#spacingMs);
  }

  /** Divides the time since the last request by the requests to come; `undefined` while the quota is not known. */
  #spacingSince(lastAtMs: number, reserve: number): number | undefined {
    const estimate = this.#ledger.estimate();
    if (estimate === undefined) return undefined;
    const { remaining, quota } = estimate;
    if (remaining === undefined) return 0;
    const timeMs = Math.max(0, Date.parse(quota.resets_at) - lastAtMs);
    return timeMs / (Math.max(0, remaining - reserve) + 1);
  }
}
