import { expect, test, vi } from 'vitest';
import type { ConfigError, FxRatesOptions, RateLimitError } from '../../../src/client/index.ts';
import { KeySource } from '../../../src/client/key/api-key.ts';
import { KeyStates } from '../../../src/client/state/key-state.ts';
import { deferred } from '../../helpers/deferred.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import type { Reply, SentRequest } from '../../helpers/fake-fetch.ts';
import { failure, rateLimited, success } from '../../helpers/service-replies.ts';
import { differentCalls, errorOf, testClient } from '../../helpers/test-client.ts';

const OLD = `fx_live_${'0'.repeat(48)}`;
const NEW = `fx_live_${'1'.repeat(48)}`;

const isNew = ({ headers }: SentRequest) => headers['authorization'] === `Bearer ${NEW}`;

/** A service that knows the new key alone. */
function accepting(otherwise: (request: SentRequest) => Reply | Promise<Reply> = () => failure(401)): Reply {
  return (request) => (isNew(request) ? success({ EUR: 1 }) : otherwise(request));
}

/** A provider that returns `secrets` in order, and counts its calls. */
function provider(...secrets: string[]) {
  const asked: string[] = [];
  const apiKey = async () => {
    const secret = secrets.length > 1 ? secrets.shift()! : secrets[0]!;
    asked.push(secret);
    return secret;
  };
  return { apiKey, asked };
}

test('encodes a key with characters that have a meaning in URLs', async () => {
  const secret = 'a+b/c=d&e%f#g?h0123456789';
  const { fx, fetch } = testClient(success(), { apiKey: secret, auth: 'query' });

  await fx.latest();

  expect(new URL(fetch.requests[0]!.url).searchParams.get('api_key')).toBe(secret);
});

test('a quota() of the client uses no key that its call does not use', async () => {
  const { apiKey } = provider(OLD, NEW);
  const { fx, fetch } = testClient(accepting(), { apiKey, quotaGuard: { reserve: 1 } });

  await fx.latest();

  const sent = fetch.requests.map((request) => [isNew(request) ? 'new' : 'old', request.url.split('/').at(-1)]);
  expect(sent.slice(0, 2)).toEqual([
    ['old', 'quota'],
    ['old', 'latest'],
  ]);
  expect(sent.slice(2).every(([key]) => key === 'new')).toBe(true);
});

test.each([
  ['a revoked key', failure(401), 401],
  ['a Retry-After longer than the client waits', rateLimited('86400'), 429],
  ['an exhausted quota', failure(403, { code: 'quota_exceeded' }), 403],
])('after %s, the provider is called again and the call sent with its new key', async (_, refusal, refused) => {
  const { apiKey, asked } = provider(OLD, NEW);
  const { fx } = testClient(
    accepting(() => refusal),
    { apiKey },
  );

  const { data, meta } = await fx.latest().withMeta();

  expect(data).toEqual({ EUR: 1 });
  expect(meta.attempts.map(({ status, reason }) => [status, reason])).toEqual([
    [refused, 'first'],
    [200, 'key_rotated'],
  ]);
  expect(asked).toEqual([OLD, NEW]);
});

test.each<[string, Reply]>([
  ['a wrong query', failure(400)],
  ['a path that does not exist', failure(404)],
  ['a failure of the service', failure(500)],
  ['a limit for which the call does not wait', rateLimited('30')],
  ['a lost connection', new Error('lost')],
])('an error that is not about the key does not call the provider again: %s', async (_, reply) => {
  const { apiKey, asked } = provider(OLD, NEW);
  const { fx, fetch } = testClient(reply, { apiKey, maxRetries: 0, onLimit: 'throw' });

  await errorOf(fx.latest());

  expect(asked).toEqual([OLD]);
  expect(fetch.requests).toHaveLength(1);
});

test('a hundred calls call the provider once, and once more if they are refused together', async () => {
  const { apiKey, asked } = provider(OLD, NEW);
  const { fx, clock } = testClient(accepting(), { apiKey, rateLimit: { perMinute: 1000, maxConcurrent: 200 } });
  expect(asked).toEqual([]);

  await clock.run(Promise.all(differentCalls(fx, 100)));

  expect(asked).toEqual([OLD, NEW]);
});

