import { once } from 'node:events';
import { onAbort } from '../../foreign-values.ts';
import { type Clock, LATEST_MS } from './clock.ts';
import { holdProcess } from './event-loop.ts';

interface DelayOptions<Early> {
  /** Id of the rule that makes the request hang. The wait ends when it is removed. */
  readonly hangingBy?: string | undefined;
  /**
   * Called with the reason when the wait ends early, before code that waits for the same signal continues, and before
   * `reset()` clears the journal.
   */
  readonly onEndedEarly: (reason: string) => Early;
}

/** Whether a mock or a space is closed. While it is, waits for requests and of rules end at once. */
export interface MockLifetime {
  readonly isClosed: boolean;
}

/** Reason of the signals that abort because the server is closed, not because the client has disconnected. */
export const SERVER_CLOSED = 'the server was closed';

/**
 * The waits that rules cause, by the mock's clock. They end early when the client disconnects, or the mock is
 * closed or reset.
 */
export class ResponseDelays {
  readonly #clock: Clock;
  readonly #lifetime: MockLifetime;
  /** Each with the id of the rule that makes the request hang. */
  readonly #waiting = new Map<AbortController, string | undefined>();

  constructor(clock: Clock, lifetime: MockLifetime) {
    this.#clock = clock;
    this.#lifetime = lifetime;
  }

  /**
   * Waits `ms` milliseconds; infinity waits until something ends the wait. Resolves to what `onEndedEarly` returned;
   * `undefined` if the whole time has passed.
   */
  async wait<Early>(
    ms: number,
    signal: AbortSignal | undefined,
    { hangingBy, onEndedEarly }: DelayOptions<Early>,
  ): Promise<Early | undefined> {
    if (this.#lifetime.isClosed) return onEndedEarly(MOCK_CLOSED);
    if (signal?.aborted) return onEndedEarly(reasonOf(signal));
    const end = new AbortController();
    let early: Early | undefined;
    const noteEnd = () => {
      early = onEndedEarly(end.signal.reason);
    };
    end.signal.addEventListener('abort', noteEnd, { once: true });
    const unlisten = signal && onAbort(signal, () => end.abort(reasonOf(signal)));
    this.#waiting.set(end, hangingBy);
    const release = holdProcess(); // the client waits, even if its own timeout holds nothing, as that of a signal
    try {
      const isEndless = this.#clock.now() + ms > LATEST_MS; // the clock never reaches the end of the wait
      await (isEndless ? once(end.signal, 'abort') : this.#clock.sleep(ms, end.signal));
    } catch (error) {
      if (!end.signal.aborted) throw error;
    } finally {
      release();
      unlisten?.();
      this.#waiting.delete(end);
    }
    return early;
  }

  /** Ends the requests that hang because of a rule. */
  endHangsOf(ruleId: string): void {
    for (const [end, hangingBy] of this.#waiting) if (hangingBy === ruleId) end.abort(MOCK_CLOSED);
  }

  endAll(): void {
    for (const end of this.#waiting.keys()) end.abort(MOCK_CLOSED);
  }
}

const MOCK_CLOSED = 'the mock was closed';

/** Why a signal has ended a wait. */
function reasonOf({ reason }: AbortSignal): string {
  return reason === SERVER_CLOSED ? MOCK_CLOSED : 'the client disconnected';
}
