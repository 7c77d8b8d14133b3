/** Checked by `tsc` alone: what compiles, and, under `@ts-expect-error`, what must not. */

import { type HttpHandler, HttpResponse, http, type RequestHandler } from 'msw';
import { setupWorker } from 'msw/browser';
import { setupServer } from 'msw/node';
import { type Dispatcher, MockAgent, fetch as undiciFetch } from 'undici';
import { expectTypeOf } from 'vitest';
import * as z from 'zod';
import {
  type AbortError,
  type AnyFxRatesError,
  type ApiCall,
  type AuthenticationError,
  type Batch,
  type CallOptions,
  type ConfigError,
  type FetchLike,
  FxRates,
  FxRatesError,
  type FxRatesErrorKind,
  type FxRatesOptions,
  type LatestData,
  type LatestQuery,
  type NetworkError,
  type Poll,
  type QuotaData,
  type QuotaExhaustedError,
  type RateLimitError,
  type RequestError,
  type ResponseError,
  type ResponseMeta,
  type ServerError,
  type StandardSchema,
  type TimeoutError,
} from '../../src/client/index.ts';
import { connectMockServer, createMockServer } from '../../src/mock-server/index.ts';
import { mockHandlers } from '../../src/mock-server/msw/index.ts';

const fx = new FxRates();

// A value that may be undefined needs no special care, in a query or in options.
const maybe = undefined as string | undefined;
const maybeMs = undefined as number | undefined;
void fx.latest({ base: maybe }, { timeoutMs: maybeMs, signal: undefined as AbortSignal | undefined });
void fx.latest({}, { deadlineMs: maybeMs, maxRetries: maybeMs, maxAgeMs: maybeMs, priority: undefined });
void fx.quota({ onLimit: undefined, priority: undefined });
void fx.get('/x', { query: { base: maybe } });
new FxRates({ rateLimit: { perMinute: maybeMs, maxConcurrent: maybeMs } });

new FxRates({ apiKey: process.env['ANY'], logger: console, dispatcher: new MockAgent() });
new FxRates({ fetch: undiciFetch });
// @ts-expect-error: no response
new FxRates({ fetch: async () => 'text' });
// @ts-expect-error: the client reads all headers
new FxRates({ fetch: async () => ({ status: 200, headers: { get: () => null }, body: null }) });
expectTypeOf(globalThis.fetch).toExtend<FetchLike>();
// Those of undici 6 and 8 are no `Dispatcher` of undici 7, because they have other handlers.
expectTypeOf<Dispatcher>().toExtend<FxRatesOptions['dispatcher']>();
expectTypeOf<{ dispatch(o: Dispatcher.DispatchOptions, h: { onOther(): 1 }): boolean }>().toExtend<
  FxRatesOptions['dispatcher']
>();
// @ts-expect-error: not a dispatcher
new FxRates({ dispatcher: { request: () => undefined } });

// @ts-expect-error: a key alone is no options
new FxRates('fx_live_…');
// @ts-expect-error: misspelt
new FxRates({ apikey: 'key' });
// @ts-expect-error: not a form of authentication
new FxRates({ auth: 'basic' });
// @ts-expect-error: no deadline is `false`
new FxRates({ deadlineMs: true });
// @ts-expect-error: not a text
new FxRates({ timeoutMs: '10s' });
// @ts-expect-error: half a clock
new FxRates({ clock: { now: () => 0 } });
// @ts-expect-error: not an option of the limit
new FxRates({ rateLimit: { perSecond: 1 } });

// Data.
expectTypeOf(fx.latest()).toEqualTypeOf<ApiCall<LatestData>>();
expectTypeOf(fx.quota()).toEqualTypeOf<ApiCall<QuotaData>>();
expectTypeOf(fx.get('/api/v1/other')).toEqualTypeOf<ApiCall<unknown>>();
expectTypeOf(fx.quota().withMeta()).resolves.toEqualTypeOf<{ readonly data: QuotaData; readonly meta: ResponseMeta }>();
expectTypeOf<LatestData[string]>().toBeUnknown();

// The enumerations of the service stay open, and still complete in an editor.
expectTypeOf<'enterprise'>().toExtend<QuotaData['plan']>();
expectTypeOf<QuotaData['plan']>().toExtend<string>();
expectTypeOf<QuotaData['monthly_limit']>().toEqualTypeOf<number | string | null | undefined>();
expectTypeOf<QuotaData['extra']>().toBeUnknown();
declare const record: QuotaData;
({ ...record, plan: 'a plan of tomorrow', more: 1 }) satisfies QuotaData;
// @ts-expect-error: what is absent is left out
({ ...record, monthly_limit: undefined }) satisfies QuotaData;
// @ts-expect-error: the contract requires it
({ ...record, monthly_used: undefined }) satisfies QuotaData;
// @ts-expect-error: only what the contract has
void fx.noOperation({ date: '2026-01-02' });

