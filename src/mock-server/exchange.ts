import type { Overrides } from './adapters/overrides.ts';
import type { DrivenClock } from './clock/clock.ts';
import { type Answer, failure } from './http/answer.ts';
import type { Handler } from './http/handler.ts';
import type { MockRequest, MockResponse } from './http/mock-message.ts';
import { internalError } from './http/refusals.ts';
import { parseTarget } from './http/router.ts';
import { createDateHeader, writeResponse } from './http/write-response.ts';
import type { Journal } from './journal.ts';
import { redactKeys } from './redact-keys.ts';

/** Answers a request, for every adapter alike. `undefined`: the connection breaks off without an answer. */
export type Exchange = (request: MockRequest) => MockResponse | undefined | Promise<MockResponse | undefined>;

export interface ExchangeOptions {
  readonly handler: Handler;
  readonly overrides: Overrides;
  readonly clock: DrivenClock;
  readonly journal: Journal;
}

/** Handlers of `mock.use()` first, then the emulated service. Synchronous as long as there are no such handlers. */
export function createExchange({ handler, overrides, clock, journal }: ExchangeOptions): Exchange {
  const dateHeader = createDateHeader();

  /** An answer that the emulated service has no part in. */
  function outside(request: MockRequest, answer: Answer): MockResponse {
    note(request, answer);
    return writeResponse(answer, request.method, dateHeader(clock.now()));
  }

  function note({ method, target }: MockRequest, { status, code, why }: Pick<Answer, 'status' | 'code' | 'why'>): void {
    journal.note({ at: clock.now(), method, path: redactKeys(parseTarget(target).path), status, code, why });
  }

  async function overridden(request: MockRequest): Promise<MockResponse | undefined> {
    const release = clock.hold();
    try {
      const response = await overrides.answer(request);
      if (response === 'not-handled') return handler(request);
      note(request, { status: response?.status ?? 0, code: undefined, why: 'answered by a handler of mock.use()' });
      return response;
    } catch (error) {
      return outside(request, internalError(error));
    } finally {
      release();
    }
  }

  return (request) => {
    if (request.body !== undefined && request.body.byteLength > MAX_BODY_BYTES) return outside(request, TOO_LARGE);
    return overrides.isEmpty ? handler(request) : overridden(request);
  };
}

/** No operation takes a body; handlers of `mock.use()` may. */
export const MAX_BODY_BYTES = 1024 * 1024;

const TOO_LARGE = failure({
  status: 413,
  code: 'content_too_large',
  message: `The body is larger than ${MAX_BODY_BYTES} bytes.`,
});
