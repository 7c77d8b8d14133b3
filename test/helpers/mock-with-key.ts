import { FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import type { PlanName } from '../../src/generated/service.ts';
import { createMockServer, type MockServerOptions } from '../../src/mock-server/index.ts';

/** A virtual clock that stands still until a test moves it. */
export const STILL = { mode: 'virtual', autoAdvance: false } as const;

export interface MockWithKeyOptions extends MockServerOptions {
  /** Default: free. */
  readonly plan?: PlanName;
}

/** A mock with one key, and a function that sends requests with it. By default its clock stands still. */
export function mockWithKey({ plan, ...options }: MockWithKeyOptions = {}) {
  const mock = createMockServer({ clock: STILL, ...options });
  const created = mock.createKey({ plan });
  return { mock, ...created, send: sender(mock, created.key) };
}

/** A client of a mock with one key, in virtual time. */
export function clientOnMock({ client = {}, ...options }: ClientOnMockOptions = {}) {
  const given = mockWithKey({ clock: 'virtual', ...options });
  return { ...given, fx: new FxRates({ apiKey: given.key, ...given.mock.clientOptions(), ...client }) };
}

export interface ClientOnMockOptions extends MockWithKeyOptions {
  readonly client?: FxRatesOptions;
}

/** Sends requests with a key to a mock, a space or a server. Other headers replace that of the key. */
export function sender(
  { baseUrl, fetch }: { readonly baseUrl: string; readonly fetch: typeof globalThis.fetch },
  key = '',
) {
  return async (target = '/api/v1/latest', init: RequestInit = {}) => {
    const response = await fetch(baseUrl + target, { headers: { authorization: `Bearer ${key}` }, ...init });
    const { status, headers } = response;
    const text = await response.text();
    return { status, headers, text, json: () => JSON.parse(text) };
  };
}
