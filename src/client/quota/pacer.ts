import type { CancelSignal } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import type { Timers } from '../timers.ts';

interface PacerOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Milliseconds between requests as things stand now; 0 for no pace. */
  readonly intervalMs: () => number;
}

/** Lets requests through one by one, an interval apart; first come, first served. */
export class Pacer {
  readonly #clock: Clock;
  readonly #timers: Timers;
  readonly #intervalMs: () => number;
  readonly #waiting = new Set<() => void>();
  #nextAt = Number.NEGATIVE_INFINITY;
  #isArmed = false;

  constructor({ clock, timers, intervalMs }: PacerOptions) {
    this.#clock = clock;
    this.#timers = timers;
    this.#intervalMs = intervalMs;
  }

  /** Epoch milliseconds at which a request that comes now would be let through. */
  slotAt(): number {
    return Math.max(this.#clock.now(), this.#nextAt) + this.#waiting.size * this.#intervalMs();
  }

  /** Resolves when it is this request's turn; rejects with the signal's reason, and then takes no turn. */
  turn(signal: CancelSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(go);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.add(go);
      this.#advance();
    });
  }

  #advance(): void {
    const now = this.#clock.now();
    const [first] = this.#waiting;
    if (first === undefined || this.#isArmed) return;
    if (now < this.#nextAt) {
      this.#isArmed = true;
      this.#timers.after(this.#nextAt - now, () => {
        this.#isArmed = false;
        this.#advance();
      });
      return;
    }
    this.#waiting.delete(first);
    this.#nextAt = now + this.#intervalMs();
    first();
    this.#advance();
  }
}
