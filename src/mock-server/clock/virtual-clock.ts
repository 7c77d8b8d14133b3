import { type DrivenClock, LATEST_MS } from './clock.ts';
import { IdleDetector, type SocketUse } from './idle-detector.ts';
import { TimerQueue } from './timer-queue.ts';

/** Time that stands still until it is moved, or until nothing is left to do but wait for it. */
export class VirtualClock implements DrivenClock {
  readonly mode = 'virtual';
  readonly #timers = new TimerQueue();
  readonly autoAdvance: boolean;
  readonly #idle: IdleDetector;
  readonly #startAt: number;
  readonly #startsFrozen: boolean;
  #isFrozen: boolean;
  #now: number;
  #isWatching = false;
  /** Moves are made one after the other; this is the end of the last one. */
  #lastMove: Promise<unknown> = Promise.resolve();
  #moves = 0;

  constructor(startAt: number, { autoAdvance, frozen, sockets }: VirtualClockOptions) {
    this.#now = startAt;
    this.#startAt = startAt;
    this.autoAdvance = autoAdvance;
    this.#idle = new IdleDetector(sockets);
    this.#startsFrozen = frozen;
    this.#isFrozen = frozen;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** It stands still by itself; frozen, it does not jump either. */
  freeze(): void {
    this.#isFrozen = true;
  }

  resume(): void {
    this.#isFrozen = false;
    void this.#watch();
  }

  now(): number {
    this.#idle.noteActivity();
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#idle.noteActivity();
    if (!(ms > 0)) return;
    const slept = this.#timers.add(this.#now + ms, signal);
    void this.#watch();
    try {
      await slept;
    } finally {
      this.#idle.noteActivity();
    }
  }

  advanceTo(target: (now: number) => number): Promise<number> {
    this.#moves += 1;
    const move = this.#lastMove
      .then(() => this.#move(target))
      .finally(() => {
        this.#moves -= 1;
        void this.#watch();
      });
    this.#lastMove = move;
    return move;
  }

  set(at: number): void {
    this.#timers.shift(at - this.#now);
    this.#now = at;
    this.#idle.noteActivity();
  }

  reset(): void {
    this.#isFrozen = this.#startsFrozen;
    this.set(this.#startAt);
  }

  hold(): () => void {
    return this.#idle.hold();
  }

  async #move(target: (now: number) => number): Promise<number> {
    // What was begun before the call happens before the time moves: a request on its way is decided at the old time.
    await this.#idle.settle(MOST_TURNS);
    const at = target(this.#now);
    while (this.#timers.nextDueAt <= at) {
      this.#wakeNext();
      await this.#idle.settle(MOST_TURNS);
    }
    this.#now = Math.max(this.#now, at);
    return this.#now;
  }

  #wakeNext(): void {
    this.#now = Math.max(this.#now, this.#timers.nextDueAt);
    this.#timers.fireDue(this.#now);
  }

  /** Waits until the process is idle and jumps, as long as somebody sleeps. */
  async #watch(): Promise<void> {
    if (!this.autoAdvance || this.#isWatching) return;
    this.#isWatching = true;
    while (this.#hasNext() && this.#moves === 0) {
      await this.#idle.idle();
      if (this.#hasNext() && this.#moves === 0) this.#wakeNext();
    }
    this.#isWatching = false;
  }

  /** Times after year 9999 are never reached: a wait beyond them does not end. */
  #hasNext(): boolean {
    return !this.#isFrozen && this.#timers.nextDueAt <= LATEST_MS;
  }
}

export interface VirtualClockOptions {
  readonly autoAdvance: boolean;
  readonly frozen: boolean;
  readonly sockets: SocketUse;
}

/** A request may wait, inside the mock, for the very move that waits for it; then the move goes on. */
const MOST_TURNS = 1000;
