import type { Clock } from '../clock.ts';
import type { ClientEvents, EventSubject } from '../events.ts';
import type { LimiterWait } from '../limits/limiter-view.ts';

/** The clients whose calls wait for one limiter. Each gets one event per wait, and can be collected when its calls end. */
export class Subscribers {
  readonly #state: EventSubject;
  readonly #clock: Clock;
  readonly #waiting = new Map<ClientEvents, number>();
  /** A warning that came when no call waited. */
  #pending: string | undefined;

  constructor(state: EventSubject, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  join(events: ClientEvents): void {
    this.#waiting.set(events, (this.#waiting.get(events) ?? 0) + 1);
    if (this.#pending !== undefined) events.warnOnce(this.#pending);
    this.#pending = undefined;
  }

  leave(events: ClientEvents): void {
    const others = (this.#waiting.get(events) ?? 0) - 1;
    if (others > 0) this.#waiting.set(events, others);
    else this.#waiting.delete(events);
  }

  warn(message: string): void {
    if (this.#waiting.size === 0) this.#pending = message;
    for (const events of this.#waiting.keys()) events.warnOnce(message);
  }

  readonly tell = ({ until, waiting, reason }: LimiterWait): void => {
    const event = {
      reason: reason === 'refused' ? ('retry_after' as const) : reason,
      waitMs: Math.ceil(Math.max(0, until - this.#clock.now())),
      until: new Date(until),
      waiting,
    };
    for (const events of this.#waiting.keys()) events.wait(this.#state, event);
  };
}
