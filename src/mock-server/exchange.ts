import type { Overrides } from './adapters/overrides.ts';
import type { DrivenClock } from './clock/clock.ts';
import { failure } from './http/answer.ts';
import type { Handler } from './http/handler.ts';
import type { MockRequest, MockResponse } from './http/mock-message.ts';
import { createDateHeader, writeResponse } from './http/write-response.ts';

/** Answers a request, for every adapter alike. `undefined`: the connection breaks off without an answer. */
export type Exchange = (request: MockRequest) => MockResponse | undefined | Promise<MockResponse | undefined>;

export interface ExchangeOptions {
  readonly handler: Handler;
  readonly overrides: Overrides;
  readonly clock: DrivenClock;
}

/** Handlers of `mock.use()` first, then the emulated service. Synchronous as long as there are no such handlers. */
export function createExchange({ handler, overrides, clock }: ExchangeOptions): Exchange {
  const dateHeader = createDateHeader();
  return (request) => {
    if (request.body !== undefined && request.body.byteLength > MAX_BODY_BYTES) {
      return writeResponse(TOO_LARGE, request.method, dateHeader(clock.now()));
    }
    if (overrides.isEmpty) return handler(request);
    const release = clock.hold();
    return overrides
      .answer(request)
      .then((overridden) => (overridden === 'not-handled' ? handler(request) : overridden))
      .finally(release);
  };
}

/** No operation takes a body; handlers of `mock.use()` may. */
export const MAX_BODY_BYTES = 1024 * 1024;

const TOO_LARGE = failure({
  status: 413,
  code: 'content_too_large',
  message: `The body is larger than ${MAX_BODY_BYTES} bytes.`,
});
