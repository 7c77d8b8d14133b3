import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { parseResponse } from '../../../src/client/call/parse-response.ts';
import { FxRates, FxRatesError, type FxRatesOptions, ResponseError } from '../../../src/client/index.ts';
import { realClock } from '../../../src/client/time/clock.ts';
import type { Reply } from '../../helpers/fake-fetch.ts';
import { respond, startRawServer } from '../../helpers/raw-server.ts';
import { API_KEY, failure, quotaRecord, rateLimited, success } from '../../helpers/service-replies.ts';
import { aCall, errorOf, testClient } from '../../helpers/test-client.ts';

/** The error of one attempt with this response. `quota()` returns a record with many requests left. */
async function errorFor(reply: Reply, options: FxRatesOptions = {}): Promise<unknown> {
  const quota = success(quotaRecord());
  const { fx, clock } = testClient(reply, { quota, maxRetries: 0, onLimit: 'throw', ...options });
  return clock.run(errorOf(fx.latest()));
}

test('a success returns its data and, with withMeta(), the rest of the response', async () => {
  const body = '{ "success": true, "data": { "rate": 1.10 } }';
  const { fx } = testClient({ status: 200, headers: { 'x-request-id': 'r1' }, body });

  const call = fx.latest();
  const { data, meta } = await call.withMeta();

  expect(data).toEqual({ rate: 1.1 });
  expect(await call).toBe(data);
  expect(meta).toMatchObject({ status: 200, rawBody: body, source: 'network', durationMs: 0 });
  expect(meta.headers.get('X-Request-Id')).toBe('r1');
  expect(meta.attempts).toEqual([{ status: 200, code: undefined, waitedMs: 0, reason: 'first' }]);
});

test.each([
  ['authentication', failure(401, { code: 'bad_key' })],
  ['rate_limited', rateLimited('30')],
  ['request', failure(400, { code: 'bad_base' })],
  ['server', failure(500, { code: 'broken' })],
  ['response', { body: 'no JSON' }],
])('an error of the kind %s needs no global Headers (--no-experimental-fetch)', async (kind, response) => {
  const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, response) });
  onTestFinished(() => server.close());
  for (const name of ['fetch', 'Headers', 'Request', 'Response']) vi.stubGlobal(name, undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const fx = new FxRates({ baseUrl: server.url, apiKey: API_KEY, maxRetries: 0, onLimit: 'throw' });

  expect(await errorOf(fx.latest())).toMatchObject({ kind, headers: undefined });
});

test.each([
  ['a page', 404, (text: string) => `<html>${text}`],
  ['a title', 404, (text: string) => `<title>${'words '.repeat(9)}</title>${text}`],
  ['a message', 422, (text: string) => JSON.stringify({ success: false, error: { code: 'a', message: text } })],
  ['a code', 422, (text: string) => JSON.stringify({ success: false, error: { code: text, message: 'b' } })],
  ['a text that is not JSON', 200, (text: string) => text],
])('an error does not keep the body of its response in memory: %s', async (_, status, bodyOf) => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const fetch = async (url: string) => new Response(bodyOf(url + 'x'.repeat(2_000_000)), { status });
  const { fx } = testClient([], { fetch, rateLimit: false });
  await errorOf(fx.latest());

  const before = heap();
  const errors: unknown[] = [];
  for (let call = 0; call < 20; call += 1) errors.push(await errorOf(fx.latest({ call })));

  expect(heap() - before).toBeLessThan(8_000_000);
  expect(errors).toHaveLength(20);
});

test('neither message nor code of the service can control the terminal or forge a line of a log', async () => {
  const body = { success: false, error: { code: 'x\u001b]0;a\u0007', message: 'no\u001b[2J\nINFO \u202eforged' } };
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const { fx } = testClient({ status: 400, body }, { logger: { warn: log, debug: log }, logLevel: 'debug' });

  const error = await errorOf(fx.latest());

  expect(error).toMatchObject({
    code: 'x\\u001b]0;a\\u0007',
    message: 'The service refused /api/v1/latest: no\\u001b[2J INFO \\u202eforged (HTTP 400, x\\u001b]0;a\\u0007)',
  });
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join('')).not.toMatch(/\p{Cc}/u);
  expect((error as Error).stack?.split('\n')[0]).not.toMatch(/\p{Cc}/u);
});

