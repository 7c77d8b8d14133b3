import { inspect } from 'node:util';
import { errors as undiciErrors } from 'undici';
import { expect, test, vi } from 'vitest';
import {
  AbortError,
  AuthenticationError,
  type CallOptions,
  ConfigError,
  FxRates,
  FxRatesError,
  type FxRatesOptions,
  NetworkError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  ResponseError,
  ServerError,
  TimeoutError,
} from '../../../src/client/index.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import {
  API_KEY,
  exhaustedQuota,
  failedFetch,
  failure,
  quotaRecord,
  rateLimited,
  success,
} from '../../helpers/service-replies.ts';
import { BASE_URL, errorOf, testClient } from '../../helpers/test-client.ts';

const errors: [FxRatesError, string, string][] = [
  [new ConfigError('x'), 'ConfigError', 'config'],
  [new AuthenticationError('x'), 'AuthenticationError', 'authentication'],
  [new RateLimitError('x', { reason: 'policy' }), 'RateLimitError', 'rate_limited'],
  [new QuotaExhaustedError('x'), 'QuotaExhaustedError', 'quota_exhausted'],
  [new RequestError('x'), 'RequestError', 'request'],
  [new ServerError('x'), 'ServerError', 'server'],
  [new NetworkError('x'), 'NetworkError', 'network'],
  [new TimeoutError({ scope: 'attempt', limitMs: 5 }), 'TimeoutError', 'timeout'],
  [new AbortError(), 'AbortError', 'aborted'],
  [new ResponseError('x'), 'ResponseError', 'response'],
];

test.each(errors)('%s has a name, a kind and a brand', (error, name, kind) => {
  expect(error).toBeInstanceOf(Error);
  expect(error).toBeInstanceOf(FxRatesError);
  expect(error).toMatchObject({ name, kind, attempts: [] });
  expect(String(error)).toMatch(new RegExp(`^${name}: `));
  expect(FxRatesError.is(error)).toBe(true);
  expect(Object.keys(error)).not.toContain('cause');
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name, kind, message: error.message });
});

test.each([
  [new Error('x'), false],
  [{ kind: 'network', name: 'NetworkError' }, false],
  [undefined, false],
  [null, false],
  ['NetworkError', false],
  [Symbol.for('fxrates.error'), false],
  [Object.assign(new Error('of another copy'), { [Symbol.for('fxrates.error')]: true }), true],
])('%o is an error of the client: %j', (value, expected) => {
  expect(FxRatesError.is(value)).toBe(expected);
});

test('absent fields are not printed but can be read', () => {
  const error = new ConfigError('baseUrl: none given');
  const printed = inspect(error);

  expect(printed).toContain("kind: 'config'");
  expect(printed).not.toMatch(/undefined|headers|attempts/);
  expect(error).toMatchObject({ code: undefined, status: undefined, headers: undefined, attempts: [] });
  expect(inspect(new RateLimitError('x', { reason: 'policy', status: 429 }))).toMatch(
    /status: 429,.*reason: 'policy'/s,
  );
  expect(inspect(new RateLimitError('x', { reason: 'policy' }))).not.toContain('retryA');
  expect(inspect(new QuotaExhaustedError('x'))).not.toContain('resetsAt');
  expect(inspect(new ResponseError('x'))).not.toContain('issues');
  expect(inspect(new NetworkError('x', { attempts: [] }))).toContain('attempts: []');
});

test('the JSON of a RateLimitError has retryAt and reason', () => {
  const retryAt = new Date('2026-01-15T00:00:07.000Z');
  const limited = new RateLimitError('x', { reason: 'deadline', retryAfterMs: 7000, retryAt });
  const exhausted = new QuotaExhaustedError('x', { local: true, quota: quotaRecord() });

  const fields = { reason: 'deadline', retryAfterMs: 7000, retryAt: '2026-01-15T00:00:07.000Z' };
  expect(JSON.parse(JSON.stringify(limited))).toMatchObject(fields);
  expect(JSON.parse(JSON.stringify(exhausted))).toMatchObject({ local: true, resetsAt: '2026-02-01T00:00:00.000Z' });
});

async function failureWith(thrown: Error, options: FxRatesOptions = {}): Promise<NetworkError> {
  const { fx } = testClient(thrown, { maxRetries: 0, ...options });
  return (await errorOf(fx.latest())) as NetworkError;
}

function nested(depth: number, innermost: object): object {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = { inner: value };
  return value;
}

/** The failures of Deno 2.9, of an earlier one without `cause`, and of Bun 1.4. */
const onDeno = (words: string) =>
  new TypeError('fetch failed', { cause: new Error(`error sending request for url (https://fx.test/): ${words}`) });
