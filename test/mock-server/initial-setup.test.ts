import { expect, test } from 'vitest';
import { connectMockServer, createMockServer, type MockServer, type Setup } from '../../src/mock-server/index.ts';

const SETUP = `{
  "keys": [{ "plan": "developer", "usage": { "month": 7, "minute": 300 } }, { "plan": "unlimited" }, { "revoked": true }],
  "behaviour": { "quotaExhausted": "402 quota_exceeded" },
  "latest": [{ "USD": 1.10 }, { "USD": 1.20 }],
  "stubs": [{ "match": { "query": { "base": "XXX" } }, "data": { "base": 2.0 }, "times": 1 }],
  "faults": [
    { "kind": "status", "status": 503, "nth": 1, "match": { "query": { "slow": "1" } } },
    { "kind": "status", "status": 502, "match": { "keyId": "key_2", "query": { "down": "1" } } }
  ]
}`;

interface Target {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
}

async function bodyOf({ baseUrl, fetch }: Target, query: string, key = ''): Promise<string> {
  const response = await fetch(`${baseUrl}/api/v1/latest${query}`, { headers: { authorization: key } });
  return `${response.status} ${await response.text()}`;
}

/** The responses that show the whole setup, from the first request on. */
async function responsesOf(mock: MockServer): Promise<readonly string[]> {
  const [limited, second, revoked] = mock.setupKeys.map(({ key }) => key);
  const responses: string[] = [];
  for (const [query, key] of [
    ...[
      ['', limited],
      ['', revoked],
      ['', second],
      ['', second],
      ['?base=XXX', second],
      ['?base=XXX', second],
    ],
    ...[
      ['?slow=1', second],
      ['?slow=1', second],
      ['?down=1', second],
    ],
  ]) {
    responses.push((await bodyOf(mock, query ?? '', key)).replace(/"error":.*"code":"(\w+)".*/, '$1'));
  }
  return responses;
}

const RESPONSES = [
  expect.stringMatching(/^429 .*rate_limited/),
  expect.stringMatching(/^40[13] /),
  '200 {"success":true,"data":{ "USD": 1.10 }}',
  '200 {"success":true,"data":{ "USD": 1.20 }}',
  '200 {"success":true,"data":{ "base": 2.0 }}',
  '200 {"success":true,"data":{ "USD": 1.20 }}',
  expect.stringMatching(/^503 /),
  '200 {"success":true,"data":{ "USD": 1.20 }}',
  expect.stringMatching(/^502 /),
];

const summary = ({ accounts, keys, stubs, faults, behaviour }: MockServer) => ({
  plans: accounts.list().map(({ plan }) => plan),
  keys: keys.list().map(({ id, masked, state, month }) => [id, masked, state, month.used]),
  stubs: stubs.list(),
  faults: faults.list(),
  switches: behaviour.values,
});

test.each<[string, (mock: MockServer) => void | Promise<void>]>([
  ['mock.reset()', (mock) => mock.reset()],
  [
    'POST /__fxrates/reset',
    async (mock) => {
      await using server = await mock.serve();
      await connectMockServer(server.adminUrl).reset();
    },
  ],
])('%s restores the option setup, but not what was set up later', async (_, reset) => {
  const mock = createMockServer({ clock: { mode: 'virtual', autoAdvance: false }, setup: SETUP });
  const atStart = summary(mock);
  const keys = mock.setupKeys;
  expect(await responsesOf(mock)).toEqual(RESPONSES);
  mock.setUp({ keys: [{}], latest: {}, stubs: [{ data: 3 }], faults: [{ kind: 'hang' }] });
  mock.setUp({ behaviour: 'hostile' });
  mock.keys.revoke('key_1');
  await mock.clock.advance(3_600_000);

  await reset(mock);

  expect(summary(mock)).toEqual(atStart);
  expect(mock.setupKeys).toEqual(keys);
  expect(await responsesOf(mock)).toEqual(RESPONSES);
  expect([mock.stubs.add({ data: 1 }).id, mock.faults.add({ kind: 'hang' }).id]).toEqual(['stub_2', 'fault_3']);
});

