import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import {
  type BehaviourOptions,
  createMockServer,
  type RuleOptions,
  type SetUsage,
} from '../../../src/mock-server/index.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

test('an entry contains key, request, decision, usage and reason', async () => {
  const { mock, id, send } = mockWithKey();
  for (let request = 0; request < 31; request += 1) await send('/api/v1/latest?base=EUR');

  const [served, refused] = mock.journal.list().slice(-2);

  expect(served).toMatchObject({ number: 30, status: 200, code: undefined, why: 'served', rate: { used: 30 } });
  expect(served?.quota?.used).toBe(30);
  expect(refused).toEqual({
    number: 31,
    space: undefined,
    responseHeaders: expect.objectContaining({ 'retry-after': '60' }),
    responseBody: expect.stringContaining('"code":"rate_limited"'),
    at: Date.parse('2026-01-15T00:00:00.000Z'),
    method: 'GET',
    path: '/api/v1/latest',
    query: { base: 'EUR' },
    headers: { authorization: 'Bearer fx_live_…' },
    body: undefined,
    operation: 'latest',
    isUnknownRoute: false,
    keyId: id,
    keyTransport: 'bearer',
    hasKeyInUrl: false,
    status: 429,
    code: 'rate_limited',
    why: '30 of 30 requests used this minute; next accepted in 60000 ms',
    rate: { limit: 30, used: 30, fullAt: Date.parse('2026-01-15T00:01:00.000Z') },
    quota: {
      limit: 1000,
      used: 30,
      startedAt: Date.parse('2026-01-01T00:00:00.000Z'),
      resetsAt: Date.parse('2026-02-01T00:00:00.000Z'),
    },
    earlyByMs: undefined,
    switches: expect.arrayContaining(['rateWindow', 'retryAfterUnit']),
    rules: [],
  });
});

test('a request sent before the first refusal arrived is not early, one sent afterwards is', async () => {
  const { mock, send } = mockWithKey();
  const early = () => mock.audit().earlyRetries.map(({ number }) => number);

  await Promise.all(Array.from({ length: 35 }, () => send()));
  expect(mock.journal.list({ status: 429 })).toHaveLength(5);
  expect(early()).toEqual([]);

  await send();
  expect(early()).toEqual([36]);
});

test.each<[BehaviourOptions, SetUsage, operations: string[], early: number[]]>([
  [{ quotaRetryAfter: 'until-reset' }, { month: 1000 }, ['latest', 'quota', 'latest'], [3]],
  [{ quotaEndpointBucket: 'shared' }, { minute: 30 }, ['latest', 'quota', 'latest'], [2, 3]],
  [{ quotaEndpointBucket: 'separate' }, { minute: 30 }, ['latest', 'quota', 'latest'], [3]],
  [{ quotaEndpointBucket: 'separate' }, { minute: 0 }, [...Array(32).fill('quota'), 'latest'], [32]],
])('with %j and %j, a Retry-After is for the operations with the same limit', async (behaviour, usage, sent, early) => {
  const { mock, id, send } = mockWithKey({ behaviour });
  mock.keys.setUsage(id, usage);

  for (const operation of sent) await send(`/api/v1/${operation}`);

  expect(mock.audit().earlyRetries.map(({ number }) => number)).toEqual(early);
});

test.each([
  [0, []],
  [1, [50]],
  [7, [44, 45, 46, 47, 48, 49, 50]],
])('a journal of size %i keeps the newest entries', async (journalSize, numbers) => {
  const mock = createMockServer({ journalSize });

  for (let request = 0; request < 50; request += 1) await mock.fetch(mock.baseUrl);

  expect(mock.journal.list().map(({ number }) => number)).toEqual(numbers);
});

test('an unknown option of a subscription is refused', () => {
  const subscribe = () => createMockServer().journal.subscribe(() => undefined, { space: true } as never);

  expect(subscribe).toThrow('space is not an option of subscribe(); did you mean spaces?');
});

test('a listener receives every request, also after clear(), and on request those of spaces', async () => {
  const mock = createMockServer();
  const space = mock.space({ name: 'invoices' });
  const own: unknown[] = [];
  const all: unknown[] = [];
  const stop = mock.journal.subscribe(({ number, space: name }) => own.push([number, name]));
  const stopAll = mock.journal.subscribe(({ number, space: name }) => all.push([number, name]), { spaces: true });
  const send = (key = '') => mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: key } });

  await send();
  mock.journal.clear();
  await send(space.key);
  await send();
  stop();
  await send();
  stopAll();
  await send(space.key);
  await send();

  expect(own).toEqual([
    [1, undefined],
    [1, undefined],
  ]);
  expect(all).toEqual([
    [1, undefined],
    [1, 'invoices'],
    [1, undefined],
    [2, undefined],
  ]);
});

