import * as undici from 'undici';
import { expect, test, vi } from 'vitest';
import { FxRates, type FxRatesOptions } from '../../../src/client/index.ts';
import { createMockServer, type MockServer, type Space } from '../../../src/mock-server/index.ts';
import { servedMock } from '../../helpers/served-mock.ts';

const START = Date.UTC(2026, 0, 15);

/** Requests the quota, which is limited and shows the usage, and the latest rates. */
type Call = (
  key: string,
  path: string,
) => Promise<{ readonly status: number; readonly headers: Headers; text(): Promise<string> }>;

function inProcess(mock: MockServer): Call {
  return (key, path) => mock.fetch(mock.baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
}

function over(url: string, dispatcher: undici.Dispatcher): Call {
  return async (key, path) => {
    const response = await undici.request(url + path, { dispatcher, headers: { authorization: `Bearer ${key}` } });
    const text = await response.body.text();
    const headers = new Headers(response.headers as Record<string, string>);
    return { status: response.statusCode, headers, text: async () => text };
  };
}

async function quota(call: Call, key: string) {
  const response = await call(key, '/api/v1/quota');
  const { data } = JSON.parse(await response.text());
  return { status: response.status, date: response.headers.get('date') ?? '', used: data?.monthly_used };
}

/** The actions of one test in its space. All spaces run at the same time, with different actions. */
async function useSpace(space: Space, number: number, call: Call): Promise<void> {
  const times = number % 7;
  await space.clock.advance(number * 60_000);
  const doomed = number % 3 === 0;
  if (doomed) space.rules.add({ match: { operation: 'latest' }, respond: { status: 503 } });

  const statuses: number[] = [];
  for (let time = 0; time < times; time += 1) statuses.push((await call(space.key, '/api/v1/latest')).status);

  expect(statuses).toEqual(Array(times).fill(doomed ? 503 : 200));
  const date = new Date(START + number * 60_000).toUTCString();
  expect(await quota(call, space.key)).toEqual({ status: 200, date, used: times });
  space.expectRequests().toHaveCount(times + 1);
  expect(space.journal.list().every(({ keyId }) => keyId === space.keyId)).toBe(true);
  expect(space.clock.now()).toBe(START + number * 60_000);
  expect(space.rules.list()).toHaveLength(doomed ? 1 : 0);
}

const CLOCK = { mode: 'virtual', now: START, autoAdvance: false } as const;

test.each([
  ['in process', undefined],
  ['over one connection, with ten requests before the first response', { connections: 1, pipelining: 10 }],
])('a hundred simultaneous spaces share no state, %s', async (_, options) => {
  await using mock = createMockServer({ clock: CLOCK });
  const server = await mock.serve();
  const agent = new undici.Agent(options);

  const call = options === undefined ? inProcess(mock) : over(server.url, agent);
  const own = mock.createKey();
  const before = JSON.stringify({ ...mock.snapshot(), lastSpace: 0 });
  const spaces = Array.from({ length: 100 }, () => mock.space());

  await Promise.all(spaces.map((space, number) => useSpace(space, number, call)));

  expect(JSON.stringify({ ...mock.snapshot(), lastSpace: 0 })).toBe(before);
  expect(mock.journal.list()).toEqual([]);
  expect(await quota(call, own.key)).toMatchObject({ status: 200, used: 0 });
  await agent.close();
});

test('a slow response of one space is not sent to another over a pipelined connection', async () => {
  await using mock = createMockServer({ clock: CLOCK });
  const server = await mock.serve();
  const agent = new undici.Agent({ connections: 1, pipelining: 10 });
  const call = over(server.url, agent);
  const [slow, quick] = [mock.space(), mock.space()];
  slow.rules.add({ delayMs: 5000 });

  const late = quota(call, slow.key);
  const early = quota(call, quick.key);
  const responses: unknown[] = [];
  void late.then((response) => responses.push(response));
  while (responses.length === 0) await slow.clock.advance(1000);

  expect(await late).toMatchObject({ status: 200, used: 0 });
  expect(await early).toEqual({ status: 200, date: new Date(START).toUTCString(), used: 0 });
  expect(quick.clock.now()).toBe(START);
  await agent.close();
});

test('a key created later in a space belongs to it, in every documented form', async () => {
  const mock = createMockServer({ clock: CLOCK });
  const space = mock.space();
  const { key, id } = space.createKey({ plan: 'developer' });

  await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } });
  await mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`);
  await mock.fetch(new Request(`${mock.baseUrl}/nowhere?api_key=${key}`));

  expect(space.journal.list().map(({ keyTransport }) => keyTransport)).toEqual(['header', 'query', undefined]);
  expect(space.keys.get(id).month.used).toBe(2);
  expect(space.audit().keysInUrls).toHaveLength(2);
  expect(mock.audit()).toMatchObject({ requests: 0, keysInUrls: [] });
});

test('requests without a known key belong to the mock, or to the space of the fetch', async () => {
  const mock = createMockServer({ clock: CLOCK });
  const space = mock.space();

  await mock.fetch(`${mock.baseUrl}/api/v1/latest`);
  await inProcess(mock)('fx_live_0', '/api/v1/latest');
  await space.fetch(`${mock.baseUrl}/api/v1/latest`);

  expect([mock.journal.list().length, space.journal.list().length]).toEqual([2, 1]);
});

test('a space starts with the switches and the time of the mock, and changes only its own', async () => {
  const mock = createMockServer({ clock: CLOCK, behaviour: { rateWindow: 'token-bucket' } });
  await mock.clock.advance(5000);
  const space = mock.space({ behaviour: { retryAfterUnit: 'milliseconds' } });

  expect(space.behaviour.values).toEqual({ ...mock.behaviour.values, retryAfterUnit: 'milliseconds' });
  expect(space.clock.now()).toBe(START + 5000);
  space.behaviour.set('hostile');

  expect(mock.behaviour.values.rateWindow).toBe('token-bucket');
  expect(mock.behaviour.values).not.toEqual(space.behaviour.values);
});

test('the name of a space determines its key, beside the seed', () => {
  const first = createMockServer({ seed: 7 });
  const second = createMockServer({ seed: 7 });
  second.space();
  second.createKey();
  const { key } = first.space({ name: 'checkout' });

  expect(second.space({ name: 'checkout' }).key).toBe(key);
  expect(first.space({ name: 'invoices' }).key).not.toBe(first.space({ name: 'orders' }).key);
  expect(createMockServer({ seed: 8 }).space({ name: 'checkout' }).key).not.toBe(key);
});

test('a space keeps its account and key in a reset, and all its keys in a restore', async () => {
  const mock = createMockServer({ clock: CLOCK });
  const space = mock.space({ plan: 'developer' });
  const before = JSON.stringify(space.snapshot());
  space.rules.add({ respond: { status: 500 } });
  await space.clock.advance(1000);
  await inProcess(mock)(space.key, '/api/v1/latest');
  const { key } = space.createKey();
  const withKey = space.snapshot();
  space.keys.setUsage(space.keyId, { month: 7 });
  space.restore(withKey);
  expect(space.snapshot()).toEqual(withKey);
  expect((await inProcess(mock)(key, '/api/v1/latest')).status).toBe(500); // the rule of the space

  space.reset();

  expect(JSON.stringify(space.snapshot())).toBe(before);
  expect(space.journal.list()).toEqual([]);
  expect((await inProcess(mock)(space.key, '/api/v1/latest')).status).toBe(200);
});

test.each([0, 3_600_000])(
  'a space of a mock that is %i ms ahead keeps up with a real clock in a reset',
  async (aheadMs) => {
    const start = Date.now();
    const now = vi.spyOn(Date, 'now').mockReturnValue(start);
    await using mock = createMockServer();
    await mock.clock.advance(aheadMs);
    const space = mock.space();

    now.mockReturnValue(start + 90_000);
    const [before] = [space.clock.now(), space.reset()];
    const after = space.clock.now();
    now.mockRestore();

    expect([before, after]).toEqual([start + aheadMs + 90_000, aheadMs === 0 ? start + 90_000 : start + aheadMs]);
  },
);

test('a space rejects the snapshots of its mock and of another space', async () => {
  await using mock = createMockServer({ clock: CLOCK });
  mock.createKey();
  const space = mock.space({ name: 'invoices' });
  const before = space.snapshot();

  const message = expect.stringContaining('The snapshot has key_1, and not the key of this space. Restore it in');
  const error = expect.objectContaining({ code: 'invalid_snapshot', message });
  for (const other of [mock, mock.space()]) expect(() => space.restore(other.snapshot())).toThrow(error);

  expect(space.snapshot()).toEqual(before);
});

test('a mock rejects the snapshot of an open space, and accepts it after the space has closed', async () => {
  await using mock = createMockServer({ clock: CLOCK });
  mock.createKey();
  const space = mock.space({ name: 'invoices' });
  const before = mock.snapshot();
  const snapshot = space.snapshot();

  expect(() => mock.restore(snapshot)).toThrow(
    expect.objectContaining({
      code: 'invalid_snapshot',
      message: expect.stringContaining('a key of the open space invoices; close the space'),
    }),
  );
  expect(mock.snapshot()).toEqual(before);

  await space.close();
  mock.restore(snapshot);
  expect(await quota(inProcess(mock), space.key)).toMatchObject({ status: 200 });
});

test('a space is not opened if the mock has its key from a snapshot', async () => {
  await using mock = createMockServer();
  const space = mock.space({ name: 'invoices' });
  const before = mock.snapshot();
  const snapshot = space.snapshot();
  await space.close();
  mock.restore(snapshot);

  const message = expect.stringContaining('The mock has the key of the space invoices from a snapshot');
  const error = expect.objectContaining({ code: 'space_exists', message });
  expect(() => mock.space({ name: 'invoices' })).toThrow(error);
  expect(mock.snapshot()).toEqual({ ...snapshot, now: expect.any(Number) });

  mock.restore(before);
  expect(mock.space({ name: 'invoices' }).key).toBe(space.key);
});

test('a space without a name has a free one, also after the mock has restored that of another', async () => {
  await using mock = createMockServer();
  const space = mock.space();
  const snapshot = space.snapshot();
  await space.close();
  mock.restore(snapshot);

  const names = [mock.space().name, mock.space().name];

  expect(space.name).toBe('space_1');
  expect(names).toEqual(['space_2', 'space_3']);
});

test('a key that was used before belongs to the space that has it now, or to the mock', async () => {
  await using mock = createMockServer({ clock: CLOCK });
  mock.space({ name: 'another' });
  const old = mock.space({ name: 'checkout' });
  const extra = old.createKey();
  const call = async (key = old.key) => (await inProcess(mock)(key, '/api/v1/quota')).status;
  const counts = (...owners: Pick<Space, 'journal'>[]) => owners.map(({ journal }) => journal.list().length);
  const withKeys = old.snapshot();
  expect([await call(), await call(extra.key), ...counts(old, mock)]).toEqual([200, 200, 2, 0]);

  old.reset();
  expect([await call(), await call(extra.key), ...counts(old, mock)]).toEqual([200, 401, 1, 1]);
  expect(() => mock.space({ name: 'checkout' })).toThrow(expect.objectContaining({ code: 'space_exists' }));
  await old.close();
  expect([await call(), ...counts(old, mock)]).toEqual([401, 1, 2]);
  const young = mock.space({ name: 'checkout' });
  await old.close(); // again
  expect([await call(), ...counts(old, young, mock)]).toEqual([200, 1, 1, 2]);
  await young.close();
  mock.restore(withKeys);
  expect([await call(), await call(extra.key), ...counts(young, mock)]).toEqual([200, 200, 1, 2]);
});

test('closing the mock ends a space that waits forever', async () => {
  const mock = createMockServer();
  const server = await mock.serve();
  const space = mock.space();
  space.rules.add({ fail: { kind: 'hang' } });
  const hanging = fetch(`${server.url}/api/v1/latest`, { headers: { authorization: space.key } });
  const failed = hanging.catch((error: unknown) => error);
  await space.journal.waitFor();

  await mock.close();

  expect(await failed).toBeInstanceOf(TypeError);
});

test('a closed space responds in process as over HTTP', async () => {
  await using mock = createMockServer({ clock: 'virtual' });
  const { url } = await mock.serve();
  const space = mock.space({ name: 'closed' });
  const headers = { authorization: `Bearer ${space.key}` };
  await space.close();

  const inProcess = await space.clientOptions().fetch(`${mock.baseUrl}/api/v1/quota`, { headers });
  const overHttp = await fetch(`${url}/api/v1/quota`, { headers });

  expect([inProcess.status, await inProcess.text()]).toEqual([overHttp.status, await overHttp.text()]);
  expect(inProcess.status).toBe(401);
  expect(space.journal.list()).toEqual([]);
  expect(mock.journal.list().map(({ status }) => status)).toEqual([401, 401]);

  await using again = mock.space({ name: 'closed' });
  expect((await space.fetch(`${mock.baseUrl}/api/v1/quota`, { headers })).status).toBe(200);
  expect(again.journal.list()).toHaveLength(1);
});

test('a client on another virtual clock than that of its limit is told so', async () => {
  await using mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  await using space = mock.space();
  const calls = async (options: FxRatesOptions) => {
    const fx = new FxRates(options);
    for (let call = 0; call < 31; call += 1) await fx.latest();
  };

  await expect(calls({ apiKey: space.key, ...mock.clientOptions() })).rejects.toThrow(
    'the key belongs to space_1; use its clientOptions()',
  );
  await calls({ apiKey: space.key, ...space.clientOptions() });
  await calls({ apiKey: key, ...mock.clientOptions() });
});

test.each([[''], ['a b'], ['x'.repeat(65)], [`fx_live_${'a1b2c3d4'.repeat(6)}`], [7 as unknown as string]])(
  '%j is not a valid name of a space',
  (name) => {
    expect(() => createMockServer().space({ name })).toThrow(/^name is (?!.*a1b2c3d4).*; expected up to 64 letters/);
  },
);

test('an invalid option opens no space', () => {
  const mock = createMockServer();

  expect(() => mock.space({ plan: 'gold' as never })).toThrow(/^plan is "gold"/);
  expect(() => mock.space({ clock: 'frozen' as never })).toThrow(/^clock is "frozen"/);

  expect(() => mock.reset()).not.toThrow();
});

async function connected(...options: Parameters<typeof servedMock>) {
  const served = await servedMock(...options);
  const call = async (key: string, path?: string) => (await served.call(key, path)).status;
  return { ...served, call };
}

test('another process can open a space with its own key, clock, rules, journal and state', async () => {
  await using it = await connected();
  const { mock, remote, call } = it;
  const clock = { mode: 'virtual', now: new Date('2030-01-01') } as const;
  await using space = await remote.space({ name: 'worker-1', plan: 'developer', behaviour: 'lenient', clock });
  const start = mock.clock.now();

  await space.rules.add({ times: 1, respond: { status: 503 } });
  expect([await call(space.key), await call(space.key)]).toEqual([503, 200]);
  await space.clock.advance(60_000);
  const full = await space.snapshot();
  await space.keys.setUsage(space.keyId, { month: 100_000 });
  expect(await call(space.key)).not.toBe(200);
  await space.restore(full);
  expect(await call(space.key)).toBe(200);

  await space.expectRequests({ status: 200 }).toHaveCount(1);
  expect(await space.clock.now()).toBe(Date.UTC(2030, 0) + 60_000);
  expect((await space.accounts.get(space.accountId)).plan).toBe('developer');
  expect(mock.clock.now()).toBe(start);
  expect(mock.rules.list()).toEqual([]);
  expect(mock.journal.list()).toEqual([]);
});

test('rejects a reset while spaces are open; closeSpaces() closes those of a killed worker', async () => {
  await using it = await connected();
  const { remote, call } = it;
  const space = await remote.space();
  await remote.space();

  const message = expect.stringContaining('(space_1, space_2)');
  await expect(remote.reset()).rejects.toMatchObject({ code: 'spaces_live', status: 409, message });
  await space.reset();
  expect(await remote.closeSpaces()).toEqual(['space_1', 'space_2']);
  expect(await remote.closeSpaces()).toEqual([]);
  await remote.reset();

  expect(await call(space.key)).toBe(401);
  await expect(space.clock.now()).rejects.toMatchObject({ code: 'not_found', status: 404 });
});

test.each([
  ['POST', '/spaces', { clock: { mode: 'virtual', now: '2026-02-30T00:00:00Z' } }, 400],
  ['GET', '/spaces/nobody/clock', undefined, 404],
  ['POST', '/spaces/one/spaces', {}, 404],
  ['DELETE', '/spaces/one/spaces', undefined, 404],
  ['DELETE', '/spaces?name=one', undefined, 400],
  ['GET', '/spaces/one/nothing', undefined, 404],
  ['GET', '/spaces/one/health', undefined, 200],
] as const)('%s %s %j returns %i', async (method, path, body, status) => {
  await using it = await connected();
  it.mock.space({ name: 'one' });

  const response = await it.admin(method, path, body);

  expect(response.status).toBe(status);
});