test.each([
  ['https://fx.test/api/v1/rates', {}, 'The service refused /api/v1/rates/api/v1/latest (HTTP 404)'],
  ['https://fx.test/proxy/', {}, 'The service refused /proxy/api/v1/latest (HTTP 404)'],
  ['https://fx.test', { a: 'x'.repeat(1_000) }, `The service refused /api/v1/latest?a=${'x'.repeat(183)}… (HTTP 404)`],
])('a refusal by %s has the requested path, shortened', async (baseUrl, query, summary) => {
  const { fx } = testClient({ status: 404, body: '{}' }, { baseUrl });

  expect(await errorOf(fx.latest(query))).toMatchObject({ summary, message: `${summary}; check baseUrl` });
});

test('a 404 for a path that the contract does not have names the path of get()', async () => {
  const { fx } = testClient({ status: 404, body: '' });

  expect(await errorOf(fx.get('/api/v1/history'))).toMatchObject({
    message: 'The service refused /api/v1/history (HTTP 404); check the path of get(), and baseUrl',
  });
});

test.each([1000, '1000', 'unlimited', null, -1, undefined])('a quota record can have the limit %j', async (limit) => {
  const { monthly_limit: _, ...rest } = { ...quotaRecord(), plan: 'enterprise', carry_over: { months: 3 } };
  const data = limit === undefined ? rest : { ...rest, monthly_limit: limit };
  const { fx } = testClient(success(data));

  await expect(fx.quota()).resolves.toEqual(data); // also with fields that the contract does not have
});

test.each([
  ...[400, 402, 404, 408, 410, 422, 451, 499].map((status) => [status, 'request'] as const),
  [401, 'authentication'] as const,
  [429, 'rate_limited'] as const,
  ...[500, 501, 502, 503, 504, 520, 599].map((status) => [status, 'server'] as const),
])('status %i has the kind %s, for any body', async (status, kind) => {
  const bodies = [
    failure(status, { code: 'a_new_code', message: 'What happened.' }).body,
    { success: false, error: null },
    { success: false, error: { code: 42, message: null, status: 'none' } },
    { success: true, data: {} },
    '<html><h1>Sorry</h1></html>',
    '',
    'null',
    '[]',
  ];

  const errors = await Promise.all(bodies.map((body) => errorFor({ status, body })));

  for (const error of errors) {
    expect(FxRatesError.is(error)).toBe(true);
    expect(error).toMatchObject({ kind, status });
    expect((error as FxRatesError).attempts).toHaveLength(1);
  }
  expect(errors[0]).toMatchObject({ code: 'a_new_code', headers: expect.any(Headers) });
  for (const error of errors.slice(1)) expect(error).toMatchObject({ code: undefined });
});

const CHECK_SERVER = '; check baseUrl, and the server or proxy there';
const gone = { success: false, error: { code: 'gone', message: 'No.', status: 410 } };