// Queries.
void fx.latest({ base: 'EUR', amount: 1.5, all: true, symbols: ['USD', 'JPY'] });
// @ts-expect-error: null is no parameter
void fx.latest({ base: null });
// @ts-expect-error: neither is an object
void fx.latest({ base: { currency: 'EUR' } });
// @ts-expect-error: a text is no query
void fx.latest('EUR');
// @ts-expect-error: the quota has no parameters
void fx.quota({ base: 'EUR' });
// @ts-expect-error: the path comes first
void fx.get({ query: {} });

// A schema types the data, also where it changes it.
const rates = z.object({ base: z.string(), rates: z.record(z.string(), z.string().transform(Number)) });
interface Rates {
  base: string;
  rates: Record<string, number>;
}
expectTypeOf(fx.latest({}, { schema: rates })).toEqualTypeOf<ApiCall<Rates>>();
expectTypeOf(fx.quota({ schema: z.object({ plan: z.string() }) })).toEqualTypeOf<ApiCall<{ plan: string }>>();
expectTypeOf(fx.get('/api/v1/other', { schema: z.array(z.int()), query: {} })).toEqualTypeOf<ApiCall<number[]>>();
// A type parameter says the type of data that the contract leaves open, unchecked.
expectTypeOf(fx.latest<Rates>({ base: 'EUR' })).toEqualTypeOf<ApiCall<Rates>>();
expectTypeOf((await fx.latest<Rates>({}, { priority: 'high' }).withMeta()).data).toEqualTypeOf<Rates>();
expectTypeOf(fx.get<Rates>('/api/v1/other', { query: {} })).toEqualTypeOf<ApiCall<Rates>>();
expectTypeOf(fx.poll<Rates>({ base: 'EUR' }, { every: 60_000 })).toEqualTypeOf<Poll<Rates, LatestQuery>>();
expectTypeOf(new FxRates({ numbers: 'string' }).latest<Rates>()).resolves.toEqualTypeOf<Rates>();
for await (const { query, value } of fx.batch<Rates>([{ base: 'EUR' }], { concurrency: 2 })) {
  expectTypeOf(query).toEqualTypeOf<LatestQuery>();
  expectTypeOf(value).toEqualTypeOf<Rates | undefined>();
}
expectTypeOf(fx.batch<Rates, 'latest', { base: string }>([{ base: 'EUR' }])).toEqualTypeOf<
  Batch<{ base: string }, Rates>
>();
// @ts-expect-error: the contract has the type of the quota record
void fx.quota<Rates>();
// @ts-expect-error: a type or a schema, not both
void fx.latest<Rates>({}, { schema: rates });
// @ts-expect-error: the query is checked as without the type
void fx.latest<Rates>({ base: null });
// @ts-expect-error: the type parameter is that of `latest`
fx.poll<Rates>(undefined, { operation: 'quota' });
// A schema that may be absent would type the data as if it always were: two calls instead.
declare const optional: { readonly schema?: typeof rates };
declare const maybeSchema: typeof rates | undefined;
const maybeChecked = { timeoutMs: 5, ...(maybeSchema ? { schema: maybeSchema } : {}) };
// @ts-expect-error: the same for each method
void fx.quota(maybeChecked);
// @ts-expect-error
void fx.quota({ timeoutMs: 5, ...(maybeSchema ? { schema: maybeSchema } : {}) });
// @ts-expect-error
void fx.latest({}, optional);
// @ts-expect-error
void fx.latest({}, { schema: maybeSchema });
// @ts-expect-error
void fx.get('/x', optional);
// @ts-expect-error
fx.batch([{ base: 'EUR' }], optional);
// @ts-expect-error
fx.poll({}, optional);
// @ts-expect-error
fx.poll(undefined, { operation: 'quota', ...optional });
// @ts-expect-error
optional satisfies CallOptions;
// @ts-expect-error: no option of a client
new FxRates(optional);
optional satisfies CallOptions<typeof rates>;
declare const options: CallOptions;
void fx.latest({}, options);
expectTypeOf(fx.latest({}, { ...options, schema: rates })).toEqualTypeOf<ApiCall<Rates>>();
expectTypeOf(fx.latest({}, { schema: undefined })).toEqualTypeOf<ApiCall<LatestData>>();
expectTypeOf(fx.poll(undefined, { operation: 'quota', schema: rates })).toEqualTypeOf<Poll<Rates, undefined>>();
declare const foreign: StandardSchema<string, Date>;
expectTypeOf(fx.latest({}, { schema: foreign })).resolves.toEqualTypeOf<Date>();
// @ts-expect-error: a function that checks is no schema
void fx.latest({}, { schema: (value: unknown) => value });

