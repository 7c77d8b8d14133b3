import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { checkPayload, createApiCall } from '../../src/client/api-call.ts';
import type { ResponseMeta, StandardSchema } from '../../src/client/index.ts';
import { quiet } from '../helpers/fake-clock.ts';
import { API_KEY, success } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
let others: NodeJS.UnhandledRejectionListener[] = [];

/** Instead of vitest's own listener, which would fail the run. */
beforeEach(() => {
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  unhandled.length = 0;
});

afterEach(() => {
  process.off('unhandledRejection', note);
  for (const other of others) process.on('unhandledRejection', other);
});

const meta = { status: 200 } as ResponseMeta;

test('is a promise of the data, and has the meta of the same response', async () => {
  const call = createApiCall(Promise.resolve({ data: { EUR: 0.92 }, meta: () => meta }));

  await expect(call).resolves.toEqual({ EUR: 0.92 });
  await expect(call.withMeta()).resolves.toEqual({ data: { EUR: 0.92 }, meta });
  expect(await call).toBe((await call.withMeta()).data);
});

test('a failure handled through withMeta is handled', async () => {
  const call = createApiCall(Promise.reject(new Error('no')));

  await expect(call.withMeta()).rejects.toThrow('no');
  await quiet();

  expect(unhandled).toEqual([]);
});

test('a failure handled through the call is handled', async () => {
  await expect(createApiCall(Promise.reject(new Error('no')))).rejects.toThrow('no');
  await quiet();

  expect(unhandled).toEqual([]);
});

test('an unhandled failure is reported once', async () => {
  void createApiCall(Promise.reject(new Error('ignored')));
  await quiet();

  expect(unhandled).toEqual([new Error('ignored')]);
});

test('an unhandled failure is reported once, also with withMeta()', async () => {
  void createApiCall(Promise.reject(new Error('ignored'))).withMeta();
  await quiet();

  expect(unhandled).toEqual([new Error('ignored')]);
});

const context = { endpoint: 'latest', details: () => ({ status: 200 }) };

/** A schema of no library. */
function schema(validate: (value: unknown) => unknown): StandardSchema {
  return { '~standard': { version: 1, vendor: 'test', validate: validate as never } };
}

test('returns the output of the schema', async () => {
  const rates = z.object({ rates: z.record(z.string(), z.string().transform(Number)) });

  await expect(checkPayload(rates, { rates: { EUR: '0.92' }, more: 1 }, context)).resolves.toEqual({
    rates: { EUR: 0.92 },
  });
});

test('waits for an asynchronous schema', async () => {
  const slow = schema(async (value) => ({ value: [value] }));

  await expect(checkPayload(slow, 1, context)).resolves.toEqual([1]);
});

test('accepts the value if the list of issues is undefined, as the specification says', async () => {
  await expect(
    checkPayload(
      schema((value) => ({ value, issues: undefined })),
      1,
      context,
    ),
  ).resolves.toBe(1);
});

test('names the endpoint and the path of the first issue, and has all issues', async () => {
  const error = await errorOf(
    checkPayload(z.object({ base: z.string(), rates: z.object({ EUR: z.number() }) }), { rates: {} }, context),
  );

  expect(error).toMatchObject({
    kind: 'response',
    status: 200,
    issues: [{ path: ['base'] }, { path: ['rates', 'EUR'] }],
  });
  expect(String(error)).toContain('The data of latest does not match the schema: base: ');
});

test('the error of a call names its operation or path, without the key, and its status', async () => {
  const { fx } = testClient({ ...success(), status: 203 });
  const wrong = schema(() => ({ issues: [{ message: 'is odd' }] }));

  expect(await errorOf(fx.latest({}, { schema: wrong }))).toMatchObject({
    message: 'The data of latest does not match the schema: is odd',
    status: 203,
  });
  const error = await errorOf(fx.get(`/of/${API_KEY}`, { schema: wrong }));
  expect(error).toMatchObject({ kind: 'response', message: expect.stringContaining('The data of /of/') });
  expect(String(error)).not.toContain(API_KEY);
});

test('reads paths whose parts are objects with a key', async () => {
  const issues = [{ message: 'is odd', path: [{ key: 'rates' }, 'EUR', { key: 0 }] }];

  await expect(
    checkPayload(
      schema(() => ({ issues })),
      {},
      context,
    ),
  ).rejects.toThrow('rates.EUR.0: is odd');
});

test.each([
  ['without a path', { message: 'is odd' }],
  ['with an empty path', { message: 'is odd', path: [] }],
])('the text of an issue %s has no path', async (_, issue) => {
  await expect(
    checkPayload(
      schema(() => ({ issues: [issue] })),
      {},
      context,
    ),
  ).rejects.toMatchObject({ message: 'The data of latest does not match the schema: is odd' });
});

test.each([[[]], [[{ message: 'is odd' }]]])('the issues %j reject the call', async (issues) => {
  await expect(
    checkPayload(
      schema(() => ({ issues })),
      {},
      context,
    ),
  ).rejects.toMatchObject({ kind: 'response', issues });
});

test('an error that a schema throws is passed on unchanged', async () => {
  const broken = schema(() => {
    throw new RangeError('bug in the schema');
  });

  await expect(checkPayload(broken, {}, context)).rejects.toThrow(RangeError);
});

test('the error of a schema has the response and the call', async () => {
  const callIds: string[] = [];
  const body = `{"success":true,"data":{"a":"${API_KEY}"}}`;
  const { fx } = testClient(
    { body, headers: { 'x-request-id': 'r1' } },
    { onRequest: ({ callId }) => callIds.push(callId) },
  );

  const error = await errorOf(fx.latest({}, { schema: z.object({ b: z.number() }) }));

  expect(error).toMatchObject({ kind: 'response', status: 200, requestId: 'r1', callId: callIds[0] });
  expect(error).toMatchObject({
    attempts: [{ status: 200, reason: 'first' }],
    bodyExcerpt: '{"success":true,"data":{"a":"fx_live_…cdef"}}',
  });
});
