import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMockServer, type MockServer, type RuleOptions, recordedRules } from '../../../src/mock-server/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { mockWithKey, STILL, sender } from '../../helpers/mock-with-key.ts';

test.each<[unknown, RegExp]>([
  [undefined, /^rule is missing; expected an object\.$/],
  [{}, /^rule is \{\}; expected at least one of respond, delayMs, retryAfter, encoding, fail\.$/],
  [{ match: {}, times: 2 }, /^rule is .*; expected at least one of respond, /],
  [{ respond: {} }, /^respond is \{\}; expected data, error or body\.$/],
  [{ respond: [] }, /^respond is \[\]; expected a response, or several\.$/],
  [{ respond: 'x' }, /^respond is "x"; expected an object with status, headers, data, error or body\.$/],
  [{ respond: async () => ({}) }, /^respond is a function; expected a function that is not async\.$/],
  [{ respond: { status: 299 } }, /^respond is \{"status":299\}; expected data, error or body\.$/],
  [{ respond: { data: 1, body: 2 } }, /^respond is .*; expected at most one of data, error and body\.$/],
  [{ respond: { status: 99 } }, /^respond\.status is 99; expected an HTTP status from 200 to 599\.$/],
  [{ respond: { statuss: 200 } }, /^respond\.statuss is not a field of a response; did you mean status\? Valid /],
  [{ respond: [{ data: 1 }, { body: () => 1 }] }, /^respond\[1\]\.body is a function; expected a string or a value /],
  [{ respond: { error: { code: 5 } } }, /^respond\.error\.code is 5; expected text\.$/],
  [{ respond: { body: 'x', headers: { 'content-length': '7' } } }, /^respond\.headers is .* without content-length/],
  [{ respond: { body: 'x', headers: { x: 1.5 } } }, /^respond\.headers is \{"x":1\.5\}; expected .* whole numbers/],
  [{ respond: { body: 'x', headers: { x: 'b\nc' } } }, /^respond\.headers is .*; expected text of printable ASCII /],
  [{ respond: { status: 204, body: 'x' } }, /^respond is .*because a response with status 204 has none\.$/],
  [{ respond: { body: Buffer.from('hi') } }, /^respond\.body is .*; expected a string or a value that JSON/],
  [{ respond: { data: new Map([['a', 1]]) } }, /^respond\.data is \{\}; expected a string or a value that JSON/],
  [{ stub: 1, delayMs: 1 }, /^stub is not a field of a rule; valid names: id, match, nth, /],
  [{ delayMs: -1 }, /^delayMs is -1; expected whole milliseconds from 0, or \{ "min": 50, "max": 150 \}/],
  [{ delayMs: { min: 0.5, max: 4 } }, /^delayMs is .*; expected whole milliseconds from 0, or .*\.$/],
  [{ delayMs: { min: 1 } }, /^delayMs is \{"min":1\}; expected whole milliseconds from 0, or /],
  [{ delayMs: { min: 5, max: 3 } }, /^delayMs is \{"min":5,"max":3\}; expected whole milliseconds from 0, or /],
  [{ delayMs: { median: 80, sigma: 0.4 } }, /^delayMs is .*; expected whole milliseconds from 0, or /],
  [{ retryAfter: 1.5 }, /^retryAfter is 1\.5; expected a whole number, text such as "7", or \{ "absent": true \}\.$/],
  [{ delayMs: 1.5 }, /^delayMs is 1\.5; expected whole milliseconds from 0, or \{/],
  [{ delayMs: 1, afterMs: 1.5 }, /^afterMs is 1\.5; expected whole milliseconds from 0\.$/],
  [{ delayMs: 1, forMs: 0.5 }, /^forMs is 0\.5; expected whole milliseconds from 1\.$/],
  [{ retryAfter: '7\r\n' }, /^retryAfter is "7\\r\\n"; expected text of printable ASCII characters\.$/],
  [{ retryAfter: -1 }, /^retryAfter is -1; expected a whole number from 0\.$/],
  [{ respond: { body: 'x', headers: { x: [] } } }, /^respond\.headers is .*; expected at least one value\.$/],
  [{ encoding: 'zstd' }, /^encoding is "zstd"; expected 'gzip', 'deflate' or 'br'\.$/],
  [{ fail: { kind: 'explode' } }, /^fail\.kind is "explode"; expected one of hang, network-error, reset, truncate, /],
  [{ fail: 'hang' }, /^fail is "hang"; expected an object\.$/],
  [{ fail: { kind: 'hang', afterBytes: 1 } }, /^fail\.afterBytes is 1; expected no afterBytes with kind 'hang'\.$/],
  [{ fail: { kind: 'truncate' } }, /^fail\.afterBytes is missing; expected a whole number of bytes from 0\.$/],
  [{ fail: { kind: 'dribble' } }, /^fail\.intervalMs is missing; expected whole milliseconds from 0\.$/],
  [
    { fail: { kind: 'dribble', intervalMS: 3 } },
    /^fail\.intervalMS is not .* fail; did you mean intervalMs\? Valid names: kind, /,
  ],
  [{ counted: false, delayMs: 5 }, /^counted is false; expected respond or fail beside it/],
  [{ counted: false, fail: { kind: 'bad-json' } }, /^counted is false; expected respond beside it, because fail\.kind/],
  [{ counted: false, fail: { kind: 'reset', afterBytes: 1 } }, /^counted is false; expected respond beside it/],
  [{ match: { status: 429 }, respond: { data: 1 } }, /^match\.status is 429; expected no status with respond, because/],
  [{ match: { status: 1 }, counted: false, fail: { kind: 'hang' } }, /^match\.status is 1; expected no status with /],
  [{ match: { path: '/__fxrates/rules' }, delayMs: 1 }, /^match\.path is .*; expected a path of the emulated API/],
  [{ delayMs: 1, nth: 0 }, /^nth is 0; expected the position of a request/],
  [{ delayMs: 1, nth: [] }, /^nth is \[\]/],
  [{ delayMs: 1, times: 0 }, /^times is 0; expected a whole number of requests from 1/],
  [{ delayMs: 1, probability: 1.1 }, /^probability is 1.1; expected a number from 0 to 1/],
  [{ delayMs: 1, forMs: 0 }, /^forMs is 0/],
  [{ delayMs: 1, afterMs: -1 }, /^afterMs is -1/],
  [{ delayMs: 1, id: 'a b' }, /^id is "a b"/],
  [{ delayMs: 1, id: 'verify' }, /^id is "verify"; expected an id other than verify/],
  [{ delayMs: 1, id: `fx_live_${'a1b2c3d4'.repeat(6)}` }, /^id is (?!.*a1b2c3d4).*, not an API key/],
  [{ delayMs: 1, match: { operation: 'lates' } }, /^match.operation is "lates"; expected one of latest, /],
  [{ delayMs: 1, match: { keyId: 'key_9' } }, /^match.keyId is "key_9"; expected the id .*; there are no keys\.$/],
  [{ delayMs: 1, match: { url: '/' } }, /^match.url is not a field of match; valid names: operation/],
  [{ delayMs: 1, match: { query: { '*': 'EUR' } } }, /^match.query is .*; expected \{ "absent": true \} for "\*"/],
])('refuses %j and says why', (options, message) => {
  const mock = createMockServer();
  mock.rules.add({ delayMs: 0 });

  expect(() => mock.rules.add(options as RuleOptions)).toThrow(message);
  expect(mock.rules.list()).toHaveLength(1);
});

test('the rule added last counts; what it does not say, the next one or the service says', async () => {
  const { mock, send } = mockWithKey({ clock: 'virtual' });
  const start = mock.clock.now();
  mock.rules.add({ id: 'data', match: { operation: 'latest' }, respond: { data: 'data' }, delayMs: 5 });
  mock.rules.add({ id: 'late', delayMs: 60_000 });
  mock.rules.add({ id: 'coded', encoding: 'gzip' });

  expect((await send()).json()).toEqual({ success: true, data: 'data' });
  expect(mock.clock.now() - start).toBe(60_000);
  expect((await send('/api/v1/quota')).json().data).toMatchObject({ plan: 'free' });
  expect(mock.journal.list()).toMatchObject([
    {
      why: 'response of data; coded: gzip; late: 60000 ms late',
      rules: ['data', 'late', 'coded'],
      responseBody: '{"success":true,"data":"data"}',
    },
    { why: 'served; coded: gzip; late: 60000 ms late', rules: ['late', 'coded'] },
  ]);
});

test('mock.latest lies below all other rules, also below those that were added before it', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'first', match: { query: { base: 'GBP' } }, respond: { data: 'rule' } });
  mock.latest.set({ n: 'EUR' }, { base: 'EUR' });
  mock.latest.set({ n: 'all' });
  const data = async (base: string) => (await send(`/api/v1/latest?base=${base}`)).json().data;

  expect([await data('GBP'), await data('EUR'), await data('USD')]).toEqual(['rule', { n: 'EUR' }, { n: 'all' }]);
  expect(mock.rules.list().map(({ id }) => id)).toEqual(['latest', 'latest.EUR', 'first']);
});

