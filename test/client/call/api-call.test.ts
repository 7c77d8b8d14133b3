import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { createApiCall, dataWithTextNumbers } from '../../../src/client/call/api-call.ts';
import {
  type ApiCall,
  type FxRates,
  type FxRatesOptions,
  RateLimitError,
  RequestError,
  type StandardSchema,
} from '../../../src/client/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { errorOf, schemaOf, testClient, unhandledRejections } from '../../helpers/test-client.ts';

test('a new client sends nothing; a call is sent whether or not its promise is awaited', async () => {
  const { fx, fetch, clock } = testClient(success());
  await quiet();
  expect([clock.sleeps, fetch.requests]).toEqual([[], []]);

  void fx.latest();
  await quiet();

  expect(fetch.requests).toHaveLength(1);
});

test.each<[string, (call: ApiCall<unknown>) => unknown, number]>([
  ['through withMeta()', (call) => call.withMeta().catch(() => undefined), 0],
  ['through the call', (call) => call.catch(() => undefined), 0],
  ['by nothing', () => undefined, 1],
  ['by nothing, with withMeta(),', (call) => call.withMeta(), 1],
])('a failure handled %s is reported as unhandled %i times', async (...[, use, times]) => {
  const unhandled = unhandledRejections();

  use(createApiCall(Promise.reject(new Error('no'))));
  await quiet();

  expect(unhandled).toEqual(Array(times).fill(new Error('no')));
});

/** What a client that receives `data` returns with this schema. */
function checked(by: StandardSchema, data: unknown): Promise<unknown> {
  return testClient(success(data)).fx.latest({}, { schema: by });
}

test.each<[string, StandardSchema, unknown, unknown]>([
  [
    'the output of the schema',
    z.object({ rates: z.record(z.string(), z.string().transform(Number)) }),
    { rates: { EUR: '0.92' }, more: 1 },
    { rates: { EUR: 0.92 } },
  ],
  ['the output of an asynchronous schema', schemaOf(async (value) => ({ value: [value] })), { n: 1 }, [{ n: 1 }]],
  // As the specification of schemas says.
  ['the value if issues are undefined', schemaOf((value) => ({ value, issues: undefined })), { n: 1 }, { n: 1 }],
])('returns %s', async (_, by, data, output) => {
  await expect(checked(by, data)).resolves.toEqual(output);
});

/** As the paths of arktype: an array class whose constructor adds its arguments, so that its `map()` adds a length. */
class NumberedPath extends Array<PropertyKey> {
  constructor(...parts: PropertyKey[]) {
    super();
    this.push(...parts);
  }
}

test.each([
  ['does not match the schema: it names no issue', []],
  ['does not match the schema: is odd', [{ message: 'is odd' }]],
  ['does not match the schema: is odd', [{ message: 'is odd', path: [] }]],
  [
    'does not match the schema: rates.EUR.0: is odd',
    [{ message: 'is odd', path: [{ key: 'rates' }, 'EUR', { key: 0 }] }],
  ],
  ['does not match the schema: must be an array', [{ message: 'must be an array', path: new NumberedPath() }]],
])('the data of an operation %s', async (text, issues) => {
  const wrong = schemaOf(() => ({ issues }));

  expect(await errorOf(checked(wrong, {}))).toMatchObject({ issues, message: `The data of latest ${text}` });
});

test.each<[string, unknown]>([
  ['undefined', undefined],
  ["'ok'", 'ok'],
  ['a list', [{ message: 'is odd' }]],
  ['true (boolean)', { issues: true }],
  ['null', { issues: null }],
])('a schema that returns no result is a ConfigError: %s', async (shown, result) => {
  const by = schemaOf(() => result);

  expect(await errorOf(checked(by, {}))).toMatchObject({
    kind: 'config',
    message: `schema: expected validate() to return { value } or { issues: [ … ] }, got ${shown}`,
  });
});

test('the error of a schema has the response and the call, without the key', async () => {
  const callIds: string[] = [];
  const reply = { ...success({ a: API_KEY }), status: 203, headers: { 'x-request-id': 'r1' } };
  const { fx } = testClient(reply, { onRequest: ({ callId }) => callIds.push(callId) });

  const error = await errorOf(fx.get(`/of/${API_KEY}`, { schema: z.object({ b: z.number() }) }));

  expect(error).toMatchObject({ kind: 'response', status: 203, requestId: 'r1', callId: callIds[0] });
  expect(error).toMatchObject({
    message: expect.stringContaining('The data of /of/fx_live_…cdef does not match the schema: b: '),
    attempts: [{ status: 203, reason: 'first' }],
    bodyExcerpt: '{"success":true,"data":{"a":"fx_live_…cdef"}}',
  });
});

