import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  connectMockServer,
  createMockServer,
  type FaultConditions,
  type FaultOptions,
  type MockServer,
} from '../../../src/mock-server/index.ts';
import { quiet } from '../../helpers/fake-clock.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

test.each<[unknown, RegExp]>([
  [undefined, /^fault is undefined; expected an object with a kind/],
  [{ kind: 'explode' }, /^kind is "explode"; expected one of latency, hang, status/],
  [{ kind: 'latency' }, /^latencyMs is undefined; expected milliseconds from 0/],
  [{ kind: 'latency', latencyMs: -1 }, /^latencyMs is -1/],
  [
    { kind: 'latency', latencyMS: 5 },
    /^latencyMS is not a setting of a latency fault; did you mean latencyMs\? Valid names: id, match, .*latencyMs/,
  ],
  [{ kind: 'retry-after', retryAfter: 7 }, /^retryAfter is 7; expected text such as '7'\.$/],
  [{ kind: 'retry-after', retryAfter: '7\r\n' }, /^retryAfter is .*; expected text such as '7'\.$/],
  [{ kind: 'hang', status: 500 }, /^status is not a setting of a hang fault/],
  [{ kind: 'status', status: 99 }, /^status is 99; expected an HTTP status from 200 to 599/],
  [{ kind: 'status', status: 500, headers: { 'content-length': '3' } }, /^headers is .* without content-length/],
  [{ kind: 'status', status: 500, headers: { Trailer: 'x-a' } }, /^headers is/],
  [{ kind: 'status', status: 204, body: 'x' }, /^body is "x"; expected no body, because a response with status 204 /],
  [{ kind: 'status', status: 500, headers: JSON.parse('{"__proto__":"x"}') }, /^headers is .* other than __proto__/],
  [{ kind: 'status', status: 503, code: 'x', body: '{}' }, /^code is "x"; expected either code or body/],
  [{ kind: 'truncate', afterBytes: 1.5 }, /^afterBytes is 1.5; expected a whole number of bytes from 0/],
  [
    { kind: 'truncate', afterBytes: 1, strikes: 'before' },
    /^strikes is "before"; expected 'after', because a truncate fault changes/,
  ],
  [
    { kind: 'reset', afterBytes: 1, strikes: 'before' },
    /^afterBytes is 1; expected no afterBytes with strikes: 'before'/,
  ],
  [{ kind: 'hang', match: { status: 429 }, strikes: 'before' }, /^match.status is 429/],
  [{ kind: 'hang', strikes: 'during' }, /^strikes is "during"; expected 'before' or 'after'/],
  [{ kind: 'hang', nth: 0 }, /^nth is 0; expected the position of a request/],
  [{ kind: 'hang', nth: [] }, /^nth is \[\]/],
  [{ kind: 'hang', times: 0 }, /^times is 0/],
  [{ kind: 'hang', probability: 1.1 }, /^probability is 1.1; expected a number from 0 to 1/],
  [{ kind: 'hang', forMs: 0 }, /^forMs is 0/],
  [{ kind: 'hang', id: 'a b' }, /^id is "a b"/],
  [{ kind: 'hang', match: { operation: 'lates' } }, /^match.operation is "lates"; expected one of latest, /],
  [{ kind: 'hang', match: { keyId: 'key_9' } }, /^match.keyId is "key_9"; expected the id of a key of this mock/],
  [{ kind: 'hang', match: { via: 'pigeon' } }, /^match.via is "pigeon"; expected some of fetch, msw, socket/],
  [{ kind: 'hang', match: { url: '/' } }, /^match.url is not a field of match; valid names: operation/],
])('refuses %j and says why', (options, message) => {
  const mock = createMockServer();
  mock.faults.add({ kind: 'hang' });

  expect(() => mock.faults.add(options as FaultOptions)).toThrow(message);
  expect(mock.faults.list()).toHaveLength(1);
});

