import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { FxRates, type FxRatesOptions } from '../../src/client/index.ts';
import { createMockServer } from '../../src/mock-server/index.ts';
import { quiet } from '../helpers/fake-clock.ts';
import { success } from '../helpers/service-replies.ts';
import { BASE_URL, errorOf, listOf, testClient } from '../helpers/test-client.ts';

/** A realm as of jest or the vm pools of vitest: its `Error` is another one. */
const realm = createContext({ URL });
const inRealm = (code: string) => runInContext(`(${code})`, realm);
const throwing = (error: unknown) => {
  throw error;
};
const failed = (code: string) => inRealm(`Object.assign(new Error('failed'), { code: '${code}' })`);

test('an error of another realm has its code, and its message without a stack', async () => {
  const cause = `Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })`;
  const error = inRealm(`new TypeError('fetch failed', { cause: ${cause} })`);
  const { fx } = testClient(() => throwing(error), { maxRetries: 0 });

  const ending = await errorOf(fx.latest());

  expect(ending).toMatchObject({ kind: 'network', code: 'ECONNRESET' });
  expect((ending as Error).message).toMatch(/: ECONNRESET; the server or a proxy closed the connection$/);
});

test.each([
  ['an untrusted certificate', failed('SELF_SIGNED_CERT_IN_CHAIN')],
  [
    'an expired certificate, as the cause,',
    inRealm(`new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'CERT_HAS_EXPIRED' }) })`),
  ],
])('%s of another realm is not retried', async (_, error) => {
  const { fx, fetch, clock } = testClient(() => throwing(error));

  await clock.run(errorOf(fx.latest()));

  expect(fetch.requests).toHaveLength(1);
});

test('a damaged body whose error is of another realm is a ResponseError that is not retried', async () => {
  const next = async () =>
    throwing(inRealm(`Object.assign(new Error('incorrect header check'), { code: 'Z_DATA_ERROR' })`));
  const body = { [Symbol.asyncIterator]: () => ({ next }) };
  const fetch = async () => ({ status: 200, headers: new Map(), body }) as unknown as Response;
  const fx = new FxRates({ baseUrl: BASE_URL, apiKey: 'x', fetch, logger: { warn: () => undefined } });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({ kind: 'response', message: expect.stringContaining('incorrect header check') });
});

/** An `AbortSignal` of another implementation. */
function foreignController() {
  const listeners = new Set<() => void>();
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener: (_: string, listener: () => void) => void listeners.add(listener),
    removeEventListener: (_: string, listener: () => void) => void listeners.delete(listener),
  };
  const abort = (reason: unknown) => {
    Object.assign(signal, { aborted: true, reason });
    for (const listener of listeners) listener();
  };
  return { signal: signal as unknown as AbortSignal, abort };
}

test('calls, batches and polls end with an AbortSignal of another implementation', async () => {
  const { signal, abort } = foreignController();
  const { fx } = testClient('never');

  const endings = [
    errorOf(fx.latest({}, { signal })),
    errorOf(listOf(fx.batch([{ n: 1 }], { signal }))),
    errorOf(listOf(fx.poll({}, { signal, every: 60_000 }))),
  ];
  await quiet();
  abort(new Error('enough'));

  for (const ending of endings) expect(await ending).toMatchObject({ kind: 'aborted', cause: new Error('enough') });
});

test('takes a base URL and headers of another implementation', async () => {
  const { fx, fetch } = testClient(success());
  const headers = {
    get: () => null,
    append: () => undefined,
    *[Symbol.iterator]() {
      yield ['x-team', 'pricing'];
    },
  };

  await fx.latest({}, { headers: headers as never });
  const other = new FxRates({ baseUrl: inRealm(`new URL('${BASE_URL}')`), apiKey: 'x', fetch } as FxRatesOptions);

  expect(fetch.requests[0]?.headers).toMatchObject({ 'x-team': 'pricing' });
  expect(other).toBeInstanceOf(FxRates);
});

test('a middleware may return a response of another implementation', async () => {
  const body = ReadableStream.from([Buffer.from('{"success":true,"data":{"a":1}}')]);
  const foreign = { status: 200, headers: new Map([['x-a', 'b']]), body, bodyUsed: false };
  const { fx } = testClient(success(), { middleware: [async () => foreign as never] });

  await expect(fx.latest()).resolves.toEqual({ a: 1 });
});

test('the mock takes a signal and a date of another realm', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  const { signal, abort } = foreignController();

  await mock.clock.advanceTo(inRealm(`new Date(Date.now() + 1e9)`));
  abort(new Error('enough'));

  await expect(mock.fetch(mock.baseUrl, { signal })).rejects.toThrow('enough');
  await mock.close();
});