/** What a double cannot keep: trailing zeros, more than 17 digits, -0, an exponent beyond its range. */
const BODY =
  '{"success": true, "data": {"rates": {"EUR": 1.10, "JPY": 0.12345678901234567890}, "list": [-0, [1e400], "2.50"]}}';
const EXACT = { rates: { EUR: '1.10', JPY: '0.12345678901234567890' }, list: ['-0', ['1e400'], '2.50'] };
const reply = { body: BODY };

function textClient(replies: Reply, options: Parameters<typeof testClient>[1] = {}) {
  return testClient(replies, { ...options, numbers: 'string' as never });
}

const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('1.10', '"1', '\\', '\\"2', '[3', 'x:4,5')),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', '2', 'a"1')), tie('value')),
  ),
})).value;

test('differs from JSON.parse in the numbers alone, for any data', () => {
  fc.assert(
    fc.property(data, fc.integer({ min: 0, max: 3 }), (value, indent) => {
      const text = JSON.stringify({ success: true, data: value }, undefined, indent);
      const expected = (JSON.parse(text) as { data: unknown }).data;

      const texts = JSON.stringify(expected, (_, part) => (typeof part === 'number' ? JSON.stringify(part) : part));
      expect(JSON.stringify(dataWithTextNumbers(text))).toBe(texts);
    }),
  );
});