const refusedByDeno = (words: string) => onDeno(`client error (Connect): invalid peer certificate: ${words}`);
const onBun = (code: string) =>
  Object.assign(new TypeError(`${code} fetching "https://fx.test/". For more information, pass …`), { code });

test.each<[string, Error, string, string]>([
  ['Deno', refusedByDeno('UnknownIssuer'), 'CERT_UNTRUSTED', 'NODE_EXTRA_CA_CERTS=/path/to/ca.pem'],
  ['Deno', new TypeError('invalid peer certificate: UnknownIssuer'), 'CERT_UNTRUSTED', 'NODE_EXTRA_CA_CERTS'],
  ['Deno', refusedByDeno('certificate expired: verification time 17 (UNIX), but'), 'CERT_HAS_EXPIRED', 'dates'],
  ['Deno', refusedByDeno('Expired'), 'CERT_HAS_EXPIRED', 'dates'],
  ['Deno', refusedByDeno('certificate not valid yet: verification time 17'), 'CERT_NOT_YET_VALID', 'dates'],
  ['Deno', refusedByDeno('NotValidYet'), 'CERT_NOT_YET_VALID', 'dates'],
  ['Deno', refusedByDeno('certificate not valid for name "fx.test"; certificate is'), 'HOSTNAME_MISMATCH', 'baseUrl'],
  ['Deno', refusedByDeno('NotValidForName'), 'HOSTNAME_MISMATCH', 'baseUrl'],
  ['Deno', refusedByDeno('Other(OtherError(CaUsedAsEndEntity))'), 'INVALID_PURPOSE', 'not valid for servers'],
  ['Deno', onDeno('client error (SendRequest): invalid HTTP version parsed'), 'HPE_INVALID_CONSTANT', 'HTTP/1.1'],
  ['Deno', onDeno('client error (SendRequest): invalid HTTP status-code parsed'), 'HPE_INVALID_CONSTANT', 'HTTP/1.1'],
  ['Deno', onDeno('client error (SendRequest): invalid content-length parsed'), 'HPE_INVALID_CONSTANT', 'HTTP/1.1'],
  ['Deno', onDeno('client error (SendRequest): message head is too large'), 'HPE_HEADER_OVERFLOW', 'too large'],
  ['Deno', new Error('Requires net access to "fx.test:443", run again'), 'ERR_ACCESS_DENIED', '--allow-net'],
  ['Node.js', Object.assign(new Error('denied'), { code: 'ERR_ACCESS_DENIED' }), 'ERR_ACCESS_DENIED', '--allow-net'],
  ['undici', new undiciErrors.ClientClosedError(), 'UND_ERR_CLOSED', 'pass one that is open'],
  ['undici', new undiciErrors.ClientDestroyedError(), 'UND_ERR_DESTROYED', 'pass one that is open'],
  ['Bun', onBun('Malformed_HTTP_Response'), 'HPE_INVALID_CONSTANT', 'HTTP/1.1'],
  ['Bun', onBun('InvalidContentLength'), 'HPE_INVALID_CONSTANT', 'HTTP/1.1'],
  ['Bun', onBun('ResponseHeadersTooLarge'), 'HPE_HEADER_OVERFLOW', 'too large'],
])('a failure of %s (%s) has the code of Node.js and is not retried', async (_, thrown, code, says) => {
  const { fx, clock } = testClient(thrown, { maxRetries: 2 });

  const error = (await clock.run(errorOf(fx.latest()))) as NetworkError;

  expect(error).toMatchObject({ kind: 'network', code, attempts: [{ code }], message: expect.stringContaining(says) });
  expect(error.isCertificateFailure).toBe(says.match(/CERTS|dates|baseUrl|servers/) !== null);
});

const misfit = new undiciErrors.InvalidArgumentError('invalid onError method');

const dispatch = () => {
  throw misfit;
};

test.each<[string, Partial<FxRatesOptions>]>([
  ['of the client', { dispatcher: { dispatch } }],
  ['of a fetch', { fetch: () => Promise.reject(new TypeError('fetch failed', { cause: misfit })) }],
])('a dispatcher of another version of undici than that %s is a wrong option', async (_, sentBy) => {
  const onRequest = vi.fn();
  const fx = new FxRates({ baseUrl: BASE_URL, apiKey: API_KEY, ...sentBy, onRequest });

  expect(await errorOf(fx.latest())).toMatchObject({
    kind: 'config',
    message:
      'dispatcher: cannot send the request (invalid onError method); pass one of undici 6, 7 or 8, and to a fetch one of the same version of undici as the fetch',
  });
  expect(onRequest).toHaveBeenCalledOnce(); // no retry
});