test.each<[Reply, string]>([
  [
    failure(422, { code: 'bad_symbol', message: 'No symbol XXX.' }),
    'RequestError: The service refused /api/v1/latest: No symbol XXX. (HTTP 422, bad_symbol)',
  ],
  [{ status: 422, body: '' }, 'RequestError: The service refused /api/v1/latest (HTTP 422)'],
  [
    { status: 401, body: '' },
    'AuthenticationError: The service refused the key fx_live_…cdef (HTTP 401); check apiKey or FXRATES_API_KEY, and whether the key is for this baseUrl',
  ],
  [{ body: gone }, 'RequestError: The service refused /api/v1/latest: No. (status 410 in HTTP 200, gone)'],
  [
    { body: '<html>', headers: { 'content-type': 'text/html' } },
    `ResponseError: The body is not JSON (HTTP 200, text/html)${CHECK_SERVER}`,
  ],
  [
    () => new Response(Buffer.from('<html>')),
    `ResponseError: The body is not JSON (HTTP 200, no content type)${CHECK_SERVER}`,
  ],
  [() => new Response(new Uint8Array([0x22, 0xff])), `ResponseError: The body is not UTF-8 (HTTP 200)${CHECK_SERVER}`],
  [failure(302, { code: 'moved' }), `ResponseError: Unexpected HTTP 302${CHECK_SERVER}`],
  [() => new Response(null, { status: 304 }), 'ResponseError: HTTP 304 has no body; remove the header If-None-Match'],
  [
    failure(503, { message: 'Closed.', headers: { 'retry-after': '120' } }),
    'ServerError: The service failed: Closed. (HTTP 503, some_code); Retry-After 120',
  ],
  [
    failure(503, { headers: { 'retry-after': '' } }),
    'ServerError: The service failed: Some text. (HTTP 503, some_code)',
  ],
  [
    () => new Response(null, { status: 204 }),
    `ResponseError: The body is empty (HTTP 204, no content type)${CHECK_SERVER}`,
  ],
])('the response %o is the error: %s', async (reply, text) => {
  expect(String(await errorFor(reply))).toBe(text);
});

const TARGET = 'The service refused /api/v1/latest';
const GATEWAY = '<html>\r\n<head><title>502 Bad Gateway</title></head><body><h1>Bad</h1></body></html>';

test.each<[number, unknown, string]>([
  [400, { error: 'base must be three letters' }, `${TARGET}: base must be three letters (HTTP 400)`],
  [400, { message: 'base must be\n three letters' }, `${TARGET}: base must be three letters (HTTP 400)`],
  [400, { detail: 'base must be three letters' }, `${TARGET}: base must be three letters (HTTP 400)`],
  [
    400,
    { type: 'about:blank', title: 'Bad Request', status: 400, detail: 'No base.' },
    `${TARGET}: No base. (HTTP 400)`,
  ],
  [400, { type: 'about:blank', title: 'Bad Request', status: 400 }, `${TARGET}: Bad Request (HTTP 400)`],
  [400, { error: 'invalid_request', error_description: 'No base.' }, `${TARGET}: No base. (HTTP 400)`],
  [400, { detail: [{ loc: ['query', 'base'], msg: 'field required' }] }, `${TARGET}: field required (HTTP 400)`],
  [400, { errors: [{ title: 'Odd', detail: 'No base.' }] }, `${TARGET}: No base. (HTTP 400)`],
  [400, { errors: { base: ['is short'] } }, `${TARGET}: {"errors":{"base":["is short"]}} (HTTP 400)`],
  [400, '"base must be three letters"', `${TARGET}: base must be three letters (HTTP 400)`],
  [400, 'base must be\nthree letters\n', `${TARGET}: base must be three letters (HTTP 400)`],
  [400, `x${' long'.repeat(100)}`, `${TARGET}: x${' long'.repeat(39)} lon (HTTP 400)`],
  [400, { success: false, error: { code: null } }, `${TARGET} (HTTP 400)`],
  [400, { success: false, error: { code: 104, info: 'No requests left.' } }, `${TARGET}: No requests left. (HTTP 400)`],
  [400, { success: false, error: { code: 104, type: 'limit' } }, `${TARGET}: {"code":104,"type":"limit"} (HTTP 400)`],
  [400, '{}', `${TARGET} (HTTP 400)`],
  [400, '['.repeat(50_000) + ']'.repeat(50_000), `${TARGET}: [[[`],
  [400, 'null', `${TARGET} (HTTP 400)`],
  [400, `key ${API_KEY}`, `${TARGET}: key fx_live_…cdef (HTTP 400)`],
  [400, `<p>fx_live_<b>${API_KEY.slice(8)}</b>`, `${TARGET}: fx_live_ fx_live_…cdef (HTTP 400)`],
  [401, { message: 'Who are you?' }, 'The service refused the key fx_live_…cdef: Who are you? (HTTP 401)'],
  [502, GATEWAY, 'The service failed: 502 Bad Gateway (HTTP 502)'],
  [502, '<style>p { color: red }</style><p>Bad <b>gateway</b>', 'The service failed: Bad gateway (HTTP 502)'],
  [502, '<h1>Bad gateway</h1>nginx', 'The service failed: Bad gateway (HTTP 502)'],
])('the error of a %i with the body %j has its words', async (status, body, message) => {
  const error = (await errorFor({ status, body })) as FxRatesError;

  expect(error.message).toContain(message);
  expect(error.message).not.toContain(API_KEY.slice(12));
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const masked = text.replace(API_KEY, 'fx_live_…cdef').replace(API_KEY.slice(8), 'fx_live_…cdef');
  expect(error.bodyExcerpt).toBe(masked.slice(0, 200));
});

