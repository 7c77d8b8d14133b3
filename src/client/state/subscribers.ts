import type { Clock } from '../clock.ts';
import type { ClientEvents, EventSubject } from '../events.ts';
import type { LimiterWait } from '../limits/limiter-view.ts';

/** The clients whose calls wait for one limiter: each hears of a wait once, and none is kept alive by it. */
export class Subscribers {
  readonly #state: EventSubject;
  readonly #clock: Clock;
  readonly #waiting = new Map<ClientEvents, number>();
  /** A warning that came when nobody waited. */
  #unheard: string | undefined;

  constructor(state: EventSubject, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  join(events: ClientEvents): void {
    this.#waiting.set(events, (this.#waiting.get(events) ?? 0) + 1);
    if (this.#unheard !== undefined) events.warnOnce(this.#unheard);
    this.#unheard = undefined;
  }

  leave(events: ClientEvents): void {
    const others = (this.#waiting.get(events) ?? 0) - 1;
    if (others > 0) this.#waiting.set(events, others);
    else this.#waiting.delete(events);
  }

  warn(message: string): void {
    if (this.#waiting.size === 0) this.#unheard = message;
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
