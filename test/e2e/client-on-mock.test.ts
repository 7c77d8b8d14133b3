import { expect, onTestFinished, test } from 'vitest';
import { FxRates, FxRatesError } from '../../src/client/index.ts';
import { createMockServer, type MockServer, type Snapshot } from '../../src/mock-server/index.ts';
import { keyGenerations } from '../../src/process-state.ts';
import { clientOnMock } from '../helpers/mock-with-key.ts';

/** A different query for each call, so that calls do not share requests. */
function calls(fx: FxRates, count: number) {
  return Promise.allSettled(Array.from({ length: count }, (_, n) => fx.latest({ n })));
}

function kindOf(result: PromiseSettledResult<unknown>): string {
  if (result.status === 'fulfilled') return 'ok';
  return FxRatesError.is(result.reason) ? result.reason.kind : `a stranger: ${String(result.reason)}`;
}

test('the last requests of a month take minutes of virtual time, and the next month works again', async () => {
  const { mock, fx, id } = clientOnMock();
  mock.keys.setUsage(id, { month: 880 });
  const startedAt = mock.clock.now();
  await fx.quota();

  const results = await calls(fx, 120);

  expect(new Set(results.map(kindOf))).toEqual(new Set(['ok']));
  expect(mock.keys.get(id).month.used).toBe(1000);
  expect(mock.clock.now() - startedAt).toBeGreaterThanOrEqual(3 * 60_000); // at thirty per minute
  await expect(fx.latest()).rejects.toMatchObject({
    kind: 'quota_exhausted',
    local: false,
    resetsAt: new Date('2026-02-01T00:00:00.000Z'),
  });
  await mock.clock.advanceTo('quota-reset');
  await expect(fx.latest()).resolves.toMatchObject({ base: expect.any(String) });
  expect(mock.keys.get(id).month.used).toBe(1);
});

test.each([
  [
    'reset',
    (mock: MockServer) => {
      mock.reset();
      mock.createKey(); // the same one
    },
  ],
  ['a snapshot', (mock: MockServer, before: Snapshot) => mock.restore(before)],
])('a client that is created after %s does not wait for the limit that an earlier one reached', async (_, restore) => {
  const { mock, fx, key, id } = clientOnMock();
  const before = mock.snapshot();
  mock.keys.setUsage(id, { minute: 30 });
  await expect(fx.latest({}, { onLimit: 'throw' })).rejects.toMatchObject({ kind: 'rate_limited' });

  restore(mock, before);
  const next = new FxRates({ apiKey: key, ...mock.clientOptions(), onLimit: 'throw' });

  await expect(next.latest()).resolves.toMatchObject({ base: expect.any(String) });
});

test.each([
  ['reset()', (mock: MockServer) => mock.reset()],
  ['restore()', (mock: MockServer, before: Snapshot) => mock.restore(before)],
  [
    'a change of the window, and reset()',
    (mock: MockServer) => {
      mock.behaviour.set({ rateWindow: 'fixed-epoch' });
      mock.reset();
    },
  ],
])('after %s of a served mock, a client that was not closed forgets the used-up month', async (_, restore) => {
  await using mock = createMockServer({ setup: { keys: [{}] } });
  const [{ key, id } = { key: '', id: '' }] = mock.setupKeys;
  const { url } = await mock.serve();
  await using fx = new FxRates({ baseUrl: url, apiKey: key });
  await using other = new FxRates({ baseUrl: url, apiKey: key });
  const before = mock.snapshot();
  await fx.latest();
  mock.keys.setUsage(id, { month: 1000 });
  await expect(fx.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: false });
  await expect(other.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: true });

  restore(mock, before);

  await expect(fx.latest()).resolves.toMatchObject({ base: expect.any(String) });
  await expect(other.latest()).resolves.toMatchObject({ base: expect.any(String) });
});

test('after close(), clients forget the used-up month of a key that the next mock has, too', async () => {
  const exhaust = async (mock: MockServer, { key, keyId }: { readonly key: string; readonly keyId: string }) => {
    const fx = new FxRates({ baseUrl: mock.baseUrl, apiKey: key });
    await fx.latest();
    mock.keys.setUsage(keyId, { month: 1000 });
    await expect(fx.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: false });
    return fx;
  };
  const start = () => {
    const mock = createMockServer({ seed: 7 });
    mock.listen();
    onTestFinished(() => mock.close());
    const { key, id: keyId } = mock.createKey();
    return { mock, key, keyId };
  };
  const first = start();
  const fx = await exhaust(first.mock, first);
  await first.mock.close();

  const { mock, ...next } = start();

  await expect(fx.latest()).resolves.toBeDefined();
  await first.mock.close(); // again: it has no keys that a client can know
  await exhaust(mock, next);
  await first.mock.close();
  await expect(fx.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: true });
});

