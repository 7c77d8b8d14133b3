import type { DrivenClock } from './clock.ts';
import { LONGEST_TIMER_MS, nextTurn } from './event-loop.ts';
import { TimerQueue } from './timer-queue.ts';

/** A clock that follows real time, from now or from another time. */
export class RealClock implements DrivenClock {
  readonly mode = 'real';
  readonly autoAdvance = false;
  readonly #timers = new TimerQueue();
  readonly #startAt: number | undefined;
  readonly #startsFrozen: boolean;
  /** Time of the system clock when this clock was frozen. */
  #frozenAt: number | undefined;
  #aheadMs = 0;
  #latest = 0;
  /** The target of the last `advanceTo()`, which may not be reached yet. */
  #target = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(startAt?: number, { frozen = false }: { readonly frozen?: boolean } = {}) {
    this.#startAt = startAt;
    this.#startsFrozen = frozen;
    this.reset();
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  now(): number {
    // The system's clock can be set back; this one never runs backwards.
    this.#latest = Math.max(this.#latest, this.#source() + this.#aheadMs);
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
    this.#target = 0;
    this.#aheadMs = at - this.#source();
    this.#arm();
  }

  reset(): void {
    this.#frozenAt = this.#startsFrozen ? systemNow() : undefined;
    this.set(this.#startAt ?? systemNow());
  }

  hold(): () => void {
    return () => undefined;
  }

  #source(): number {
    return this.#frozenAt ?? systemNow();
  }

  /** One timer for the earliest sleep; none without sleeps, so that the process can end, and none while frozen. */
  #arm(): void {
    clearTimeout(this.#timer);
    const waitMs = Math.min(this.#timers.nextDueAt - this.now(), LONGEST_TIMER_MS);
    if (this.#timers.size === 0 || this.isFrozen) return;
    // biome-ignore lint/plugin: this is the real clock
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(waitMs)));
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