test('a rule with the id of another one replaces it in its place, and starts again', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'a', respond: { status: 500 } });
  mock.rules.add({ id: 'b', respond: { status: 502 }, times: 1 });
  expect((await send()).status).toBe(502);
  expect((await send()).status).toBe(500);

  mock.rules.add({ id: 'a', respond: { status: 503 } });

  expect(mock.rules.list()).toMatchObject([
    { id: 'a', matched: 0, used: 0 },
    { id: 'b', matched: 2, used: 1 },
  ]);
  expect((await send()).status).toBe(503);
});

test('lists rules with their counts, removes one, removes all', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ match: { path: '/api/v1/quota' }, respond: { status: 500 }, times: 1 });
  mock.rules.add({ id: 'gone', nth: 9, fail: { kind: 'network-error' } });
  await send('/api/v1/quota');

  const added = { counted: true, addedAt: Date.UTC(2026, 0, 15), hasFunction: false };
  const body =
    '{"success":false,"error":{"code":"internal_server_error","message":"Internal Server Error","status":500}}';
  expect(mock.rules.list()).toEqual([
    {
      ...{ id: 'rule_1', match: { path: '/api/v1/quota' }, times: 1, matched: 1, used: 1, ...added },
      respond: [{ status: 500, headers: {}, body }],
    },
    { ...{ id: 'gone', match: {}, nth: 9, fail: { kind: 'network-error' }, matched: 1, used: 0, ...added } },
  ]);
  mock.rules.remove('rule_1');
  expect(() => mock.rules.remove('rule_1')).toThrow('Rule "rule_1" does not exist; the only rule is gone.');
  mock.rules.clear();
  expect(mock.rules.list()).toEqual([]);
});