// A function with a generic schema returns the type that zod, or the interface of the specification, has for it.
async <Schema extends z.ZodType>(schema: Schema): Promise<z.infer<Schema>> => fx.latest({}, { schema });
async <Schema extends z.ZodType>(schema: Schema): Promise<z.infer<Schema>> => {
  for await (const { value } of fx.batch([{ base: 'EUR' }], { schema })) if (value !== undefined) return value;
  for await (const data of fx.poll({ base: 'EUR' }, { schema })) return data;
  return (await fx.get('/api/v1/other', { schema }).withMeta()).data;
};
async <Schema extends StandardSchema>(schema: Schema): Promise<NonNullable<Schema['~standard']['types']>['output']> =>
  fx.latest({}, { schema });
async <Data>(schema: StandardSchema<unknown, Data>): Promise<Data> => fx.latest({}, { schema });

// In a unit test, a plain object fits the interface of the code under test, as a client does.
interface RateSource {
  latest(query: { base: string }): Promise<Rates>;
}
expectTypeOf(fx).toExtend<RateSource>();
({ latest: async () => ({ base: 'EUR', rates: { USD: 1.1 } }) }) satisfies RateSource;

// A batch keeps the type of its queries.
expectTypeOf(fx.batch([{ base: 'EUR' }])).toEqualTypeOf<Batch<{ base: string }, LatestData>>();
expectTypeOf(fx.batch(new Set([{ base: 'EUR', id: 1 }]), { schema: rates })).toEqualTypeOf<
  Batch<{ base: string; id: number }, Rates>
>();
for await (const { query, value, error } of fx.batch([{ base: 'EUR' }], { operation: 'latest', concurrency: 2 })) {
  expectTypeOf(query.base).toBeString();
  if (error === undefined) expectTypeOf(value).toEqualTypeOf<LatestData>();
  else expectTypeOf(error).toEqualTypeOf<AnyFxRatesError>();
}
expectTypeOf(fx.batch(fx.batch([{ base: 'EUR' }]).left())).toEqualTypeOf<Batch<{ base: string }, LatestData>>();
// @ts-expect-error: quota has no query
fx.batch([{}], { operation: 'quota' });
// @ts-expect-error: a query is no list
fx.batch({ base: 'EUR' });

// A poll gives the data of its operation.
expectTypeOf(fx.poll()).toEqualTypeOf<Poll<LatestData, undefined>>();
expectTypeOf(fx.poll(undefined, { every: 'quota' })).toEqualTypeOf<Poll<LatestData, undefined>>();
expectTypeOf(fx.poll(undefined, { operation: 'quota', every: 60_000 })).toEqualTypeOf<Poll<QuotaData, undefined>>();
expectTypeOf(fx.poll<Rates>()).toEqualTypeOf<Poll<Rates, undefined>>();
// It keeps the type of its queries.
expectTypeOf(fx.poll({ base: 'EUR' }, { every: 'snapshot' })).toEqualTypeOf<Poll<LatestData, { base: string }>>();
expectTypeOf(fx.poll([{ base: 'EUR' }, { base: 'USD' }])).toEqualTypeOf<Poll<LatestData, { base: string }>>();
expectTypeOf(fx.poll({ base: maybe }, { schema: rates })).toEqualTypeOf<Poll<Rates, { base: string | undefined }>>();
expectTypeOf(fx.poll<Rates>([{ base: 'EUR' }])).toEqualTypeOf<Poll<Rates, LatestQuery>>();
declare const maybeQuery: { base: string } | undefined;
for await (const { query } of fx.poll(maybeQuery).withMeta()) {
  expectTypeOf(query).toEqualTypeOf<{ base: string } | undefined>();
}
// @ts-expect-error: quota has no query
fx.poll({ base: 'EUR' }, { operation: 'quota' });
// @ts-expect-error: not an interval
fx.poll({}, { every: '5m' });