test('lists faults with their counts, removes one, removes all', async () => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false } });
  mock.faults.add({ kind: 'status', status: 500, match: { path: '/api/v1/quota' } });
  mock.faults.add({ kind: 'network-error', id: 'gone', nth: 9 });

  await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(mock.faults.list()).toEqual([
    {
      kind: 'status',
      status: 500,
      match: { path: '/api/v1/quota' },
      id: 'fault_1',
      strikes: 'after',
      addedAt: Date.UTC(2026, 0, 15),
      matched: 1,
      struck: 1,
    },
    {
      kind: 'network-error',
      id: 'gone',
      nth: 9,
      strikes: 'after',
      addedAt: Date.UTC(2026, 0, 15),
      matched: 1,
      struck: 0,
    },
  ]);
  mock.faults.remove('fault_1');
  expect(mock.faults.list().map(({ id }) => id)).toEqual(['gone']);
  expect(() => mock.faults.remove('fault_1')).toThrow(
    /Fault "fault_1" does not exist or has expired; the only fault is gone\./,
  );
  mock.faults.clear();
  expect(mock.faults.list()).toEqual([]);
});

test('later changes to the options or the result do not change a fault', () => {
  const mock = createMockServer();
  const nth = [1];
  const fault = mock.faults.add({ kind: 'hang', nth });

  nth.push(2);
  (fault.nth as number[]).push(3);

  expect(mock.faults.list()).toMatchObject([{ nth: [1] }]);
});