const LATIN_1 = () => new Response(Buffer.from('<h1>Accès refusé</h1>', 'latin1'), { status: 403 });

test.each([
  [GATEWAY.replace('502 Bad Gateway', 'Access denied'), 'request', 'with a page: Access denied (HTTP 403)'],
  ['Forbidden', 'request', 'with a page: Forbidden (HTTP 403)'],
  [{ message: 'Forbidden' }, 'authentication', 'with the key fx_live_…cdef: Forbidden (HTTP 403)'],
  ['', 'authentication', 'The service does not allow this request with the key fx_live_…cdef (HTTP 403)'],
  [LATIN_1, 'request', 'with a page: Accès refusé (HTTP 403)'],
  ['x'.repeat(2_000), 'request', 'with a page (HTTP 403)'],
])('a 403 is a problem of the key unless its body is a page: %j', async (body, kind, message) => {
  const reply = typeof body === 'function' ? body : { status: 403, body };

  expect(await errorFor(reply, { maxResponseBytes: 1_000 })).toMatchObject({
    kind,
    message: expect.stringContaining(message),
  });
});

const KEY_AT_CUT = `${' '.repeat(20_000 - API_KEY.length)}${API_KEY}`;

test.each([
  ['a text in JSON', { success: false, error: { code: 'x', message: `a${KEY_AT_CUT}` } }],
  ['a page', `<html><p>a</p><!--${API_KEY.repeat(300)}-->${KEY_AT_CUT}${KEY_AT_CUT}`],
  ['JSON in another form', `{"a":[${KEY_AT_CUT}`],
])('no part of a key that crosses the end of the searched part is shown: %s', async (_, body) => {
  for (const shift of [0, 1, 20, 54]) {
    const text = (typeof body === 'string' ? body : JSON.stringify(body)).replace(' ', ' '.repeat(shift + 1));
    const error = (await errorFor({ status: 500, body: text })) as FxRatesError;
    expect(`${error.message}${error.bodyExcerpt}`).not.toContain(API_KEY.slice(8, 16));
  }
});

const HOSTILE = `${'%25'.repeat(60)}${API_KEY}${'%25'.repeat(2 ** 20)}`;

test.each([
  ['a text', HOSTILE],
  ['a code', JSON.stringify({ success: false, error: { code: HOSTILE } })],
  ['a message', JSON.stringify({ success: false, error: { code: 'x', message: HOSTILE } })],
])('of a long hostile body, only the start is searched for the key: %s', async (_, rawBody) => {
  const call = aCall();
  const redact = vi.fn(call.key.redact);
  call.key = Object.create(call.key, { redact: { value: redact } });
  const response = { status: 500, headers: [], rawBody, problem: undefined };

  const error = (await errorOf(() =>
    parseResponse(response, call, { basePath: '', clock: realClock }),
  )) as FxRatesError;

  const start = rawBody.slice(0, rawBody.indexOf('%'));
  const shown = `${start}${'%25'.repeat(60)}fx_live_…cdef${'%25'.repeat(10)}`;
  expect(error.bodyExcerpt).toBe(shown.slice(0, 200));
  expect(Math.max(...redact.mock.calls.map(([text]) => text.length))).toBeLessThanOrEqual(20_000);
});

