/** Checked by `tsc` alone: the mock's types do not name msw's, and fit them all the same. */
import { type HttpHandler, HttpResponse, http, type RequestHandler } from 'msw';
import { setupWorker } from 'msw/browser';
import { setupServer } from 'msw/node';
import { expectTypeOf } from 'vitest';
import { connectMockServer, createMockServer } from '../../src/mock-server/index.ts';
import { mockHandlers } from '../../src/mock-server/msw/index.ts';

const mock = createMockServer();

// Where msw takes handlers, it takes the mock's.
const server = setupServer(
  ...mock.handlers,
  http.all('*', () => HttpResponse.error()),
);
server.use(...mock.handlers);
mock.handlers satisfies RequestHandler[];

// A rule has one response, several, or a function; what was read can be added again.
mock.rules.add({ respond: ({ query }, { invented }) => ({ data: { ...invented(), query } }) });
mock.rules.add({ respond: [{ status: 503 }, { data: 1 }], match: { via: 'socket' } });
mock.rules.add(mock.rules.add({ fail: { kind: 'hang' }, counted: false }));
// @ts-expect-error: an answer is synchronous
mock.rules.add({ respond: async () => ({ data: 1 }) });
// @ts-expect-error: there is no such failure
mock.rules.add({ fail: { kind: 'explode' } });

// Another process receives JSON, of any type.
interface Rates {
  readonly rates: object;
}
const rates: Rates = { rates: { USD: 1.1 } };
const remote = connectMockServer('http://127.0.0.1:4010', 'a-token-of-16-chars');
await remote.latest.set(rates, { base: 'EUR' });
await remote.latest.set([{ rates: {} }, '{"rates":{}}']);
await remote.latest.set('{"rates":{}}');
await remote.rules.add(await remote.rules.get('rule_1'));

// The handlers of fxrates/msw are those of msw, for its server and its worker.
expectTypeOf(mockHandlers(mock)).toEqualTypeOf<HttpHandler[]>();
expectTypeOf(setupServer).toBeCallableWith(...mockHandlers(mock));
expectTypeOf(setupWorker).toBeCallableWith(...mockHandlers(mock));
