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

/**
 * The decisions of a rate limiter, without clock, timer or queue: time is passed in. For every call granted by
 * `acquire`, exactly one of `ok`, `limited`, `lost` and `unused` is reported.
 */
export interface LimitCore {
  acquire(now: number, waitingLow: number, waitingHigh: number): Grant;
  /** Any answer but a refusal for the rate: the server counted the call. */
  ok(now: number, sentAt: number, probe: boolean): void;
  limited(now: number, sentAt: number, probe: boolean, hintMs: number | undefined): void;
  /** No answer: the server may have counted the call. */
  lost(now: number, sentAt: number): void;
  /** Granted and then not sent. */
  unused(): void;
  /** The plan's limit became known. */
  tellLimit(perMinute: number): void;
  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  slotAt(now: number, ahead: number): number;
  view(): LimitView;
}