test('an error has the headers of the response, without the key, in ASCII; its JSON has none', async () => {
  const headers = { 'x-other': 'r1', 'x-echo': `key ${API_KEY}` };

  const error = (await errorFor(failure(422, { code: 'bad_symbol', headers }))) as FxRatesError;

  expect(error.headers?.get('x-other')).toBe('r1');
  expect(error.headers?.get('x-echo')).toBe('key fx_live_...cdef');
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    ...{ name: 'RequestError', kind: 'request', code: 'bad_symbol', status: 422 },
    ...{ callId: expect.any(String), message: expect.any(String) },
    attempts: [{ status: 422, code: 'bad_symbol', waitedMs: 0, reason: 'first' }],
  });
});

test.each([
  ['its error says 429', { code: 'rate_limited', message: '', status: 429 }, 'rate_limited', 429],
  ['its error says 401', { code: 'unauthorized', message: '', status: 401 }, 'authentication', 401],
  ['its error says 503', { code: 'down', message: '', status: 503 }, 'server', 503],
  ['its error says 400', { code: 'odd', message: '', status: 400 }, 'request', 400],
  ['its error says 599', { code: 'down', message: '', status: 599 }, 'server', 599],
  ['its error says 399', { code: 'odd', message: '', status: 399 }, 'request', 200],
  ['its error says 600', { code: 'odd', message: '', status: 600 }, 'request', 200],
  ["its error says '503'", { code: 'odd', message: '', status: '503' }, 'request', 200],
  ['its error has no status', { code: 'odd', message: '' }, 'request', 200],
  ['its error says 200', { code: 'odd', message: '', status: 200 }, 'request', 200],
  ['its error says 999', { code: 'odd', message: '', status: 999 }, 'request', 200],
  ['it has no error', undefined, 'request', 200],
  ['it is limited without a status', { code: 'rate_limited' }, 'rate_limited', 200],
])('a 200 without success: true is an error: %s', async (_, error, kind, status) => {
  expect(await errorFor({ status: 200, body: { success: false, data: { base: 'EUR' }, error } })).toMatchObject({
    kind,
    status,
  });
});

test('a code is cut after 100 characters', async () => {
  const { code, message } = (await errorFor(failure(400, { code: `${'x'.repeat(95)}${API_KEY}` }))) as FxRatesError;

  expect(code).toBe(`${'x'.repeat(95)}fx_li`);
  expect(message).not.toContain(API_KEY.slice(8));
});

test.each([
  ['no JSON', '<html></html>', 'The body is not JSON (HTTP 200, '],
  ['cut off', '{"success":true,"data":{', 'The body is not JSON'],
  ['empty', '', 'The body is empty'],
  ['two documents', '{"success":true,"data":{}}{}', 'The body is not JSON'],
  ['NaN', '{"success":true,"data":{"EUR":NaN}}', 'The body is not JSON'],
  ['null', 'null', 'the body'],
  ['a list', '[]', 'the body'],
  ['a text', '"OK"', 'the body'],
  ['without success', '{"data":{}}', 'success'],
  ['with a success that is a text', '{"success":"true","data":{}}', 'success'],
  ['without data', '{"success":true}', 'data'],
  ['with data that is null', '{"success":true,"data":null}', 'data'],
  ['with data that is a list', '{"success":true,"data":[]}', 'data'],
])('a 200 whose body is %s is a ResponseError', async (_, body, message) => {
  const error = await errorFor({ status: 200, body });

  expect(error).toBeInstanceOf(ResponseError);
  expect(error).toMatchObject({
    kind: 'response',
    status: 200,
    message: expect.stringContaining(message),
    bodyExcerpt: body,
    attempts: [{ status: 200, code: 'response' }],
  });
});

