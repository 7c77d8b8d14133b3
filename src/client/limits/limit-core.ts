import type { RetryAfterReading } from './retry-after-reader.ts';

/** How many waiting calls may be sent now, and when to ask again. */
export interface Grant {
  readonly n: number;
  /** These are sent to learn the window, beyond what is known to be free. */
  readonly probe: boolean;
  /** Ask again at this time; `undefined`: after the next answer. */
  readonly at: number | undefined;
}

/** What is believed about the limit at this moment. */
export interface LimitView {
  /** Nothing is sent before this time. */
  readonly gateAt: number;
  readonly inFlight: number;
  /** Calls per minute that this process may use; `undefined` while neither told nor learned. */
  readonly perMinute: number | undefined;
  readonly window: 'unknown' | 'sliding' | 'fixed' | 'token-bucket';
}

/** When a call was sent and answered. */
export interface Answer {
  readonly now: number;
  readonly sentAt: number;
  /** As it was granted. */
  readonly probe: boolean;
}

/** With the headers that tell of time. */
export interface DatedAnswer extends Answer {
  readonly date?: string | undefined;
}

/** A 429. */
export interface RefusedAnswer extends DatedAnswer {
  readonly retryAfter?: string | undefined;
}

/**
 * The limit of one key, without timer or queue: time is passed in. For every call granted by `acquire`, exactly one of
 * `ok`, `limited`, `lost` and `unused` is reported.
 */
export interface LimitCore {
  acquire(now: number, waiting: number): Grant;
  /** Any answer but a refusal for the rate: the server counted the call. */
  ok(answer: DatedAnswer): void;
  limited(answer: RefusedAnswer): RetryAfterReading;
  /** No answer: the server may have counted the call. */
  lost(answer: Answer): void;
  /** Granted and then not sent. */
  unused(): void;
  /** The plan's limit became known. */
  tellLimit(perMinute: number): void;
  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number): number;
  view(): LimitView;
}