test('a reset that keeps the keys restores the stubs and faults of the setup', async () => {
  const mock = createMockServer({ clock: 'virtual', setup: SETUP });
  mock.keys.setUsage(mock.createKey().id, { month: 9 });
  mock.stubs.clear();
  mock.faults.clear();

  mock.reset({ keepKeys: true });

  expect(mock.keys.list().map(({ month }) => month.used)).toEqual([0, 0, 0, 0]);
  expect(mock.keys.get('key_3').state).toBe('revoked');
  expect(mock.stubs.list().map(({ id }) => id)).toEqual(['latest', 'stub_1']);
  expect(mock.faults.list().map(({ id }) => id)).toEqual(['fault_1', 'fault_2']);
});

test('a space starts with the setup of its mock, without its keys, also after a reset', async () => {
  const mock = createMockServer({ clock: 'virtual', setup: SETUP });
  const space = mock.space();
  const send = (query: string) => bodyOf(space, query, space.key);

  for (const round of [1, 2]) {
    expect([round, space.keys.list().length, space.behaviour.values.quotaExhausted]).toEqual([
      ...[round, 1],
      '402 quota_exceeded',
    ]);
    expect(await send('?slow=1')).toMatch(/^503 /);
    expect([await send(''), await send('?down=1')]).toEqual([RESPONSES[3], RESPONSES[3]]);
    expect([await send('?base=XXX'), await send('?base=XXX')]).toEqual([RESPONSES[4], RESPONSES[3]]);
    space.reset();
  }
  expect(mock.journal.list()).toEqual([]);
});

test('the option behaviour overrides the switches of the setup, also after a reset', () => {
  const setup = { behaviour: { severalCredentials: 'refused', unlimitedAs: -1 } } as const;
  const mock = createMockServer({ setup, behaviour: { severalCredentials: 'header' } });
  const values = mock.behaviour.values;
  mock.setUp({ behaviour: 'hostile' });

  mock.reset();

  expect(values).toMatchObject({ severalCredentials: 'header', unlimitedAs: -1 });
  expect(mock.behaviour.values).toEqual(values);
});

test('a reset cannot fail because of the adapters in use', async () => {
  await using mock = createMockServer({ setup: { faults: [{ kind: 'garbage', match: { via: 'socket' } }] } });
  mock.listen();

  mock.reset();

  expect(mock.faults.list()).toMatchObject([{ kind: 'garbage' }]);
});

test('a fork has the setup and its keys', () => {
  const mock = createMockServer({ clock: { mode: 'virtual', frozen: true }, setup: SETUP });
  const atStart = summary(mock);
  mock.stubs.clear();

  const fork = mock.fork();
  expect([summary(fork), fork.setupKeys]).toEqual([summary(mock), mock.setupKeys]);
  fork.reset();

  expect(summary(fork)).toEqual(atStart);
});

test.each<[unknown, string, string]>([
  [[], 'setup is []; expected an object.', 'setup'],
  ['{', 'setup is "{"; expected a setup as JSON.', 'setup'],
  [{ stubs: [{ status: 99 }] }, 'setup.stubs[0].status is 99; expected', 'setup.stubs[0].status'],
  [{ behaviour: 'strict' }, 'setup.behaviour is "strict"; expected a preset', 'setup.behaviour'],
  [{ stub: [] }, 'setup.stub is not a field of a setup; did you mean stubs?', 'setup.stub'],
])('the option setup %j is refused', (setup, message, field) => {
  expect(() => createMockServer({ setup: setup as Setup })).toThrow(
    expect.objectContaining({ message: expect.stringContaining(message), field }),
  );
});

test('a setup can have faults that only a socket can reproduce; other adapters refuse them', async () => {
  await using mock = createMockServer({ setup: { keys: [{}], faults: [{ kind: 'garbage', times: 1 }] } });
  const { url } = await mock.serve();
  const key = mock.setupKeys[0]?.key ?? '';
  const ask = () => fetch(`${url}/api/v1/quota`, { headers: { authorization: key } });

  await expect(ask()).rejects.toThrow();
  expect((await ask()).status).toBe(200);
  mock.reset();
  await expect(ask()).rejects.toThrow();
  mock.reset();
  expect(() => mock.listen()).toThrow(expect.objectContaining({ code: 'fault_not_possible' }));
});