test('later changes to the options or the result do not change a rule', () => {
  const mock = createMockServer();
  const nth = [1];
  const rule = mock.rules.add({ delayMs: 1, nth });

  nth.push(2);
  (rule.nth as number[]).push(3);

  expect(mock.rules.list()).toMatchObject([{ nth: [1] }]);
});

test.each<[string, (mock: MockServer) => unknown]>([
  ['a reset', (mock) => mock.reset()],
  ['a restored snapshot', (mock) => mock.restore(createMockServer().snapshot())],
  ['another rule with its id', (mock) => mock.rules.add({ id: 'a', respond: { status: 503 } })],
  ['its removal', (mock) => mock.rules.remove('a')],
  ['the removal of all rules', (mock) => mock.rules.clear()],
])('%s ends the requests that a rule lets hang', async (_, act) => {
  const mock = createMockServer();
  mock.rules.add({ id: 'a', fail: { kind: 'hang' } });
  let outcome = 'waits';
  mock.fetch(`${mock.baseUrl}/api/v1/quota`).catch(() => {
    outcome = 'failed';
  });
  await quiet();
  expect(outcome).toBe('waits');

  act(mock);
  await quiet();

  expect(outcome).toBe('failed');
});

test.each<[string, (mock: MockServer) => unknown]>([
  ['its removal', (mock) => mock.rules.remove('a')],
  ['the removal of all rules', (mock) => mock.rules.clear()],
  ['another rule with its id', (mock) => mock.rules.add({ id: 'a', respond: { status: 503 } })],
  ['a reset', (mock) => mock.reset()],
  ['a restored snapshot', (mock) => mock.restore(createMockServer().snapshot())],
])('%s while a request is handled ends the hang of that request', async (_, act) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'a', fail: { kind: 'hang' } });
  const respond = () => {
    act(mock);
    return { data: {} };
  };
  mock.rules.add({ respond, times: 1 });
  let outcome = 'waits';
  send().catch(() => {
    outcome = 'failed';
  });

  await quiet();

  expect(outcome).toBe('failed');
});

