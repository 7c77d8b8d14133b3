import type { DrivenClock } from './clock.ts';
import { LONGEST_TIMER_MS, nextTurn } from './event-loop.ts';
import { TimerQueue } from './timer-queue.ts';

/** A clock that follows real time, from now or from another time. */
export class RealTimeClock implements DrivenClock {
  readonly mode = 'real';
  readonly autoAdvance = false;
  readonly #timers = new TimerQueue();
  readonly #startAt: number | undefined;
  readonly #startsFrozen: boolean;
  /** Time of the system clock when this clock was frozen. */
  #frozenAt: number | undefined;
  #aheadMs = 0;
  #latest = 0;
  /** By how much `#date` was set back. This clock continues from where it was, so that its waits end. */
  #setBackMs = 0;
  #date = globalThis.Date;
  /** The target of the last `advanceTo()`, which may not be reached yet. */
  #target = 0;
  #stopTimer: () => void = () => undefined;
  /** The function that has set the timer: when fake timers replace it, the timer may never fire. */
  #setTimeout = globalThis.setTimeout;

  constructor(startAt?: number, { frozen = false }: { readonly frozen?: boolean } = {}) {
    this.#startAt = startAt;
    this.#startsFrozen = frozen;
    this.reset();
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  now(): number {
    if (globalThis.setTimeout !== this.#setTimeout) this.#arm();
    if (globalThis.Date !== this.#date) this.#setBackMs = 0;
    this.#date = globalThis.Date;
    const time = (this.#frozenAt ?? systemNow()) + this.#aheadMs;
    this.#setBackMs = Math.max(this.#setBackMs, this.#latest - time);
    this.#latest = time + this.#setBackMs;
    return this.#latest;
  }

  freeze(): void {
    this.#frozenAt ??= systemNow();
    this.#arm();
  }

  resume(): void {
    if (this.#frozenAt === undefined) return;
    this.#aheadMs -= systemNow() - this.#frozenAt;
    this.#frozenAt = undefined;
    this.#arm();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!(ms > 0)) return;
    const slept = this.#timers.add(this.now() + ms, signal);
    this.#arm();
    try {
      await slept;
    } finally {
      this.#arm();
    }
  }

  async advanceTo(target: (now: number) => number): Promise<number> {
    const at = target(Math.max(this.now(), this.#target));
    this.#target = at;
    while (this.#timers.nextDueAt <= at) {
      this.#aheadMs += Math.max(0, this.#timers.nextDueAt - this.now());
      this.#timers.fireDue(this.now());
      for (let turn = 0; turn < TURNS_TO_GO_ON; turn += 1) await nextTurn();
    }
    this.#aheadMs += Math.max(0, at - this.now());
    this.#arm();
    return this.now();
  }

  set(at: number): void {
    this.#timers.shift(at - this.now());
    this.#latest = at;
    this.#setBackMs = 0;
    this.#target = 0;
    this.#aheadMs = at - (this.#frozenAt ?? systemNow());
    this.#arm();
  }

  reset(): void {
    this.#frozenAt = this.#startsFrozen ? systemNow() : undefined;
    this.set(this.#startAt ?? systemNow());
  }

  hold(): () => void {
    return () => undefined;
  }

  /** One timer for the earliest sleep; none without sleeps, so that the process can end, and none while frozen. */
  #arm(): void {
    this.#stopTimer();
    this.#setTimeout = globalThis.setTimeout;
    if (this.#timers.size === 0 || this.isFrozen) return;
    const waitMs = Math.min(this.#timers.nextDueAt - this.now(), LONGEST_TIMER_MS);
    // biome-ignore lint/plugin: this is the real clock
    const timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(waitMs)));
    const { clearTimeout } = globalThis; // the one that knows the timer, whatever replaces it later
    this.#stopTimer = () => clearTimeout(timer);
  }

  #wake(): void {
    this.#timers.fireDue(this.now());
    this.#arm();
  }
}

/** Milliseconds since the Unix epoch by the machine's own clock. */
export function systemNow(): number {
  // biome-ignore lint/plugin: this is the real clock
  return Date.now();
}

/** Code that continues after a wait runs within a few turns of the event loop. */
const TURNS_TO_GO_ON = 12;