test.each<[string, (mock: MockServer) => unknown]>([
  ['a reset', (mock) => mock.reset()],
  ['a restored snapshot', (mock) => mock.restore(createMockServer().snapshot())],
  ['another fault with its id', (mock) => mock.faults.add({ id: 'a', kind: 'status', status: 503 })],
])('%s ends the requests that a hang fault blocks', async (_, act) => {
  const mock = createMockServer();
  mock.faults.add({ id: 'a', kind: 'hang' });
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

test('rejects a request through mock.fetch that a socket fault would strike', async () => {
  await using mock = createMockServer();
  await mock.serve();
  mock.faults.add({ kind: 'garbage' });

  await expect(mock.fetch(`${mock.baseUrl}/api/v1/quota`)).rejects.toMatchObject({
    name: 'MockServerError',
    code: 'fault_not_possible',
  });
});

test('of two status faults, the journal has the code of the last one, as the client does', async () => {
  const mock = createMockServer();
  mock.faults.add({ kind: 'status', status: 500, code: 'broken' });
  mock.faults.add({ kind: 'status', status: 503, code: 'maintenance' });

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(await response.json()).toMatchObject({ error: { code: 'maintenance', status: 503 } });
  expect(mock.journal.list()).toMatchObject([{ code: 'maintenance', status: 503, faults: ['fault_1', 'fault_2'] }]);
});

test.each([
  [{ body: '{"error":"maintenance"}' }, 'application/json'],
  [{ body: '{}', headers: { 'content-type': 'application/problem+json' } }, 'application/problem+json'],
])('the body of a status fault with %j has the content type %s', async (settings, type) => {
  const mock = createMockServer();
  mock.faults.add({ kind: 'status', status: 502, ...settings });

  const { headers } = await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(headers.get('content-type')).toBe(type);
});

test.each<FaultOptions>([
  { kind: 'status', status: 503, headers: { 'x-tag': 'a' }, times: 2, match: { query: { base: /^eur$/i } } },
  { kind: 'latency', latencyMs: { min: 1, max: 2 }, strikes: 'before', forMs: 1000, nth: [1, 2] },
])('a fault that was read can be added again, in process and over HTTP: $kind', async (options) => {
  const setting = { seed: 1, clock: { mode: 'virtual', autoAdvance: false } } as const;
  await using mock = createMockServer(setting);
  const remote = connectMockServer((await mock.serve()).adminUrl);
  const added = mock.faults.add(options);

  expect(createMockServer(setting).faults.add(added)).toEqual(added);
  expect(createMockServer({ ...setting, setup: { faults: [added] } }).faults.list()).toEqual([added]);
  const [read] = await remote.faults.list();
  mock.faults.clear();
  expect(await remote.faults.add(read!)).toEqual(added);
});

test('a fault with the id of another one replaces it, starts again and strikes last', async () => {
  const { mock, send: ask } = mockWithKey();
  mock.faults.add({ id: 'a', kind: 'status', status: 500 });
  mock.faults.add({ id: 'b', kind: 'status', status: 502 });
  expect((await ask()).status).toBe(502);

  mock.faults.add({ id: 'a', kind: 'status', status: 503, times: 1 });

  expect(mock.faults.list()).toMatchObject([
    { id: 'b', struck: 1 },
    { id: 'a', status: 503, struck: 0 },
  ]);
  expect((await ask()).status).toBe(503);
});

const FIFTY_PERCENT = { kind: 'status', status: 500, probability: 0.5 } as const;

/** A mock with some keys, and a function that returns whether a fault strikes a request of one of them. */
function newMock({ seed = 1, keys = 1 } = {}) {
  const mock = createMockServer({ seed, clock: { mode: 'virtual', autoAdvance: false }, journalSize: 2000 });
  const created = Array.from({ length: keys }, () => mock.createKey({ plan: 'unlimited' }));
  const isStruck = async (index = 0, path = '/api/v1/latest?symbols=EUR', method = 'GET') => {
    const headers = { authorization: created[index]?.key ?? '' };
    return (await mock.fetch(mock.baseUrl + path, { method, headers })).status === 500;
  };
  return { mock, ids: created.map(({ id }) => id), isStruck };
}

async function strikesOf(conditions: FaultConditions, requests: number): Promise<number[]> {
  const { mock, isStruck } = newMock();
  mock.faults.add({ kind: 'status', status: 500, ...conditions });
  const struck: number[] = [];
  for (let request = 1; request <= requests; request += 1) if (await isStruck()) struck.push(request);
  return struck;
}

test.each<[FaultConditions, number[]]>([
  [{}, [1, 2, 3, 4, 5, 6]],
  [{ nth: 2 }, [2]],
  [{ nth: [1, 4] }, [1, 4]],
  [{ times: 2 }, [1, 2]],
  [{ nth: [2, 3, 5], times: 2 }, [2, 3]],
  [{ probability: 0 }, []],
  [{ probability: 1 }, [1, 2, 3, 4, 5, 6]],
  [{ strikes: 'before', nth: 3 }, [3]],
])('with %j it strikes the requests %j', async (conditions, expected) => {
  expect(await strikesOf(conditions, 6)).toEqual(expected);
});

test('strikes exactly as many simultaneous requests as times allows', async () => {
  const { mock, isStruck } = newMock();
  mock.faults.add({ kind: 'status', status: 500, times: 7 });

  const struck = await Promise.all(Array.from({ length: 200 }, () => isStruck()));

  expect(struck.filter(Boolean)).toHaveLength(7);
  expect(mock.faults.list()).toMatchObject([{ id: 'fault_1', matched: 200, struck: 7 }]);
});

test('strikes and counts only the requests that match', async () => {
  const { mock, ids, isStruck } = newMock({ keys: 2 });
  const [, second] = ids;
  mock.faults.add({
    kind: 'status',
    status: 500,
    match: { keyId: second, path: '/api/*/latest', method: 'GET' },
    nth: 2,
  });

  const struck = [];
  for (const [key, path, method] of [
    [1, '/api/v1/latest'],
    [0, '/api/v1/latest'],
    [1, '/api/v1/quota'],
    [1, '/api/v1/latest', 'POST'],
    [1, '/api/v1/latest'],
  ] as const) {
    struck.push(await isStruck(key, path, method));
  }

  expect(struck).toEqual([false, false, false, false, true]);
});

test('can match the status of the response', async () => {
  const { mock, isStruck } = newMock();
  mock.faults.add({ kind: 'status', status: 500, match: { status: 404 } });

  expect([await isStruck(), await isStruck(0, '/nothing')]).toEqual([false, true]);
});

test('expires at the end of forMs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 100_000 }),
      fc.array(fc.integer({ min: 0, max: 30_000 })),
      async (forMs, steps) => {
        const { mock, isStruck } = newMock();
        mock.faults.add({ kind: 'status', status: 500, forMs });
        let passed = 0;
        for (const step of steps) {
          passed = (await mock.clock.advance(step)) - Date.UTC(2026, 0, 15);
          expect(await isStruck()).toBe(passed < forMs);
        }
        expect(mock.faults.list()).toHaveLength(passed < forMs ? 1 : 0);
      },
    ),
    { numRuns: 30, examples: [[1000, [999, 1]]] },
  );
});

