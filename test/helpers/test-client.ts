import { onTestFinished } from 'vitest';
import { type ApiResponse, Call } from '../../src/client/call/call.ts';
import { operationEndpoint } from '../../src/client/call/endpoint.ts';
import { type CallOptions, FxRates, type FxRatesOptions, type StandardSchema } from '../../src/client/index.ts';
import { ApiKey } from '../../src/client/key/api-key.ts';
import { resolveCall, resolveOptions } from '../../src/client/options/resolve-options.ts';
import { Cancellation } from '../../src/client/time/abort.ts';
import { FakeClock } from './fake-clock.ts';
import { type FakeFetch, fakeFetch, type Reply } from './fake-fetch.ts';
import { API_KEY } from './service-replies.ts';

export const BASE_URL = 'https://fx.test';

export interface TestClient {
  readonly fx: FxRates;
  readonly fetch: FakeFetch;
  readonly clock: FakeClock;
  /** What the client has warned of, unless the test passes a logger. */
  readonly warnings: readonly string[];
}

/** A client over a fake `fetch`, in virtual time; its random numbers are those of the clock. */
export function testClient(
  replies: Reply | readonly Reply[],
  { quota, ...options }: FxRatesOptions & { readonly quota?: Reply } = {},
): TestClient {
  const clock = new FakeClock();
  const fetch = fakeFetch(replies, quota === undefined ? {} : { quota });
  const warnings: string[] = [];
  const logger = { warn: (message: string) => void warnings.push(message) };
  const fx = new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY, clock, fetch, logger, ...options });
  return { fx, fetch, clock, warnings };
}

/** Returns the error of a call or a constructor; fails the test if there is none. */
export async function errorOf(work: Promise<unknown> | (() => unknown)): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure, but there was none');
}

/** A schema of no library. */
export function schemaOf(validate: (value: unknown) => unknown): StandardSchema {
  return { '~standard': { version: 1, vendor: 'test', validate: validate as never } };
}

/** A call of `latest`, for a part of the client. */
export function aCall(signal = new Cancellation(), deadlineAt = Number.POSITIVE_INFINITY): Call {
  const settings = resolveCall({}, resolveOptions({}));
  const key = ApiKey.from(API_KEY);
  return new Call({ endpoint: operationEndpoint('latest'), key, settings, signal, deadlineAt });
}

export function responseWith(data: unknown): ApiResponse {
  return { status: 200, headers: [], rawBody: '{}', data };
}

/** How often the client has called `quota()`. */
export function quotaRequests({ fetch }: TestClient): number {
  return fetch.requests.filter(({ url }) => url.endsWith('/quota')).length;
}

/** Calls that coalescing cannot combine. */
export function differentCalls(fx: FxRates, count: number, options?: CallOptions): Promise<unknown>[] {
  return Array.from({ length: count }, (_, index) => fx.latest({ call: index }, options));
}

/** The items, or the first ones of a loop that ends after so many. */
export async function listOf<T>(items: AsyncIterable<T>, most = Number.POSITIVE_INFINITY): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) if (list.push(item) === most) break;
  return list;
}

/** Collects the failures that nothing handles, until the test has ended. Vitest's own listener would fail the run. */
export function unhandledRejections(): readonly unknown[] {
  const reasons: unknown[] = [];
  const note = (reason: unknown) => reasons.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
  onTestFinished(() => {
    process.off('unhandledRejection', note);
    for (const other of others) process.on('unhandledRejection', other);
  });
  return reasons;
}
