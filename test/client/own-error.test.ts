import { expect, test } from 'vitest';
import { type FxRatesOptions, RateLimitError, RequestError } from '../../src/client/index.ts';
import { failure, rateLimited } from '../helpers/service-replies.ts';
import { errorOf, testClient } from '../helpers/test-client.ts';

const refused = failure(418);

/** The stack line by line, without the header. */
function framesOf(error: unknown): string[] {
  return (error as Error).stack!.split('\n').slice(1);
}

async function callerOf(call: () => Promise<unknown>): Promise<void> {
  await call();
}

test.each([
  ['the data', refused, {}],
  ['a rate limit', rateLimited('70'), { onLimit: 'throw' }],
  ['no network', new Error('gone'), { maxRetries: 0 }],
  ['a wrong argument', refused, { timeoutMs: -1 }],
] as const)('the stack of an error starts at the line that awaits the call: %s', async (_, reply, options) => {
  const { fx } = testClient(reply);

  const error = await errorOf(callerOf(() => fx.latest({}, options)));

  expect(framesOf(error)[0]).toMatch(/^ {4}at (async )?callerOf .*own-error\.test\.ts:/);
  expect((error as Error).stack).toMatch(`${(error as Error).name}: ${(error as Error).message}\n`);
});

test('the stack of an error starts at the line that awaits withMeta() or get()', async () => {
  const { fx } = testClient(refused);

  const errors = [
    await errorOf(callerOf(() => fx.latest().withMeta())),
    await errorOf(callerOf(() => fx.get('/api/v1/latest'))),
  ];

  for (const error of errors) expect(framesOf(error)[0]).toContain('callerOf');
});

test('the stack of an error starts at the line that awaits the call, also after a deadline', async () => {
  const { fx, clock } = testClient('never');

  const failed = errorOf(callerOf(() => fx.latest({}, { deadlineMs: 1000 })));
  await clock.advance(1000);

  expect(framesOf(await failed)[0]).toContain('callerOf');
});

test('the error of a call that is not awaited keeps its own stack', async () => {
  const { fx } = testClient(refused);

  const error = await new Promise((resolve) => fx.latest().catch(resolve));

  expect((error as Error).stack).toContain('parse-response.ts');
});

test('each caller of a shared request receives its own error, and the later ones that of the first as the cause', async () => {
  const { fx, fetch } = testClient(rateLimited('70'));

  const call = () => fx.latest({}, { onLimit: 'throw' });
  const [first, second] = (await Promise.all([errorOf(callerOf(call)), errorOf(callerOf(call))])) as RateLimitError[];

  expect(fetch.requests).toHaveLength(1);
  expect(first).not.toBe(second);
  expect(second!.cause).toBe(first);
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