test('the seed determines which requests a probability strikes, in any order of the keys', async () => {
  const order = fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 40 }), order, async (seed, keys) => {
      const outcomes = async (requests: readonly number[]) => {
        const { mock, isStruck } = newMock({ seed, keys: 3 });
        mock.faults.add(FIFTY_PERCENT);
        const ofKey: boolean[][] = [[], [], []];
        for (const key of requests) ofKey[key]?.push(await isStruck(key));
        return ofKey;
      };

      expect(await outcomes(keys)).toEqual(await outcomes(keys.toSorted((one, other) => one - other)));
    }),
    { numRuns: 30 },
  );
});

test('a probability strikes its share of many requests', async () => {
  const { mock, isStruck } = newMock({ seed: 7 });
  mock.faults.add({ kind: 'status', status: 500, probability: 0.2 });

  let struck = 0;
  for (let request = 0; request < 1000; request += 1) struck += (await isStruck()) ? 1 : 0;

  // Three standard deviations around 200; the seed is fixed.
  expect(struck).toBeGreaterThan(162);
  expect(struck).toBeLessThan(238);
});

test('several faults strike a request in the order in which they were added', async () => {
  const { mock } = newMock();
  mock.faults.add({ kind: 'status', status: 200, body: '{"rates":[1,2]}', id: 'other' });
  mock.faults.add({ kind: 'bad-json', id: 'half' });
  mock.faults.add({ kind: 'hang', id: 'never', match: { path: '/nothing' } });

  const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`);

  expect(await response.text()).toBe('{"rates');
  expect(mock.journal.list()).toMatchObject([{ status: 200, faults: ['other', 'half'] }]);
});

test('a client must obey the Retry-After that it received, not one that a fault removed', async () => {
  const { mock, isStruck } = newMock();
  mock.faults.add({ kind: 'status', status: 503, headers: { 'retry-after': '10' }, nth: 1 });
  await isStruck();
  await mock.clock.advance(4000);
  await isStruck();

  expect(mock.audit().earlyRetries).toMatchObject([{ number: 2, earlyByMs: 6000 }]);

  await mock.clock.advance(6000);
  mock.faults.add({ kind: 'retry-after' });
  for (let request = 0; request < 1002; request += 1) await isStruck();

  expect(mock.journal.list({ status: 429, fault: 'fault_2' }).length).toBeGreaterThan(1);
  expect(mock.audit().earlyRetries).toHaveLength(1);
});

test.each([204, 205, 304])(
  'a fault with status %i has no code in the journal, because it has no body',
  async (status) => {
    const mock = createMockServer({ clock: 'virtual' });
    mock.faults.add({ kind: 'status', status });

    await mock.fetch(`${mock.baseUrl}/api/v1/latest`);

    expect(mock.journal.list()).toMatchObject([{ status, code: undefined }]);
  },
);

test('a fault can set several cookies', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  mock.faults.add({ kind: 'status', status: 503, headers: { 'Set-Cookie': ['a=1', 'b=2'], 'X-Tag': 'one' } });

  const { headers } = await mock.fetch(`${mock.baseUrl}/api/v1/latest`);

  expect([headers.getSetCookie(), headers.get('x-tag')]).toEqual([['a=1', 'b=2'], 'one']);
});