// Errors: `kind` tells the class.
interface ErrorsByKind {
  config: ConfigError;
  authentication: AuthenticationError;
  rate_limited: RateLimitError;
  quota_exhausted: QuotaExhaustedError;
  request: RequestError;
  server: ServerError;
  network: NetworkError;
  timeout: TimeoutError;
  aborted: AbortError;
  response: ResponseError;
}
expectTypeOf<{ [Kind in FxRatesErrorKind]: Extract<AnyFxRatesError, { kind: Kind }> }>().toEqualTypeOf<ErrorsByKind>();
declare const error: unknown;
if (FxRatesError.is(error)) {
  expectTypeOf(error).toEqualTypeOf<AnyFxRatesError>();
  if (error.kind === 'rate_limited') {
    expectTypeOf(error.reason).toEqualTypeOf<'deadline' | 'max_retry_after' | 'policy' | 'retries'>();
  }
  if (error.kind === 'timeout') expectTypeOf(error.scope).toEqualTypeOf<'attempt' | 'deadline'>();
  // @ts-expect-error: not every error knows when to come back
  error.retryAt;
}

// `numbers` of a client types the numbers of the data.
interface QuotaTexts {
  readonly monthly_used: string;
  readonly monthly_limit?: string | null;
  readonly plan: string;
  readonly [field: string]: unknown;
}
const exact = new FxRates({ numbers: 'string' });
expectTypeOf(exact).toEqualTypeOf<FxRates<'string'>>();
expectTypeOf(new FxRates({ numbers: undefined })).toEqualTypeOf<FxRates>();
declare const maybeExact: FxRatesOptions<'string'>;
// @ts-expect-error: may have no `numbers`, and the client then returns numbers
new FxRates(maybeExact);
// @ts-expect-error: as above
new FxRates({ numbers: maybe ? 'string' : undefined });
// @ts-expect-error: as above
new FxRates({ ...(maybe && ({ numbers: 'string' } as const)) });
// @ts-expect-error: as above
fx.withOptions({ numbers: maybe ? 'string' : undefined });
// What a function with the parameters of the constructor passes on.
(...options: ConstructorParameters<typeof FxRates>): FxRates => new FxRates(...options);
declare const either: 'number' | 'string';
expectTypeOf((await new FxRates({ numbers: either }).quota()).monthly_used).toEqualTypeOf<number | string>();
expectTypeOf(await exact.quota()).toExtend<QuotaTexts>();
expectTypeOf((await exact.withOptions({ timeoutMs: 5 }).quota()).monthly_used).toBeString();
expectTypeOf((await exact.withOptions({ numbers: 'number' }).quota()).monthly_used).toBeNumber();
class Own extends FxRates {
  readonly own = true;
}
expectTypeOf(new Own().withOptions({ timeoutMs: 5 })).toEqualTypeOf<Own>();
expectTypeOf(await exact.latest()).toEqualTypeOf<LatestData>();
expectTypeOf(exact.latest({}, { schema: rates })).toEqualTypeOf<ApiCall<Rates>>();
for await (const quota of exact.poll(undefined, { operation: 'quota' })) expectTypeOf(quota.monthly_used).toBeString();
// @ts-expect-error: the type of a client does not change with the values of its options
const untyped: FxRatesOptions = { numbers: 'string' };
void untyped;
// @ts-expect-error: a client with other numbers gives other types
expectTypeOf(exact).toExtend<FxRates>();
// @ts-expect-error: an option of the client alone
void fx.latest({}, { numbers: 'string' });
// @ts-expect-error: not a form
new FxRates({ numbers: 'decimal' });

/** The mock's types do not name msw's, and fit them all the same. */
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
mock.rules.add({ respond: [{ status: 503 }, { data: 1 }] });
mock.rules.add(mock.rules.add({ fail: { kind: 'hang' }, counted: false }));
// @ts-expect-error: an answer is synchronous
mock.rules.add({ respond: async () => ({ data: 1 }) });
// @ts-expect-error: there is no such failure
mock.rules.add({ fail: { kind: 'explode' } });

// Another process receives JSON, of any type.
interface AnyRates {
  readonly rates: object;
}
const anyRates: AnyRates = { rates: { USD: 1.1 } };
const remote = connectMockServer('http://127.0.0.1:4010', 'a-token-of-16-chars');
await remote.latest.set(anyRates, { base: 'EUR' });
await remote.latest.set([{ rates: {} }, '{"rates":{}}']);
await remote.latest.set('{"rates":{}}');
await remote.rules.add(await remote.rules.get('rule_1'));

// The handlers of fxrates/msw are those of msw, for its server and its worker.
expectTypeOf(mockHandlers(mock)).toEqualTypeOf<HttpHandler[]>();
expectTypeOf(setupServer).toBeCallableWith(...mockHandlers(mock));
expectTypeOf(setupWorker).toBeCallableWith(...mockHandlers(mock));