test('rejects a request through mock.fetch to which a rule for sockets would apply', async () => {
  await using mock = createMockServer();
  await mock.serve();
  mock.rules.add({ fail: { kind: 'malformed-chunk' } });

  await expect(mock.fetch(`${mock.baseUrl}/api/v1/quota`)).rejects.toMatchObject({
    name: 'MockServerError',
    code: 'rule_not_possible',
  });
});

const DOWN = { respond: { status: 500 } } as const;

test.each<[RuleOptions, number[]]>([
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ nth: 2 }, [2]],
  [{ nth: [1, 4] }, [1, 4]],
  [{ times: 2 }, [1, 2]],
  [{ nth: [2, 3, 5], times: 2 }, [2, 3]],
  [{ probability: 0 }, []],
  [{ probability: 1 }, [1, 2, 3, 4, 5, 6]],
  [{ counted: false, nth: 3 }, [3]],
])('with %j it applies to the requests %j', async (conditions, expected) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ ...DOWN, ...conditions });
  const struck: number[] = [];
  for (let request = 1; request <= 6; request += 1) if ((await send()).status === 500) struck.push(request);

  expect(struck).toEqual(expected);
});

test('nth counts requests that match, also those that a newer rule or a refusal answers', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'second', nth: 2, respond: { status: 502 } });
  mock.rules.add({ id: 'first', nth: 1, respond: { status: 503 } });

  expect([(await send()).status, (await send()).status, (await send()).status]).toEqual([503, 502, 200]);
  mock.rules.add({ id: 'second', nth: 2, respond: { status: 502 } });
  await send('/api/v1/latest', { headers: {} }); // 401
  expect((await send()).status).toBe(502);
});

test('times counts requests for which the rule did something: not those that the service refused', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ times: 1, respond: { status: 503 } });

  expect((await send('/api/v1/latest', { headers: {} })).status).toBe(401);
  expect((await send()).status).toBe(503);
  expect(mock.rules.get('rule_1')).toMatchObject({ matched: 2, used: 1 });
});

test('applies to exactly as many simultaneous requests as times allows', async () => {
  const { mock, send } = mockWithKey({ plan: 'unlimited' });
  mock.rules.add({ ...DOWN, times: 7, delayMs: 5 });
  const sent = Promise.all(Array.from({ length: 200 }, () => send()));
  await mock.clock.advance(5);

  expect((await sent).filter(({ status }) => status === 500)).toHaveLength(7);
  expect(mock.rules.list()).toMatchObject([{ matched: 200, used: 7 }]);
});

test('applies to and counts only the requests that match', async () => {
  const { mock, send: sendOther } = mockWithKey();
  const { id: keyId, key } = mock.createKey();
  const send = sender(mock, key);
  mock.rules.add({ ...DOWN, match: { keyId, path: '/api/*/latest', method: 'GET' }, nth: 2 });

  const others = [await send(), await sendOther(), await send('/api/v1/quota')];
  others.push(await send('/api/v1/latest', { method: 'POST' }));

  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 405]);
  expect((await send()).status).toBe(500);
});

