/** Checked by `tsc` alone: the mock's types do not name msw's, and fit them all the same. */
import { graphql, type HttpHandler, HttpResponse, http, type RequestHandler } from 'msw';
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

// Where the mock takes handlers, it takes msw's, and nothing else.
mock.use(
  http.get('/api/v1/latest', () => HttpResponse.json({})),
  graphql.query('Q', () => HttpResponse.json({ data: {} })),
);
// @ts-expect-error: a function is no handler
mock.use(() => new Response());
// @ts-expect-error: nor is an object without `run`
mock.use({ info: {} });

// Another process receives JSON, of any type, but no function.
interface Rates {
  readonly rates: object;
}
const rates: Rates = { rates: { USD: 1.1 } };
const remote = connectMockServer('http://127.0.0.1:4010', 'a-token-of-16-chars');
await remote.latest.set(rates, { base: 'EUR' });
await remote.latest.set([{ rates: {} }, '{"rates":{}}']);
await remote.latest.set('{"rates":{}}');
// @ts-expect-error: a function cannot be sent
await remote.latest.set(() => ({ rates: {} }));

// The handlers of fxrates/msw are those of msw, for its server and its worker.
expectTypeOf(mockHandlers(mock)).toEqualTypeOf<HttpHandler[]>();
expectTypeOf(setupServer).toBeCallableWith(...mockHandlers(mock));
expectTypeOf(setupWorker).toBeCallableWith(...mockHandlers(mock));
