import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { FxRates, FxRatesError, type FxRatesOptions } from '../../src/client/index.ts';
import { FakeClock, quiet } from '../helpers/fake-clock.ts';
import { fakeFetch, type Reply, type SentRequest } from '../helpers/fake-fetch.ts';
import { KNOWN_KEY_ENCODINGS } from '../helpers/key-encodings.ts';
import { respond, startRawServer } from '../helpers/raw-server.ts';
import { exhaustedQuota, failure, quotaRecord, success } from '../helpers/service-replies.ts';
import { BASE_URL, errorOf } from '../helpers/test-client.ts';

const keys: [string, string][] = [
  ['of the documented form', 'fx_live_c4a7b1e09f3d52868e1c7a40b6d93f25e8072b9c4d1fa635'],
  ['with characters of a URL', 'canary+/=&%?#"\\\'~!*()0b6d93f25e8072b9c4d1+/="\\635'],
];
const forms: NonNullable<FxRatesOptions['auth']>[] = ['bearer', 'header', 'query'];
const cases = keys.flatMap(([kind, key]) => forms.map((auth) => [kind, auth, key] as const));

/** Everything that the client shows: errors, events, warnings, the client itself. */
let seen: unknown[] = [];
const note = (what: unknown) => seen.push(what);

beforeEach(() => {
  seen = [];
  process.on('warning', note);
});

afterEach(() => {
  process.off('warning', note);
});

const log = (...entry: unknown[]) => entry.forEach(note);
const hooks = {
  ...{ onCall: note, onRequest: note, onRetry: note, onWait: note, onQuota: note },
  logger: { warn: log, info: log, debug: log },
};

/** Every way to print a thing. */
function prints(thing: unknown): string[] {
  const all = { depth: 10, showHidden: true, getters: true, maxStringLength: null, maxArrayLength: null } as const;
  const shown = [String(thing), inspect(thing), inspect(thing, all), inspect(thing, { ...all, customInspect: false })];
  if (typeof thing === 'object' && thing !== null) shown.push(JSON.stringify(thing) ?? '');
  if (thing instanceof Error) shown.push(thing.message, thing.stack ?? '', ...prints(thing.cause));
  if (thing instanceof FxRatesError) shown.push(inspect([...(thing.headers ?? [])], all));
  return shown;
}

function expectNoKey(key: string): void {
  expect(seen).not.toEqual([]);
  const text = seen.flatMap(prints).join('\n');
  const encodings = [...Object.values(KNOWN_KEY_ENCODINGS), (secret: string) => secret.toLowerCase()];
  for (const secret of [key, key.slice(-12)]) {
    for (const encode of encodings) expect(text).not.toContain(encode(secret));
  }
}

/** What a service, or a proxy before it, could send back of a request. */
function echoOf({ url, headers }: SentRequest): string {
  return `${url} ${decodeURIComponent(url)} ${headers['authorization'] ?? ''}`;
}

function echo(status: number, extra: Record<string, string> = {}): Reply {
  return (request) => ({
    status,
    headers: { 'x-request-id': echoOf(request), location: request.url, ...oddHeaders(request), ...extra },
    body: { success: false, error: { code: keyOf(request), message: echoOf(request), status } },
  });
}

function keyOf({ headers, url }: SentRequest): string {
  return new URL(url).searchParams.get('api_key') ?? (headers['authorization'] ?? '').replace('Bearer ', '');
}

function encodingsOf(key: string): string {
  return Object.values(KNOWN_KEY_ENCODINGS)
    .map((encode) => encode(key))
    .join(' ');
}

/** An error such as a `fetch` throws, with the URL wherever it fits. */
function talkative({ url }: SentRequest): Error {
  const inner = Object.assign(new Error(`connect ${url}`), { code: 'ECONNRESET', input: url, request: { url } });
  const error = new TypeError(`fetch of ${url} failed`, { cause: new AggregateError([inner], url, { cause: inner }) });
  Object.defineProperty(error, 'hidden', { value: { deep: { deeper: [url] } }, enumerable: false });
  return error;
}