test('applies from afterMs on, until forMs later', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ afterMs: fc.integer({ min: 0, max: 50_000 }), forMs: fc.integer({ min: 1, max: 50_000 }) }),
      fc.array(fc.integer({ min: 0, max: 30_000 })),
      async ({ afterMs, forMs }, steps) => {
        const { mock, send } = mockWithKey({ plan: 'unlimited' });
        mock.rules.add({ ...DOWN, afterMs, forMs });
        for (const step of steps) {
          const passed = (await mock.clock.advance(step)) - Date.UTC(2026, 0, 15);
          expect((await send()).status === 500).toBe(passed >= afterMs && passed < afterMs + forMs);
        }
      },
    ),
    { numRuns: 30, examples: [[{ afterMs: 0, forMs: 1000 }, [999, 1]]] },
  );
});

test('the seed determines to which requests a probability applies, in any order of the keys', async () => {
  const order = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 40 }), order, async (seed, keys) => {
      const outcomes = async (requests: readonly number[]) => {
        const mock = createMockServer({ seed, clock: STILL });
        const keys = [1, 2, 3].map(() => sender(mock, mock.createKey({ plan: 'unlimited' }).key));
        mock.rules.add({ ...DOWN, probability: 0.5 });
        const ofKey: number[][] = [[], [], []];
        for (const key of requests) ofKey[key]?.push((await keys[key]!()).status);
        return ofKey;
      };

      expect(await outcomes(keys)).toEqual(await outcomes(keys.toSorted((one, other) => one - other)));
    }),
    { numRuns: 30 },
  );
});

test('a probability applies to its share of many requests', async () => {
  const { mock, send } = mockWithKey({ seed: 7, plan: 'unlimited' });
  mock.rules.add({ ...DOWN, probability: 0.2 });

  let struck = 0;
  for (let request = 0; request < 1000; request += 1) struck += (await send()).status === 500 ? 1 : 0;

  // Three standard deviations around 200; the seed is fixed.
  expect(struck).toBeGreaterThan(162);
  expect(struck).toBeLessThan(238);
});

test('a counted response replaces only what the service serves: its own refusals stay', async () => {
  const { mock, send, id } = mockWithKey();
  mock.rules.add({ match: { operation: 'latest' }, respond: { data: {} } });
  expect((await send('/api/v1/latest', { headers: {} })).status).toBe(401);
  expect((await send('/api/v1/latest', { method: 'POST' })).status).toBe(405);

  for (let request = 0; request < 30; request += 1) await send();

  expect((await send()).status).toBe(429);
  expect(mock.keys.get(id).month.used).toBe(30);
  expect(mock.rules.list()).toMatchObject([{ used: 30 }]);
});

test('delays, Retry-After, coding and failures apply to every response, also to refusals', async () => {
  const { mock, send } = mockWithKey({ clock: 'virtual' });
  mock.rules.add({ match: { status: 401 }, fail: { kind: 'network-error' } });
  mock.rules.add({ match: { code: 'not_found' }, retryAfter: '9' });

  await expect(send('/api/v1/latest', { headers: {} })).rejects.toThrow();
  expect((await send('/nothing')).headers.get('retry-after')).toBe('9');
  expect((await send()).headers.get('retry-after')).toBe(null);
  expect(mock.journal.list().map(({ rules }) => rules)).toEqual([['rule_1'], ['rule_2'], []]);
});

test.each<[RuleOptions, string | null]>([
  [{ retryAfter: '-5' }, '-5'],
  [{ retryAfter: 7 }, '7'],
  [{ retryAfter: { absent: true } }, null],
  [{ delayMs: 0 }, '60'],
])('with %j the refusal of the minute has Retry-After %s, and served responses have none', async (rule, value) => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add(rule);
  expect((await send()).headers.get('retry-after')).toBe(null);
  mock.keys.setUsage(id, { minute: 30 });

  expect((await send()).headers.get('retry-after')).toBe(value);
});

test.each<[what: string, retryAfter: string, counted: boolean, then?: (mock: MockServer, id: string) => void]>([
  ['the service', '10', true],
  ['the network', '10', false],
  ['the network, as an HTTP date', 'Thu, 15 Jan 2026 00:00:10 GMT', false],
  ['the service, whose key was revoked then', '10', true, (mock, id) => mock.keys.revoke(id)],
])('a request before the end of a Retry-After of %s is early', async (_, retryAfter, counted, then) => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ counted, respond: { status: 503, headers: { 'retry-after': retryAfter } } });
  await send();
  then?.(mock, id);
  await mock.clock.advance(4000);

  await send();
  await mock.clock.advance(10_000);
  await send();

  expect(mock.audit().earlyRetries).toMatchObject([{ number: 2, keyId: id, earlyByMs: 6000 }]);
});