test.each([
  ['reset()', async (mock: MockServer) => mock.reset()],
  ['restore()', async (mock: MockServer, before: Snapshot) => mock.restore(before)],
  ['close()', async (mock: MockServer) => mock.close()],
])('after %s, a client forgets a refusal of the network', async (_, end) => {
  const start = () => {
    const mock = createMockServer({ setup: { keys: [{}] } });
    const [{ key } = { key: '' }] = mock.setupKeys;
    return { mock, fx: new FxRates({ baseUrl: mock.baseUrl, fetch: mock.fetch, apiKey: key, onLimit: 'throw' }) };
  };
  const { mock, fx } = start();
  const before = mock.snapshot();
  mock.rules.add({ counted: false, respond: { status: 429, headers: { 'retry-after': '60' } } });
  await expect(fx.latest()).rejects.toMatchObject({ kind: 'rate_limited' });

  await end(mock, before);

  await expect(start().fx.latest()).resolves.toBeDefined();
});

test('a client forgets nothing when another mock with its key, which received no request, is closed', async () => {
  const { mock, key, fx, id } = clientOnMock({ seed: 7 });
  await fx.latest();
  mock.keys.setUsage(id, { month: 1000 });
  await expect(fx.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: false });
  const other = clientOnMock({ seed: 7 });
  const before = keyGenerations().size;
  other.mock.createKey();

  await other.mock.close();

  expect(other.key).toBe(key);
  expect(keyGenerations().size).toBe(before);
  await expect(fx.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: true });
});

test('a client forgets the used-up month of a space that was closed and opened again', async () => {
  await using mock = createMockServer();
  const { url } = await mock.serve();
  const first = mock.space({ name: 'one' });
  await using fx = new FxRates({ baseUrl: url, apiKey: first.key });
  await fx.latest();
  first.keys.setUsage(first.keyId, { month: 1000 });
  await expect(fx.latest()).rejects.toMatchObject({ kind: 'quota_exhausted', local: false });

  await first.close();
  mock.space({ name: 'one' });

  await expect(fx.latest()).resolves.toBeDefined();
});

test.each([
  ['the mock', { ok: 20, network: 20 }],
  ['its space', { ok: 20, authentication: 20 }],
])('the calls in flight end when %s is closed', async (what, kinds) => {
  await using mock = createMockServer({ clock: 'virtual' });
  const space = mock.space({ limits: { requests: 20 } });
  const { url } = await mock.serve();
  const fx = new FxRates({ apiKey: space.key, baseUrl: url, clock: space.clock, rateLimit: { perMinute: 20 } });
  const sent = calls(fx, 40);
  await space.journal.waitFor({ status: 200 }, { count: 20 });

  await (what === 'the mock' ? mock : space).close();

  const ended = (await sent).map(kindOf);
  const numbers = Object.keys(kinds).map((kind) => [kind, ended.filter((one) => one === kind).length]);
  expect(Object.fromEntries(numbers)).toEqual(kinds);
});

const everySwitch = createMockServer()
  .behaviour.describe()
  // The calls below differ by a parameter that the mock does not know, which `unknownParameters` refuses.
  .filter(({ name }) => name !== 'unknownParameters')
  .flatMap(({ name, alternatives }) => alternatives.map((value) => ({ name, value })));

test.each(everySwitch)('all calls of the client succeed if $name is $value', async ({ name, value }) => {
  const { mock, fx, id } = clientOnMock({ behaviour: { [name]: value } });

  const quota = await fx.quota();
  const results = await calls(fx, 32);
  mock.keys.setUsage(id, { month: 1000 });
  const exhausted = await calls(fx, 3);
  mock.keys.revoke(id);
  await mock.clock.advance(120_000);
  const revoked = await calls(fx, 1);

  expect(quota.plan).toBe('free');
  expect(results.map(kindOf).filter((kind) => kind !== 'ok')).toEqual([]);
  expect(new Set(exhausted.map(kindOf))).toEqual(new Set(['quota_exhausted']));
  expect(revoked.map(kindOf)).toEqual(['authentication']);
});

/** Adapters other than `mock.fetch`; the client still waits with the mock's clock. */
const WAYS = ['a real socket', 'interception'];

test.each(WAYS)('a wait of a minute takes no real time over %s, and no timeout fires early', async (way) => {
  await using mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  if (way === 'interception') mock.listen();
  const baseUrl = way === 'interception' ? mock.baseUrl : (await mock.serve()).url;
  const fx = new FxRates({ apiKey: key, baseUrl, clock: mock.clock, timeoutMs: 1000, maxRetries: 0 });
  const start = mock.clock.now();

  for (let call = 0; call < 35; call += 1) await fx.latest();

  expect(mock.clock.now() - start).toBeGreaterThanOrEqual(60_000);
  expect(mock.clock.now() - start).toBeLessThan(2 * 60_000);
});