/** Sends a request, and returns a function that aborts it and returns why it failed. */
function abortable(send: (target?: string, init?: RequestInit) => Promise<unknown>) {
  const client = new AbortController();
  const ended = send('/api/v1/latest', { signal: client.signal }).catch(({ message }) => message);
  return () => {
    client.abort(new Error('timeout'));
    return ended;
  };
}

const bug = () => {
  throw new Error(`a bug in the test, with fx_live_${'0'.repeat(48)}`);
};

test.each<[string, () => unknown]>([
  ['throws', bug],
  ['rejects', async () => bug()],
])('a listener that %s does not change the response', async (_, listener) => {
  const mock = createMockServer();
  const space = mock.space();
  const heard: unknown[] = [];
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  mock.journal.subscribe(listener as () => void, { spaces: true });
  mock.journal.subscribe(({ number }) => heard.push(number), { spaces: true });

  const response = await space.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: space.key } });
  await new Promise(setImmediate);

  expect([response.status, heard]).toEqual([200, [1]]);
  expect(warnings.mock.calls).toEqual([
    [
      'A listener of journal.subscribe() threw Error: a bug in the test, with fx_live_…',
      { type: 'FxratesMockWarning', code: 'FXRATES_LISTENER', detail: expect.stringContaining('journal.test.ts') },
    ],
  ]);
});

test.each<[string, unknown, string]>([
  ['without a prototype', Object.create(null), 'a value that has no text'],
  ['that is a symbol', Symbol('x'), 'Symbol(x)'],
  ['that is undefined', undefined, 'undefined'],
])('a listener or a function of a rule can throw a value %s', async (_, thrown, text) => {
  const { mock, send } = mockWithKey();
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  const fail = () => {
    throw thrown;
  };
  mock.journal.subscribe(fail);
  mock.rules.add({ respond: fail });

  const { status, json } = await send();

  expect([status, json().error.message]).toEqual([500, `The function of the rule threw ${text}.`]);
  expect(warnings.mock.calls[0]?.[0]).toBe(`A listener of journal.subscribe() threw ${text}`);
});

test.each<[string, RuleOptions, string]>([
  ['a delay', {}, 'served'],
  ['a delayed response of a rule', { respond: { status: 503, error: { code: 'down' } } }, 'response of rule_1'],
])('a request that its client aborts during %s has status 0', async (_, rule, response) => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ delayMs: 5000, ...rule });
  const arrived: number[] = [];
  mock.journal.subscribe(({ number }) => arrived.push(number));

  const abort = abortable(send);
  await mock.journal.waitFor();
  expect(await abort()).toBe('timeout');

  const why = `${response}; rule_1: 5000 ms late; the client disconnected before the response`;
  expect(mock.journal.list()).toMatchObject([{ status: 0, code: undefined, responseBody: undefined, why }]);
  mock.expectRequests({ status: 0 }).toHaveCount(1);
  expect([arrived, mock.keys.get(id).month.used]).toEqual([[1], 1]);
});

test.each<[string, (client: AbortController, reader?: ReadableStreamDefaultReader) => unknown, RegExp]>([
  ['its client aborts', (client) => client.abort(new Error('timeout')), /timeout/],
  ['its reader cancels', (_, reader) => reader?.cancel(), /^done$/],
])('a request whose body %s keeps its status', async (_, end, outcome) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  mock.rules.add({ fail: { kind: 'dribble', chunkBytes: 5, intervalMs: 1000 } });
  const client = new AbortController();

  const { body } = await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { signal: client.signal });
  const reader = body?.getReader();
  await reader?.read();
  const next = reader?.read().then(({ done }) => done && 'done', String);
  await new Promise(setImmediate);
  await end(client, reader);

  expect(await next).toMatch(outcome);
  const why = /5 bytes every 1000 ms; the client disconnected before the end of the body$/;
  expect(mock.journal.list()).toMatchObject([{ status: 401, why: expect.stringMatching(why) }]);
});