test('a client must obey the Retry-After that it received, not one that a rule removed', async () => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ respond: { status: 503, headers: { 'retry-after': '10' } }, nth: 1 });
  await send();
  await mock.clock.advance(4000);
  await send();

  expect(mock.audit().earlyRetries).toMatchObject([{ number: 2, earlyByMs: 6000 }]);

  await mock.clock.advance(6000);
  mock.rules.add({ id: 'silent', retryAfter: { absent: true } });
  mock.keys.setUsage(id, { minute: 30 });
  for (let request = 0; request < 2; request += 1) await send();

  expect(mock.journal.list({ status: 429, rule: 'silent' })).toHaveLength(2);
  expect(mock.audit().earlyRetries).toHaveLength(1);
});

test('a rule with data and without an operation or a path is for latest, and never for quota', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ respond: { data: { rates: {} } } });

  expect((await send()).json()).toEqual({ success: true, data: { rates: {} } });
  expect((await send('/api/v1/quota')).json().data).toMatchObject({ plan: 'free' });
  expect(mock.rules.list()).toMatchObject([{ match: { operation: 'latest' } }]);
});

test('a rule responds for a path and a method that the service does not have', async () => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ match: { path: '/api/v1/no-operation' }, respond: { data: { amount: 5 } } });
  mock.rules.add({
    match: { path: '/api/v1/no-alerts', method: 'POST', body: /EUR/ },
    respond: { status: 201, data: { id: 1 } },
  });

  expect((await send('/api/v1/no-operation?from=EUR')).status).toBe(200);
  expect((await send('/api/v1/no-alerts', { method: 'POST', body: '{"base":"EUR"}' })).status).toBe(201);
  expect((await send('/api/v1/no-alerts', { method: 'POST', body: '{"base":"USD"}' })).status).toBe(404);
  expect((await send('/api/v1/no-operation', { method: 'DELETE' })).status).toBe(404);
  const { minute, month } = mock.keys.get(id);
  expect([minute.used, month.used]).toEqual([2, 0]);
  expect(mock.audit().unknownRoutes).toHaveLength(2);
});

test.each(['POST', 'DELETE', 'OPTIONS'])('a rule for %s of an operation counts in the minute alone', async (method) => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ match: { path: '/api/v1/latest', method }, respond: { data: {} } });

  expect((await send('/api/v1/latest', { method })).status).toBe(200);
  const { minute, month } = mock.keys.get(id);
  expect([minute.used, month.used]).toEqual([1, 0]);
});

test('a rule that is not counted responds to any method, without a key', async () => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ counted: false, respond: { status: 502, body: '<html>' } });

  expect((await send('/api/v1/latest', { method: 'POST', headers: {} })).status).toBe(502);
  expect((await send('/nothing')).text).toBe('<html>');
  expect([mock.keys.get(id).minute.used, mock.audit().unknownRoutes]).toEqual([0, []]);
  expect(mock.journal.list()).toMatchObject([
    { why: 'response of rule_1', rate: undefined, rules: ['rule_1'] },
    { why: 'response of rule_1', keyId: id },
  ]);
});

test.each([
  [true, 1],
  [false, 0],
])('a network error with counted: %s uses %i requests of the month', async (counted, used) => {
  const { mock, id, send } = mockWithKey();
  mock.rules.add({ fail: { kind: 'network-error' }, counted });

  await expect(send()).rejects.toThrow();

  expect(mock.keys.get(id).month.used).toBe(used);
});

