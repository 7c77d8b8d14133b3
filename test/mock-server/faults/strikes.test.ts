import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createMockServer, type FaultConditions } from '../../../src/mock-server/index.ts';

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

test('snapshots contain faults and their counts; reset removes them', async () => {
  const { mock, isStruck } = newMock();
  mock.faults.add({ ...FIFTY_PERCENT, times: 20 });
  for (let request = 0; request < 10; request += 1) await isStruck();
  const saved = JSON.parse(JSON.stringify(mock.snapshot()));

  const rest = async () => {
    const struck = [];
    for (let request = 0; request < 30; request += 1) struck.push(await isStruck());
    return struck;
  };
  const first = await rest();
  mock.restore(saved);

  expect(await rest()).toEqual(first);
  mock.reset();
  expect(mock.faults.list()).toEqual([]);
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