test.each<[string, Pick<FxRatesOptions, 'apiKey'> & { asked: readonly string[] }, readonly string[], number]>([
  ['once, if the new key is refused too', provider(OLD, NEW, OLD, NEW), [OLD, NEW], 2],
  ['not at all, if the provider returns the same key', provider(OLD), [OLD, OLD], 1],
  ['not at all with a fixed key', { apiKey: OLD, asked: [] }, [], 1],
])('a refused call is sent again %s', async (_, { apiKey, asked }, keys, requests) => {
  const { fx, fetch } = testClient(failure(401), { apiKey });

  await expect(fx.latest()).rejects.toMatchObject({
    kind: 'authentication',
    status: 401,
    message: expect.stringMatching(/^The service refused the key fx_live_…(?:0000|1111)/),
  });

  expect(asked).toEqual(keys);
  expect(fetch.requests).toHaveLength(requests);
});

test('the limit of the old key does not delay calls with the new key', async () => {
  const { apiKey } = provider(OLD, NEW);
  const { fx, clock } = testClient(
    accepting(({ url }) => (url.endsWith('first') ? rateLimited('60') : failure(401))),
    { apiKey },
  );
  const startedAt = clock.now();
  const limited = errorOf(fx.latest({ call: 'first' }, { onLimit: 'throw' }));
  expect(await limited).toMatchObject({ kind: 'rate_limited' });

  const rotated = await errorOf(fx.latest({ call: 'second' }, { onLimit: 'throw' }));
  expect(rotated).toMatchObject({ kind: 'rate_limited', reason: 'policy' });
  await clock.advance(60_000);
  await fx.latest({ call: 'third' });
  await fx.latest({ call: 'fourth' });

  expect(clock.now() - startedAt).toBe(60_000);
});

test('calls that wait with a key that its source has replaced are sent with the new one', async () => {
  const [keys, states] = [vi.spyOn(KeySource.prototype, 'known'), vi.spyOn(KeyStates.prototype, 'of')];
  const { apiKey, asked } = provider(OLD, NEW);
  const refusal = deferred<Reply>();
  const { fx, clock, fetch } = testClient(
    accepting(({ url }) => (url.endsWith('revoked') ? refusal.promise : rateLimited('60'))),
    { apiKey },
  );
  const startedAt = clock.now();
  const revoked = fx.latest({ call: 'revoked' });
  await errorOf(fx.latest({ call: 'limited' }, { onLimit: 'throw' }));
  const waiting = Array.from({ length: 5 }, (_, n) => fx.latest({ n }).withMeta());
  const other = errorOf(fx.withOptions({ apiKey: OLD }).latest({ call: 'other' }, { deadlineMs: 90_000 }));
  await quiet();

  refusal.resolve(failure(401));
  const results = await clock.run(Promise.all([...waiting, revoked.withMeta()]));

  expect(clock.now()).toBe(startedAt);
  expect(results.map(({ meta }) => meta.attempts.map(({ status, reason }) => `${reason} ${status}`))).toEqual([
    ...waiting.map(() => ['first 200']),
    ['first 401', 'key_rotated 200'],
  ]);
  expect(asked).toEqual([OLD, NEW]);
  expect(fetch.requests).toHaveLength(8);
  await clock.run(other); // its source has replaced nothing, so it waited on
  expect(fetch.requests.length).toBeGreaterThan(8);
  // Nothing of a wait is left.
  for (const { waits } of keys.mock.contexts as KeySource[]) expect(waits.size).toBe(0);
  for (const { value } of states.mock.results) expect(value.waits.size).toBe(0);
});

test.each([
  ['the key that has replaced its own', NEW, 'key_rotated'],
  ['its own, if the source returns that again', OLD, 'retry'],
])('a call in a backoff waits for its end, and is then sent with %s', async (_, second, how) => {
  const { apiKey } = provider(OLD, second);
  const { fx, clock } = testClient(
    accepting(({ url }) => {
      if (url.endsWith('revoked')) return failure(401);
      return clock.now() > startedAt ? success({ EUR: 1 }) : failure(503, { headers: { 'retry-after': '30' } });
    }),
    { apiKey, rateLimit: false },
  );
  const startedAt = clock.now();
  const failed = fx.latest({ call: 'failed' }).withMeta();
  await quiet();
  await fx.latest({ call: 'revoked' }).catch(() => undefined);

  const { meta } = await clock.run(failed);

  expect(meta.attempts.map(({ status, reason }) => [status, reason])).toEqual([
    [503, 'first'],
    [200, how],
  ]);
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(30_000);
});