/** Ways in which a service could put the key into a header of its response. */
function oddHeaders({ headers }: SentRequest): Record<string, string> {
  const authorization = headers['authorization'] ?? 'none';
  const key = authorization.replace('Bearer ', '');
  const isToken = /^[\w!#$%&'*+.^`|~-]+$/.test(key);
  const encoded = Buffer.from(`user:${key}`).toString('base64');
  return { 'x-basic': encoded, ...(isToken ? { [key]: 'as a name', [`x-${key}`]: key } : {}) };
}

function refusal(request: SentRequest, retryAfter: string): Reply {
  const headers = { 'retry-after': retryAfter, 'x-echo': echoOf(request) };
  return failure(429, { code: 'rate_limited', message: echoOf(request), headers });
}

const replies: Record<string, Reply> = {
  'a refused key': echo(401),
  'a forbidden request': echo(403),
  'a bad request': echo(400),
  'a failing service': echo(500),
  'a limit': (request) => refusal(request, '2'),
  'a long limit': (request) => refusal(request, '99999'),
  'a limit in milliseconds': (request) => refusal(request, '30000'),
  'a used-up quota': echo(429),
  'a limit that says nonsense': (request) => refusal(request, echoOf(request)),
  'a content coding': (request) => ({ ...success(), headers: { 'content-encoding': keyOf(request) } }),
  'names of properties': (request) => ({
    body: { success: true, data: { base: 1 }, [keyOf(request)]: 1, meta: keyOf(request) },
  }),
  'an error of another form': (request) => ({ status: 400, body: { detail: encodingsOf(keyOf(request)) } }),
  'a page': (request) => ({ status: 502, body: `<title>${encodingsOf(keyOf(request))}</title>` }),
  'a strange type': (request) => ({ headers: { 'content-type': echoOf(request) }, body: 'text' }),
  'a redirect': (request) => ({ status: 302, headers: { location: request.url }, body: '' }),
  'a text': (request) => ({ status: 200, body: `<a href="${echoOf(request)}">${JSON.stringify(echoOf(request))}</a>` }),
  'another envelope': (request) => ({ status: 200, body: { success: echoOf(request), data: {} } }),
  'a failure with a 200': (request) => ({
    ...failure(400, { message: echoOf(request), code: echoOf(request) }),
    status: 200,
  }),
  'a lost connection': talkative,
  'an error that is none': (request) => {
    throw echoOf(request);
  },
  silence: 'never',
  'half a body': 'stalled body',
  'a success': (request) => ({ ...success(), headers: { 'x-request-id': echoOf(request) } }),
};

function clientFor(key: string, auth: FxRatesOptions['auth'], options: FxRatesOptions = {}) {
  const clock = new FakeClock();
  const fx = new FxRates({ baseUrl: BASE_URL, apiKey: key, auth, clock, ...hooks, ...options });
  return { fx, clock };
}

test.each(cases)('no response or failure shows a key %s sent as %s', async (_, auth, key) => {
  for (const reply of Object.values(replies)) {
    const fetch = fakeFetch(reply, { quota: success(exhaustedQuota()) });
    const { fx, clock } = clientFor(key, auth, { fetch });
    const calls = [
      fx.latest({ base: 'EUR' }, { deadlineMs: 60_000 }),
      fx.latest({ call: 2 }, { onLimit: 'throw', maxRetries: 0 }),
      fx.get('/api/v1/other', { signal: AbortSignal.abort(new Error('enough')) }),
      fx.quota(),
    ];

    await clock.run(Promise.all(calls.map((call) => call.withMeta().then(({ data }) => note(data), note))));
    note(fx);
  }

  const kinds = new Set(seen.filter(FxRatesError.is).map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual([
    ...['aborted', 'authentication', 'network', 'quota_exhausted', 'rate_limited', 'request', 'response', 'server'],
    'timeout',
  ]);
  expectNoKey(key);
});

test.each(cases)('no failure of a socket shows a key %s sent as %s', async (_, auth, key) => {
  const servers = await Promise.all([
    startRawServer({ onConnection: (socket) => socket.resetAndDestroy() }),
    startRawServer({ onRequest: ({ socket, head }) => socket.end(head) }),
    startRawServer({ onRequest: ({ socket, head }) => respond(socket, { status: 500, body: head }) }),
    startRawServer({ onRequest: ({ socket, head }) => respond(socket, { body: head }) }),
  ]);
  for (const fetch of [undefined, globalThis.fetch]) {
    for (const { url } of servers) {
      const options = { baseUrl: url, fetch, maxRetries: 0, timeoutMs: 1e9, deadlineMs: false } as const;
      const { fx, clock } = clientFor(key, auth, options);
      await clock.run(fx.latest().then(note, note), { horizonMs: 1e6 });
      note(fx);
    }
  }
  await Promise.all(servers.map((server) => server.close()));

  expect(seen.filter(FxRatesError.is).length).toBe(8);
  expectNoKey(key);
});

const urlOption = (baseUrl: string): FxRatesOptions => ({ baseUrl });

test.each(keys.slice(0, 1))('a key %s passed as another option is not shown', async (_, key) => {
  const wrong: FxRatesOptions[] = [
    ...[key, `ftp://${key}@host.test`, `https://${key}@host.test`, `https://host.test/?api_key=${key}`].map(urlOption),
    ...[`https://host.test/${key}/api/v1`, `https://host.test/${key}?x`, `http://host.test/${key}`].map(urlOption),
    { auth: key as never },
    { onLimit: key as never },
    { timeoutMs: key as never },
    { rateLimit: key as never },
    { rateLimit: { perMinute: key as never } },
    { clock: key as never },
    { fetch: key as never },
  ];
  for (const options of wrong) note(await errorOf(() => new FxRates({ baseUrl: BASE_URL, apiKey: 'x', ...options })));
  note(await errorOf(() => new FxRates(key as never)));
  for (const given of [`Bearer ${key}`, `${key}\n`, ` ${key}`, `${key} ${key}`]) {
    note(await errorOf(() => new FxRates({ baseUrl: BASE_URL, apiKey: given })));
  }
  const { fx } = clientFor(key, 'bearer', { fetch: fakeFetch(success()) });
  note(await errorOf(fx.get(key)));
  note(await errorOf(fx.get(`/${key}?`)));
  note(await errorOf(fx.latest(key as never)));
  note(await errorOf(fx.latest({ api_key: key })));
  note(await errorOf(fx.latest({ base: { key } as never })));
  note(await errorOf(fx.latest({}, { signal: key as never })));
  note(await errorOf(fx.latest({}, { maxRetries: key as never })));

  expect(seen.filter(FxRatesError.is).every(({ kind }) => kind === 'config')).toBe(true);
  expectNoKey(key);
});

test.each(keys)('events and errors do not show a key %s in a path or a query', async (_, key) => {
  const replies = [success({ rates: 1 }), { body: { success: true } }, failure(404), failure(503), failure(400)];
  const { fx, clock } = clientFor(key, 'bearer', { fetch: fakeFetch(replies), logLevel: 'debug' });
  const schema = z.object({ missing: z.string() });
  const path = `/api/v1/keys/${encodeURIComponent(key)}`;

  for (const _reply of replies.slice(2)) note(await clock.run(errorOf(fx.get(path, { schema }))));
  note(await clock.run(errorOf(fx.latest({ note: key }))));
  await quiet();

  expectNoKey(key);
});

test.each(keys)('a warning does not show a key %s that the service sent', async (_, key) => {
  const quota = success(quotaRecord({ snapshot_granularity: key }));
  const fetch = fakeFetch(success(), { quota });
  const onQuota = () => undefined; // receives data, which is unchanged
  const { fx, clock } = clientFor(key, 'bearer', { fetch, cache: 'snapshot', onQuota });

  await clock.run(fx.latest());

  expectNoKey(key);
  expect(seen).toContainEqual(expect.stringContaining('cannot parse snapshot_granularity'));
});

test.each(keys)('the issues of a schema do not show a key %s', async (_, key) => {
  const { fx, clock } = clientFor(key, 'bearer', { fetch: fakeFetch(success({ [key]: key })) });
  const schema = z.strictObject({ rate: z.number() }).or(z.record(z.string(), z.number()));
  const quoting = z.any().refine(() => false, { message: `got ${key}`, path: [key] });

  note(await clock.run(errorOf(fx.latest({}, { schema }))));
  note(await clock.run(errorOf(fx.latest({}, { schema: quoting }))));

  expect(seen.filter(FxRatesError.is).map(({ kind }) => kind)).toEqual(['response', 'response']);
  expectNoKey(key);
});

test("auth 'query' warns once that keys appear in logs", () => {
  clientFor(keys[0]![1], 'query', { fetch: fakeFetch(success()) });

  expect(seen).toEqual([expect.stringContaining("auth: 'query' puts the API key into URLs"), { summary: seen[0] }]);
});

test('without a logger, a warning is a process warning of its own type, with the key masked', async () => {
  const emitWarning = vi.spyOn(process, 'emitWarning').mockReturnValue();

  new FxRates({ baseUrl: BASE_URL, apiKey: 'not-of-the-documented-form' });

  expect(emitWarning.mock.calls).toEqual([
    [expect.stringMatching(/^The key …form does not have the documented form/), { type: 'FxRatesWarning' }],
  ]);
});
