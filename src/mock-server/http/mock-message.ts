import type { Delivery } from '../faults/delivery.ts';

/** A request as every adapter hands it over: nothing of the transport is left in it. */
export interface MockRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query exactly as sent, `/api/v1/latest?base=EUR`. */
  readonly target: string;
  /** Names in lower case; several values of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Read by handlers of `mock.use()` alone; no operation of the service takes a body. */
  readonly body?: Uint8Array;
}

/** An answer; every adapter sends it as it is. */
export interface MockResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** How faults make it arrive; left out: whole and at once. */
  readonly delivery?: Delivery | undefined;
}
