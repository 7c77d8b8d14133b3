import type { Clock } from '../clock.ts';

/** A sleep is cut into pieces so that a clock which jumped (a laptop that slept) is noticed this soon. */
const LONGEST_SLEEP_MS = 5_000;

/** A shorter sleep could end in the millisecond in which it began, and repeat for ever. */
const SHORTEST_SLEEP_MS = 1;

/** Without a reason of ours, an abort makes an exception with its stack. */
const CANCELLED = 'cancelled';

/** One sleep at a time, however many calls wait for it. Wakes early rather than late; its owner then looks again. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wakeUp: () => void;
  #sleeping: { readonly endsAt: number; readonly controller: AbortController } | undefined;

  constructor(clock: Clock, wakeUp: () => void) {
    this.#clock = clock;
    this.#wakeUp = wakeUp;
  }

  /** Wakes after `ms`, or earlier if it was already set to an earlier time. */
  set(now: number, ms: number): void {
    const endsAt = now + Math.min(Math.max(ms, SHORTEST_SLEEP_MS), LONGEST_SLEEP_MS);
    if (this.#sleeping && this.#sleeping.endsAt > now && this.#sleeping.endsAt <= endsAt) return;
    this.cancel();
    const controller = new AbortController();
    this.#sleeping = { endsAt, controller };
    this.#clock.sleep(endsAt - now, controller.signal).then(
      () => this.#wake(controller),
      // A sleep fails only when `cancel` aborts it.
      () => undefined,
    );
  }

  /** Leaves no timer behind, so that a process with nothing else to do can exit. */
  cancel(): void {
    this.#sleeping?.controller.abort(CANCELLED);
    this.#sleeping = undefined;
  }

  #wake(controller: AbortController): void {
    if (this.#sleeping?.controller !== controller) return;
    this.#sleeping = undefined;
    this.#wakeUp();
  }
}