test.each([
  ['client error (Connect): tcp connect error: Connection refused (os error 111)', 'ECONNREFUSED'],
  ['client error (Connect): dns error: failed to lookup address information: Name or service not known', 'ENOTFOUND'],
  ['client error (SendRequest): connection closed before message completed', 'ECONNRESET'],
  ['client error (Connect): received corrupt message of type InvalidContentType', 'EPROTO'],
])('Deno says "%s", which is %s, and is retried', async (words, code) => {
  const { fx, clock } = testClient(onDeno(words), { maxRetries: 2 });

  const error = await clock.run(errorOf(fx.latest()));

  expect(error).toMatchObject({ code, attempts: [{ code }, { code }, { code }] });
});

test.each<[string, object, boolean?]>([
  ['none, so it is the error of the transport', { socket: { remotePort: 443 }, list: [1, null] }, false],
  ['a hundred levels deep', nested(100, { key: API_KEY })],
  ['as a name', { [API_KEY]: true }],
  ['in base64', { headers: [`Basic ${Buffer.from(`:${API_KEY}`).toString('base64')}`] }],
  ['behind many values', { list: Array.from({ length: 999 }, () => ({})), key: API_KEY }],
  ['in a request', { request: new Request('https://fx.test', { headers: { authorization: API_KEY } }) }],
  ['in a map', { map: new Map([['key', API_KEY]]) }],
  [
    'behind a getter',
    {
      get options() {
        return { headers: { authorization: API_KEY } };
      },
    },
  ],
  // Not searched, so it may contain the key.
  [
    'possibly among many values',
    { list: Array.from({ length: 900 }, () => Array.from({ length: 900 }, () => ({ a: 1 }))) },
  ],
  ['possibly among many properties', Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`p${index}`, 0]))],
  ['possibly in a long list', Array(5_001).fill(0)],
  ['possibly in a list of millions', Array(5_000_000).fill(0)],
  ['possibly in bytes', Buffer.alloc(5_000_000)],
  ['possibly in a revoked proxy', revoked()],
])('the cause of an error shows no key that the transport put into it: %s', async (_, extra, isCopy = true) => {
  const thrown = Object.assign(new Error('gone'), { extra });

  const { cause } = await failureWith(thrown);

  expect(cause !== thrown).toBe(isCopy);
  expect(cause).toMatchObject({ message: 'gone' });
  expect('extra' in (cause as object)).toBe(!isCopy);
});

test('a thrown value that is no error does not show a part of a key at the end of a long text', async () => {
  const thrown = { text: `${'x'.repeat(9_960)}${API_KEY}` };
  const { fx } = testClient(success(), { maxRetries: 0, fetch: () => Promise.reject(thrown) });

  expect(inspect(await errorOf(fx.latest()), { depth: 5, maxStringLength: null })).not.toContain(API_KEY.slice(0, 20));
});

function fail(): never {
  throw new Error('reading the value throws');
}

function errorWith(property: string): Error {
  return Object.defineProperty(new Error('odd'), property, { get: fail });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Values that a function of the program can throw, and that cannot be read like an error. */
const ODD_VALUES: Readonly<Record<string, () => unknown>> = {
  'an object without a prototype': () => Object.create(null),
  'a throwing toString': () => ({ toString: fail }),
  'a throwing inspect': () => ({ [Symbol.for('nodejs.util.inspect.custom')]: fail }),
  'a throwing then': () => Object.defineProperty({}, 'then', { get: fail }),
  ...Object.fromEntries(
    ['name', 'message', 'stack', 'code', 'cause', 'digest'].map((name) => [
      `an error with ${name}`,
      () => errorWith(name),
    ]),
  ),
  'an error caused by a Proxy': () => new Error('odd', { cause: revoked() }),
  'a Proxy': () => new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail }),
  'a revoked Proxy': revoked,
  'a symbol': () => Symbol('odd'),
  undefined: () => undefined,
};

/** Functions of the program whose failure is a failure of the request. */
const TRANSPORTS: Readonly<Record<string, (thrown: () => unknown) => FxRatesOptions>> = {
  'fetch rejects': (thrown) => ({ fetch: () => Promise.reject(thrown()) }),
  'fetch resolves': (thrown) => ({ fetch: async () => thrown() as Response }),
  'a body fails': (thrown) => ({
    fetch: async () => new Response(new ReadableStream({ pull: (stream) => stream.error(thrown()) })),
  }),
};