test.each(['msw', 'a socket'])('a request that its client aborts through %s has status 0', async (way) => {
  await using mock = createMockServer();
  if (way === 'msw') mock.listen();
  const url = way === 'msw' ? mock.baseUrl : (await mock.serve()).url;
  mock.rules.add({ delayMs: 60_000 });

  const abort = abortable((target, init) => fetch(url + target, init));
  await mock.journal.waitFor();
  expect(await abort()).toBe('timeout');

  const why = expect.stringMatching(/60000 ms late; the client disconnected before the response$/);
  await expect.poll(() => mock.journal.list()).toMatchObject([{ status: 0, why }]);
});

test('a request that waits when the mock is closed has status 0', async () => {
  const mock = createMockServer();
  const { url, close } = await mock.serve();
  mock.rules.add({ delayMs: 60_000 });

  const overHttp = fetch(`${url}/api/v1/latest`).catch((error: unknown) => error);
  await mock.journal.waitFor();
  await close();
  const inProcess = mock.fetch(`${mock.baseUrl}/api/v1/latest`).catch((error: unknown) => error);
  await mock.journal.waitFor({}, { count: 2 });
  await mock.close();

  expect([await overHttp, await inProcess]).toEqual([expect.any(TypeError), expect.any(TypeError)]);
  const entry = { status: 0, why: expect.stringMatching(/; the mock was closed before the response$/) };
  expect(mock.journal.list()).toMatchObject([entry, entry]);
});

test('a number after the last request is refused, because clear() has restarted the numbers', async () => {
  const mock = createMockServer();
  const send = () => mock.fetch(`${mock.baseUrl}/api/v1/quota`);
  await send();
  await send();
  expect(mock.journal.list({ after: 2 })).toEqual([]);

  mock.journal.clear();
  await send();

  const message =
    'filter.after is 2; expected at most 1, the number of the last request; clear() restarts the numbers.';
  expect(() => mock.journal.list({ after: 2 })).toThrow(message);
  expect(() => mock.expectRequests({ after: 2 }).toHaveCount(0)).toThrow(message);
  await expect(mock.journal.waitFor({ after: 2 })).rejects.toThrow(message);
});

/** A mock, and a function that returns the body of a response, if it arrives. */
function recording(options = {}) {
  const { send, ...rest } = mockWithKey({ plan: 'unlimited', ...options });
  return { ...rest, send: async () => (await send().catch(() => undefined))?.text };
}

test.each<[RuleOptions, string | undefined]>([
  [{ respond: { status: 503, body: 'down' } }, 'down'],
  [{ fail: { kind: 'bad-json' } }, '{"success":t'],
  [{ fail: { kind: 'truncate', afterBytes: 5 } }, '{"suc'],
  [{ fail: { kind: 'reset', afterBytes: 3 } }, '{"s'],
  [{ fail: { kind: 'truncate', afterBytes: 0 } }, undefined],
  [{ fail: { kind: 'reset' } }, undefined],
  [{ fail: { kind: 'network-error' } }, undefined],
  [{ respond: { status: 503, body: 'down' }, counted: false }, 'down'],
  [{ fail: { kind: 'dribble', intervalMs: 0 } }, '{"success":true,"data":1}'],
  [{ encoding: 'br' }, '{"success":true,"data":1}'],
  [{ respond: { status: 204 } }, undefined],
  [{ respond: { body: 'ünïcode' } }, 'ünïcode'],
])('with %j the entry has the body %j', async (rule, body) => {
  const { mock, send } = recording();
  mock.rules.add({ respond: { data: 1 } });
  mock.rules.add(rule);
  await send();

  expect(mock.journal.list()[0]?.responseBody).toBe(body);
});

const GZIPPED = gzipSync('{"success":true,"data":1}');

test.each<[NonNullable<RuleOptions['fail']>, Buffer | string]>([
  [{ kind: 'truncate', afterBytes: 15 }, GZIPPED.subarray(0, 15)],
  [{ kind: 'truncate', afterBytes: 1000 }, GZIPPED.subarray(0, -1)],
  [{ kind: 'reset', afterBytes: 15 }, GZIPPED.subarray(0, 15)],
  [{ kind: 'bad-json' }, GZIPPED.subarray(0, Math.floor(GZIPPED.length / 2))],
  [{ kind: 'dribble', intervalMs: 0, chunkBytes: 10 }, '{"success":true,"data":1}'],
])('of a coded body, %j leaves the bytes that were sent in the entry', async (fail, expected) => {
  const { mock, send } = recording();
  mock.rules.add({ respond: { data: 1 }, encoding: 'gzip', fail });
  await send();

  expect(mock.journal.list()[0]?.responseBody).toBe(String(expected));
});

