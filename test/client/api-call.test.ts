import { afterEach, beforeEach, expect, test } from 'vitest';
import { createApiCall } from '../../src/client/api-call.ts';
import type { ResponseMeta } from '../../src/client/index.ts';
import { quiet } from '../helpers/fake-clock.ts';
import { success } from '../helpers/service-replies.ts';
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

test.each([
  ['an error', new RangeError('no network')],
  ['a text', 'no network'],
])('%s that a middleware throws is passed on unchanged to all callers of a shared request', async (_, reason) => {
  const middleware = () => Promise.reject(reason);
  const { fx } = testClient(success(), { middleware: [middleware] });

  const errors = await Promise.all([errorOf(fx.latest()), errorOf(fx.latest())]);
  await quiet();

  for (const error of errors) expect(error).toBe(reason);
  expect(unhandled).toEqual([]);
});