const ODD = Object.keys(ODD_VALUES);
const pairs = (places: object) => Object.keys(places).flatMap((place) => ODD.map((name) => [place, name] as const));

test.each(pairs(TRANSPORTS))('%s with %s: the call rejects with an FxRatesError', async (place, name) => {
  const options = TRANSPORTS[place]?.(ODD_VALUES[name] ?? fail);
  const { fx } = testClient(success(), { ...options, maxRetries: 0, clock: new FakeClock() });

  expect(FxRatesError.is(await errorOf(fx.latest()))).toBe(true);
});

/** Functions whose failure the client reports, and without which it continues. */
const OBSERVERS: Readonly<Record<string, (thrown: () => never) => FxRatesOptions>> = {
  'a hook': (thrown) => ({ onRequest: thrown }),
  'an async hook': (thrown) => ({ onRequest: async () => thrown() }),
  'a logger': (thrown) => ({ logLevel: 'debug', logger: { warn: thrown, info: thrown, debug: thrown } }),
  'a cache': (thrown) => ({ cache: { maxAgeMs: 1000, store: { get: thrown, set: thrown } } }),
};

test.each(pairs(OBSERVERS))('%s that throws %s is reported, and the call is served', async (place, name) => {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const options = OBSERVERS[place]?.(() => {
    throw ODD_VALUES[name]?.();
  });
  const { fx } = testClient(success(), { logger: undefined, ...options });

  expect(await fx.latest()).toBeDefined();
  await new Promise(setImmediate); // an async hook rejects after the call

  expect(warnings).toHaveBeenCalled();
});

test.each<[string, Reply, CallOptions, string, string | undefined]>([
  ['a 429', rateLimited('30'), { onLimit: 'throw' }, 'The per-minute limit of key fx_live_…cdef is reached', 'onLimit'],
  ['a failed connection', failedFetch('ECONNREFUSED'), { maxRetries: 0 }, 'port', 'check baseUrl, or start the server'],
  ['a 503', failure(503, { headers: { 'retry-after': '700' } }), {}, '(HTTP 503, ', 'Retry-After 700'],
  ['a 404', failure(404), {}, 'HTTP 404', 'check baseUrl'],
  ['a 422', failure(422), {}, 'HTTP 422', undefined],
])('the message of %s is its summary, then its advice', async (_, reply, options, summary, advice) => {
  const { fx, clock } = testClient(reply);

  const error = (await clock.run(errorOf(fx.latest({}, options)))) as FxRatesError;

  expect(error.summary).toContain(summary);
  expect(error.summary).not.toMatch(/onLimit|baseUrl|Retry-After/);
  if (advice === undefined) expect(error.advice).toBeUndefined();
  else expect(error.advice).toContain(advice);
  expect(error.message).toBe([error.summary, error.advice].filter((part) => part !== undefined).join('; '));
});

const refusal = (status: number, code: string, retryAfter = '') =>
  failure(status, {
    code,
    message: `Ask for more:\n ${API_KEY} ${'x'.repeat(500)}`,
    headers: retryAfter === '' ? {} : { 'retry-after': retryAfter },
  });

test.each<[string, Reply, FxRatesOptions & { readonly quota?: Reply }]>([
  ['429 that the call does not wait for', refusal(429, 'rate_limited', '30'), { onLimit: 'throw' }],
  ['429 that is too late for the deadline', refusal(429, 'rate_limited', '30'), { deadlineMs: 5_000 }],
  ['429 with a long Retry-After', refusal(429, 'rate_limited', '900'), {}],
  ['429 without the limiter', refusal(429, 'rate_limited', '1'), { rateLimit: false }],
  ['429 for the quota', refusal(429, 'monthly_limit'), { quota: success(exhaustedQuota()) }],
  ['402 for the quota', refusal(402, 'payment_required'), { quota: success(exhaustedQuota()) }],
  ['400', refusal(400, 'bad_base'), {}],
  ['401', refusal(401, 'unauthorized'), {}],
  ['403', refusal(403, 'forbidden'), { quota: failure(500) }],
  ['503', refusal(503, 'down'), { maxRetries: 0 }],
])('the message of a final %s has the words of the service in one line, masked and cut', async (_, reply, given) => {
  const { fx, clock } = testClient(reply, given);

  const error = (await clock.run(errorOf(fx.latest()))) as FxRatesError;

  expect(error.message).toMatch(/: Ask for more: fx_live_…cdef x+ \((HTTP|status) \d+, /);
  expect(error.message).not.toMatch(/\n|x{200}|0123456789abcdef0/);
});