test.each([
  [15, GZIPPED.subarray(0, 15)],
  [GZIPPED.length, '{"success":true,"data":1}'],
])('the entry of a chunked body that is damaged after %i coded bytes has these bytes', async (afterBytes, expected) => {
  const { mock, key } = mockWithKey();
  await using server = await mock.serve();
  mock.rules.add({ respond: { data: 1 }, encoding: 'gzip', fail: { kind: 'malformed-chunk', afterBytes } });
  await fetch(`${server.url}/api/v1/latest`, { headers: { authorization: key } }).catch(() => undefined);

  expect(mock.journal.list()[0]?.responseBody).toBe(String(expected));
});

test('an entry has the headers of request and response, with keys masked in names and values', async () => {
  const { mock, key, send } = mockWithKey({ behaviour: { cors: 'any-origin', rateHeaders: 'x-ratelimit' } });
  const response = await send();
  mock.rules.add({ respond: { data: 1, headers: { 'set-cookie': ['a=1', 'b=2'], 'x-echo': key, [key]: 'a' } } });
  await send('/api/v1/latest', { headers: { authorization: key, [key]: '1' } });

  const [first, second] = mock.journal.list();
  expect(first?.responseHeaders).toEqual(Object.fromEntries(response.headers));
  expect(first?.responseHeaders).toMatchObject({
    'x-ratelimit-remaining': '29',
    'access-control-allow-origin': '*',
    'content-type': 'application/json',
  });
  const masked = { 'set-cookie': ['a=1', 'b=2'], 'x-echo': 'fx_live_…', 'fx_live_…': 'a' };
  expect(second?.responseHeaders).toMatchObject(masked);
  expect(second?.headers).toEqual({ authorization: 'fx_live_…', 'fx_live_…': '1' });
});

test('keys in a body are masked, and a long body is cut', async () => {
  const { mock, key, send } = recording();
  mock.rules.add({ respond: [{ data: key }, { body: `${'x'.repeat(16_380)}${key}` }] });
  await send();
  await send();

  const [masked, cut] = mock.journal.list().map(({ responseBody }) => responseBody);
  expect(masked).toBe('{"success":true,"data":"fx_live_…"}');
  expect(cut).toBe(`${'x'.repeat(16_380)}fx_l`);
});

test('the journal does not keep long bodies in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  let call = 0;
  const respond = () => {
    call += 1;
    return { data: { text: String(call).repeat(1_000_000) } };
  };
  const { mock, send } = recording({ rules: [{ respond }] });
  await send();
  const before = used();

  for (let request = 0; request < 40; request += 1) await send();

  expect(mock.journal.list()).toHaveLength(41);
  expect(used() - before).toBeLessThan(10_000_000); // 40 bodies have 72 MB
});

test('waitFor() leaves out a delayed request whose client is gone', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ delayMs: 5000, nth: 1 });
  const waiting = mock.journal.waitFor({ status: 200 }, { count: 2 });

  const abort = abortable(send);
  await mock.journal.waitFor();
  await abort();
  await send();
  await send();

  expect((await waiting).map(({ number }) => number)).toEqual([2, 3]);
  mock.expectRequests({ status: 200 }).toHaveCount(2);
});

test.each([0, 1000])('waitFor() finds a request that ends without a response, journalSize %i', async (journalSize) => {
  const { mock, send } = mockWithKey({ journalSize });
  mock.rules.add({ delayMs: 60_000 });
  const waiting = mock.journal.waitFor({ status: 0 });

  await abortable(send)();

  expect(await waiting).toMatchObject([{ number: 1, status: 0 }]);
});

test('waitFor() resolves to the requests as the journal has them at the end', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ nth: 1, delayMs: 60_000 });
  const waiting = mock.journal.waitFor({}, { count: 2 });

  await abortable(send)();
  await send();

  expect((await waiting).map(({ status }) => status)).toEqual([0, 200]);
  expect(await waiting).toEqual(mock.journal.list());
});

test('the end of a request that clear() removed does not change a wait for later ones', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ nth: 1, delayMs: 60_000 });
  const abort = abortable(send);
  await mock.journal.waitFor();
  mock.journal.clear();
  const unanswered = mock.journal.waitFor({ status: 0 }, { timeoutMs: 0 });
  const waiting = mock.journal.waitFor({ status: 200 }, { count: 2 });
  await send();

  await abort();
  await send();

  expect((await waiting).map(({ number }) => number)).toEqual([1, 2]);
  await expect(unanswered).rejects.toMatchObject({ code: 'wait_timeout' });
});