test('the error of a call with its new key does not have the refusal of the old one', async () => {
  const { apiKey } = provider(OLD, NEW);
  const { fx } = testClient((request) => rateLimited(isNew(request) ? '60' : '86400'), { apiKey });
  await errorOf(fx.withOptions({ apiKey: NEW }).latest({ call: 'first' }, { onLimit: 'throw' }));

  const error = (await errorOf(fx.latest({ call: 'second' }, { deadlineMs: 5_000 }))) as RateLimitError;

  expect(error).toMatchObject({ reason: 'deadline', attempts: [{ status: 429 }], retryAfterMs: 60_000 });
  expect([error.status, error.cause]).toEqual([undefined, undefined]);
});

test('a provider that hangs once neither blocks later calls nor replaces a newer key', async () => {
  const late = deferred<string>();
  const asked: string[] = [];
  const apiKey = () => {
    asked.push('asked');
    return asked.length === 1 ? late.promise : NEW;
  };
  const { fx, clock } = testClient(accepting(), { apiKey });

  expect(await clock.run(errorOf(fx.latest({}, { deadlineMs: 1000 })))).toMatchObject({ kind: 'timeout' });
  await expect(clock.run(fx.latest({}, { deadlineMs: 1000 }))).resolves.toEqual({ EUR: 1 });
  late.resolve(OLD);
  await quiet();

  await expect(fx.latest()).resolves.toEqual({ EUR: 1 });
  expect(asked).toHaveLength(2);
});

test('a call refused after a rotation is sent with the new key that the provider gave', async () => {
  const { apiKey, asked } = provider(OLD, NEW, OLD);
  const refusal = deferred<Reply>();
  const { fx } = testClient(
    accepting(({ url }) => (url.endsWith('late') ? refusal.promise : failure(401))),
    { apiKey },
  );
  const late = fx.latest({ call: 'late' });
  await fx.latest({ call: 'first' });

  refusal.resolve(failure(401));

  await expect(late).resolves.toEqual({ EUR: 1 });
  expect(asked).toEqual([OLD, NEW]);
});

test('an error of the provider rejects the call unchanged, and only that call', async () => {
  const sealed = new Error('vault is sealed');
  let isSealed = true;
  const { fx } = testClient(accepting(), {
    apiKey: () => {
      if (isSealed) throw sealed;
      return NEW;
    },
  });

  await expect(fx.latest()).rejects.toBe(sealed);
  isSealed = false;

  await expect(fx.latest()).resolves.toEqual({ EUR: 1 });
});

test('a provider that hangs ends the call after timeoutMs, and the next call calls it again', async () => {
  let hangs = true;
  const { fx, fetch, clock } = testClient(accepting(), {
    apiKey: () => (hangs ? new Promise<string>(() => undefined) : NEW),
    timeoutMs: 4_000,
  });
  const startedAt = clock.now();

  const error = await clock.run(errorOf(fx.latest()));
  hangs = false;

  expect(error).toMatchObject({ kind: 'timeout', scope: 'attempt', limitMs: 4_000, attempts: [] });
  expect(String(error)).toContain('apiKey: the function did not return a key within 4000 ms (timeoutMs)');
  expect(clock.now() - startedAt).toBe(4_000);
  expect(fetch.requests).toEqual([]);
  await expect(fx.latest()).resolves.toEqual({ EUR: 1 });
});

test.each([
  ['empty', '', 'apiKey: the key from the function is empty; check where the function reads it'],
  ['unusable', `${OLD}\n`, 'white space'],
])('an %s key of the provider rejects each call with a ConfigError before it is sent', async (_, given, words) => {
  const { fx, fetch } = testClient(success(), { apiKey: async () => given });

  const errors = (await Promise.all(differentCalls(fx, 3).map((call) => errorOf(call)))) as ConfigError[];

  const ids = errors.map(({ callId }) => callId);
  expect(new Set(ids).size).toBe(3);
  expect(ids).not.toContain(undefined);
  const message = expect.stringContaining(words);
  expect(errors).toMatchObject(Array(3).fill({ kind: 'config', name: 'ConfigError', message }));
  expect(fetch.requests).toEqual([]);
});

test('an FxRatesError of the provider is passed on unchanged', async () => {
  const other = testClient(failure(404));
  const thrown: unknown[] = [];
  const apiKey = async () => {
    thrown.push(await errorOf(other.fx.get('/key')));
    throw thrown[0];
  };
  const { fx } = testClient(success(), { apiKey });

  expect(await errorOf(fx.latest())).toBe(thrown[0]);
});