test.each([201, 202, 203, 206])('a success envelope of status %i may have any content type', async (status) => {
  const { fx } = testClient({ status, headers: { 'content-type': 'text/html' }, body: success({ EUR: 1 }).body });

  await expect(fx.latest()).resolves.toEqual({ EUR: 1 });
});

test.each([
  ['a field is missing', { monthly_used: undefined }, 'data.monthly_used'],
  ['a count is a text', { rate_limit_per_minute: '30' as never }, 'data.rate_limit_per_minute'],
  ['a count is a fraction', { historical_days: 1.5 }, 'data.historical_days'],
  ['a time is none', { resets_at: 'next month' }, 'data.resets_at'],
  ['a day is none', { resets_at: '2026-02-30T00:00:00.000Z' }, 'data.resets_at'],
])('rejects a quota record if %s', async (_, changes, place) => {
  const { fx } = testClient(success(quotaRecord(changes as never)));

  const error = await errorOf(fx.quota());

  expect(error).toMatchObject({ kind: 'response', message: expect.stringContaining(place) });
  expect((error as ResponseError).issues).not.toEqual([]);
});

test('an error shows only the beginning of a long body, message, redirect and content type', async () => {
  const long = 'x'.repeat(10_000);
  const body = (await errorFor({ status: 200, body: long })) as ResponseError;
  const others = await Promise.all([
    errorFor(failure(400, { message: long })),
    errorFor({ status: 302, headers: { location: long }, body: '' }),
    errorFor({ status: 200, headers: { 'content-type': long }, body: 'no JSON' }),
  ]);

  expect(body.bodyExcerpt).toBe('x'.repeat(200));
  for (const { summary } of others as FxRatesError[]) expect(summary.length).toBeLessThan(320);
});

test('a key that lies across the end of an excerpt is masked, wherever the excerpt cuts it', async () => {
  for (let before = 200 - API_KEY.length; before <= 200; before += 1) {
    const text = 'x'.repeat(before) + API_KEY;

    const said = (await errorFor({ status: 400, body: { message: text } })) as FxRatesError;

    expect(said.message).not.toContain(API_KEY.slice(0, 9));
    expect(said.bodyExcerpt).not.toContain(API_KEY.slice(0, 9));
  }
});

test('get() returns the data of any envelope', async () => {
  const { fx, fetch } = testClient({ body: { success: true, data: [1, 2], page: 1 } });

  await expect(fx.get('/api/v1/symbols', { query: { page: 1 } })).resolves.toEqual([1, 2]);
  expect(fetch.requests[0]?.url).toBe('https://fx.test/api/v1/symbols?page=1');
});

test.each([
  ['/api/v1/symbols', 'null'],
  ['/api/v1/symbols', '{}'],
  ['/api/v1/symbols', '{"success":true}'],
  ['/api/v1/symbols', '{"data":1}'],
  ['/api/v1/symbols', '[1]'],
  ['/api/v1/quota', '{"success":true,"data":{"plan":"free"}}'], // an endpoint of the contract
])('get(%j) rejects the body %s, which is not its envelope', async (path, body) => {
  const { fx } = testClient({ body });

  await expect(fx.get(path)).rejects.toMatchObject({ kind: 'response' });
});

test.each([
  [{ plan: 7 }, 'data.plan: Invalid input: expected string, received number'],
  [{ monthly_limit: [] }, 'data.monthly_limit: Invalid input'],
])('the message is in English in a program that gave zod another locale: %j', async (wrong, message) => {
  const before = z.config().localeError;
  onTestFinished(() => void z.config({ localeError: before }));
  z.config(z.locales.de());
  const { fx } = testClient(success({ ...quotaRecord(), ...wrong }));

  await expect(fx.quota()).rejects.toThrow(message);
});