test('the last of equal names applies, and __proto__ is an ordinary name', () => {
  const parsed = dataWithTextNumbers('{"data": {"a": 1.0, "a": 2.0, "__proto__": {"b": 3.0}}}') as object;

  expect(Object.entries(parsed)).toEqual(Object.entries({ a: '2.0', ['__proto__']: { b: '3.0' } }));
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test('converts data of any depth in linear time', () => {
  const depth = 100_000;

  const parsed = dataWithTextNumbers(`{"data": ${'[1,'.repeat(depth)}2${']'.repeat(depth)}}`);

  expect((parsed as unknown[])[0]).toBe('1');
});

test('applies to get and batch; withOptions() overrides or inherits it, with one cached response', async () => {
  const { fx, fetch } = textClient(reply, { cache: { maxAgeMs: 60_000 } });
  expect(await fx.get('/api/v1/other')).toEqual(EXACT);
  for await (const { value } of fx.batch([{ n: 1 }])) expect(value).toEqual(EXACT);

  const first = await fx.latest();
  const second = await fx.withOptions({ numbers: 'number' }).latest();
  const third = await fx.withOptions({ timeoutMs: 5_000 }).latest();

  expect([first, second, third]).toMatchObject([EXACT, { rates: { EUR: 1.1 } }, EXACT]);
  expect(fetch.requests).toHaveLength(3);
});

test('the contract is checked first, and a schema gets the converted data', async () => {
  const { fx } = textClient({ body: '{"success":true,"data":{"plan":"free","monthly_used":1.50}}' });
  const schema = z.object({ rates: z.record(z.string(), z.string().regex(/^\d+\.\d+$/)) });

  const wrong = await errorOf(fx.quota());
  const right = await textClient(reply).fx.latest({}, { schema });
  const mismatch = await errorOf(testClient(reply).fx.latest({}, { schema }));

  expect(wrong).toMatchObject({ kind: 'response', message: expect.stringContaining('data.monthly_used') });
  expect(right).toEqual({ rates: EXACT.rates });
  expect(mismatch).toMatchObject({ kind: 'response' });
});

test('quota() returns text, and the client still counts with numbers, also for a poll', async () => {
  const { fx } = textClient(reply, { quota: success(quotaRecord()) });

  expect(await fx.quota()).toMatchObject({ monthly_used: '742', monthly_limit: '1000', plan: 'free' });
  expect(fx.quotaEstimate()).toMatchObject({ remaining: 258, quota: { monthly_used: 742 } });
  for await (const { data, next } of fx.poll().withMeta()) {
    expect([data, next.reason]).toEqual([EXACT, 'quota']);
    break;
  }
});

const refused = failure(418);

/** The stack line by line, without the header. */
function framesOf(error: unknown): string[] {
  return (error as Error).stack!.split('\n').slice(1);
}

async function callerOf(call: () => Promise<unknown>): Promise<void> {
  await call();
}

test.each<[string, Reply, (fx: FxRates) => Promise<unknown>]>([
  ['the data', refused, (fx) => fx.latest()],
  ['the data and the meta', refused, (fx) => fx.latest().withMeta()],
  ['the data of get()', refused, (fx) => fx.get('/api/v1/latest')],
  ['a rate limit', rateLimited('70'), (fx) => fx.latest({}, { onLimit: 'throw' })],
  ['no network', new Error('gone'), (fx) => fx.latest({}, { maxRetries: 0 })],
  ['a deadline', 'never', (fx) => fx.latest({}, { deadlineMs: 1000 })],
  ['a wrong argument', refused, (fx) => fx.latest({}, { timeoutMs: -1 })],
])('the stack of an error starts at the line that awaits the call: %s', async (_, reply, call) => {
  const { fx, clock } = testClient(reply);

  const error = await clock.run(errorOf(callerOf(() => call(fx))));

  expect(framesOf(error)[0]).toMatch(/^ {4}at (async )?callerOf .*api-call\.test\.ts:/);
  expect((error as Error).stack).toMatch(`${(error as Error).name}: ${(error as Error).message}\n`);
});

test('the error of a call that is not awaited keeps its own stack', async () => {
  const { fx } = testClient(refused);

  const error = await new Promise((resolve) => fx.latest().catch(resolve));

  expect((error as Error).stack).toContain('parse-response.ts');
});

test('each caller of a shared request receives its own error, with the same cause', async () => {
  const { fx, fetch } = testClient(rateLimited('70'));

  const call = () => fx.latest({}, { onLimit: 'throw' });
  const [first, second] = (await Promise.all([errorOf(callerOf(call)), errorOf(callerOf(call))])) as RateLimitError[];

  expect(fetch.requests).toHaveLength(1);
  expect(first).not.toBe(second);
  expect(second!.cause).toBe(first!.cause);
  const failed = testClient(new Error('gone'), { maxRetries: 0 }).fx;
  const [one, other] = (await Promise.all([errorOf(failed.latest()), errorOf(failed.latest())])) as Error[];
  expect(other).not.toBe(one);
  expect(other?.cause).toBe(one?.cause); // that of the system
  for (const error of [first!, second!]) expect(framesOf(error)[0]).toContain('callerOf');
  const { reason, retryAfterMs, status, attempts, message } = first!;
  expect(second).toBeInstanceOf(RateLimitError);
  expect(second).toMatchObject({ name: 'RateLimitError', reason, retryAfterMs, status, attempts, message });
  expect(Object.keys(second!)).toEqual(Object.keys(first!));
  expect(Object.prototype.toString.call(second)).toBe('[object Error]');
});

test.each<[string, unknown, (reason: unknown) => FxRatesOptions]>([
  ['an error of a key provider', new RangeError('no vault'), (reason) => ({ apiKey: () => Promise.reject(reason) })],
  ['a text of a key provider', 'no vault', (reason) => ({ apiKey: () => Promise.reject(reason) })],
  ['an error of a middleware', new RangeError('a bug'), (reason) => ({ middleware: [() => Promise.reject(reason)] })],
  ['a text of a middleware', 'a bug', (reason) => ({ middleware: [() => Promise.reject(reason)] })],
])('%s is passed on unchanged to each caller', async (_, reason, throwing) => {
  const { fx } = testClient(refused, throwing(reason));
  const { stack } = reason as { readonly stack?: string };

  const errors = await Promise.all([errorOf(callerOf(() => fx.latest())), errorOf(callerOf(() => fx.latest()))]);

  for (const error of errors) expect(error).toBe(reason);
  expect((reason as { readonly stack?: string }).stack).toBe(stack);
  expect(Object.keys(Object(reason))).not.toContain('callId');
  expect(RequestError.is(reason)).toBe(false);
});

test('without Error.captureStackTrace, an error keeps its own stack', async () => {
  const { captureStackTrace } = Error;
  Reflect.deleteProperty(Error, 'captureStackTrace');
  try {
    const { fx } = testClient(refused);

    const error = await errorOf(callerOf(() => fx.latest()));

    expect(error).toMatchObject({ kind: 'request', stack: expect.stringContaining('parse-response.ts') });
  } finally {
    Error.captureStackTrace = captureStackTrace;
  }
});