test('a failure in place of the service is not replaced by that of a newer rule, which looks at the response', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ counted: false, fail: { kind: 'network-error' } });
  mock.rules.add({ respond: { data: {} } });
  mock.rules.add({ match: { status: 200 }, fail: { kind: 'bad-json' } });

  await expect(send('/api/v1/latest')).rejects.toThrow();
  expect(mock.journal.list()).toMatchObject([{ status: 0, rules: ['rule_1'], quota: undefined }]);
});

test.each<[string, RuleOptions]>([
  ['fails in the network', { fail: { kind: 'network-error' } }],
  ['gets a damaged response of the network', { respond: { status: 502 }, fail: { kind: 'bad-json' } }],
])('a request that %s does not use up a response in place of the service', async (_, failure) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ ...failure, id: 'down', counted: false, times: 1 });
  mock.rules.add({ id: 'busy', respond: { status: 503 }, times: 1 });

  await send().catch(() => undefined);
  const { status } = await send();

  expect(status).toBe(503);
  expect(mock.journal.list()).toMatchObject([{ rules: ['down'] }, { rules: ['busy'] }]);
});

test('a failure of the network uses up no response that a later rule overrides', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'below', respond: { status: 503 }, counted: false, times: 1 });
  mock.rules.add({ id: 'above', respond: { data: 1 } });
  mock.rules.add({ id: 'down', fail: { kind: 'network-error' }, counted: false, times: 1 });

  await send().catch(() => undefined);

  expect(mock.rules.list().map(({ id, used }) => [id, used])).toEqual([
    ['below', 0],
    ['above', 0],
    ['down', 1],
  ]);
});

test('a request that nearly matches a rule says so in its reason', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ match: { query: { base: 'EUR' } }, respond: { data: 1 } });

  for (const base of ['eur', 'USD', 'EUR']) await send(`/api/v1/latest?base=${base}`);

  expect(mock.journal.list().map(({ why }) => why)).toEqual([
    "served; rule_1 differs in query.base: 'eur', expected 'EUR'",
    'served',
    'response of rule_1',
  ]);
});

test('expectAllUsed() names the rules that no request used, with the requests that matched', async () => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'typo', match: { query: { bse: 'EUR' } }, respond: { data: 1 } });
  mock.rules.add({ id: 'refused', respond: { data: 1 } });
  mock.setUp({ rules: recordedRules('{"base=EUR":{},"base=USD":{}}') });
  mock.rules.add({ id: 'used', delayMs: 0 });
  await send('/api/v1/latest', { headers: {} });

  expect(() => mock.expectAllUsed()).toThrow(
    expect.objectContaining({
      code: 'unused_rules',
      message: expect.stringMatching(
        /^Expected requests for every rule, but none used typo, refused\.\n {2}typo matched 0 requests: .*"bse":"EUR".*\n {2}refused matched 1 requests: /,
      ),
    }),
  );
  mock.rules.remove('typo');
  await send();
  mock.expectAllUsed();
});

test('an unknown id of a rule in a filter is an error; that of a removed rule is not', async () => {
  const { mock } = mockWithKey();
  const { id } = mock.rules.add({ delayMs: 0 });
  mock.rules.remove(id);

  mock.expectRequests({ rule: id }).toHaveCount(0);
  expect(() => mock.expectRequests({ rule: 'rule_2' }).toHaveCount(0)).toThrow(
    'filter.rule is "rule_2"; expected the id of a rule of this mock; the only rule is rule_1.',
  );
  mock.reset();
  expect(() => mock.journal.list({ rule: id })).toThrow('expected the id of a rule of this mock; there are no rules.');
});

test.each<[string, (mock: MockServer) => unknown]>([
  ['removed', (mock) => mock.rules.remove('late')],
  ['replaced', (mock) => mock.rules.add({ id: 'late', match: { path: '/other' }, delayMs: 1 })],
])('the journal names a rule that was %s while its request waited', async (_, change) => {
  const { mock, send } = mockWithKey();
  mock.rules.add({ id: 'late', delayMs: 5000 });
  const sent = send();

  change(mock);
  await mock.clock.advance(5000);

  expect((await sent).status).toBe(200);
  expect(mock.journal.list({ rule: 'late' })).toMatchObject([{ rules: ['late'], status: 200 }]);
});
