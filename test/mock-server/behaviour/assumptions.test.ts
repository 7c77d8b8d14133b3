import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMockServer, type KnownValue, type MockServerOptions } from '../../../src/mock-server/index.ts';

/** The switches that a response of the quota endpoint depends on. */
const OF_QUOTA = {
  rateWindow: 'sliding-log',
  quotaEndpointBucket: 'shared',
  quotaPeriod: 'calendar-month-utc',
  snapshotGranularity: '5min',
  rateHeaders: 'none',
} as const;

function mockWith(options: MockServerOptions) {
  const mock = createMockServer({ clock: 'virtual', onAssumption: 'error', ...options });
  const { key } = mock.createKey();
  const quota = async () => {
    const response = await mock.fetch(`${mock.baseUrl}/api/v1/quota`, { headers: { authorization: key } });
    return { status: response.status, body: await response.json() };
  };
  return { mock, quota };
}

test('a response that depends on assumptions becomes a 501 that contains the option to accept them', async () => {
  const { mock, quota } = mockWith({});

  const { status, body } = await quota();

  expect(status).toBe(501);
  expect(body).toMatchObject({ success: false, error: { code: 'assumption', status: 501 } });
  const [, accepted = ''] = /createMockServer\(\{ behaviour: (\{.*\}) \}\)/.exec(JSON.stringify(body)) ?? [];
  for (const [name, value] of Object.entries(OF_QUOTA)) expect(accepted).toContain(`${name}: \\"${value}\\"`);
  expect(mock.journal.list()).toMatchObject([
    { status: 501, code: 'assumption', why: expect.stringContaining('rateWindow') },
  ]);
});

test('a value set by the option behaviour is accepted, also the default', async () => {
  expect(await mockWith({ behaviour: OF_QUOTA }).quota()).toMatchObject({ status: 200 });

  const { rateHeaders: _, ...rest } = OF_QUOTA;
  const { body } = await mockWith({ behaviour: rest }).quota();
  expect(JSON.stringify(body)).toContain('{ behaviour: { rateHeaders: \\"none\\" } }');
});

test('a value set later is accepted, until a reset', async () => {
  const { mock, quota } = mockWith({});

  mock.behaviour.set(OF_QUOTA);
  expect((await quota()).status).toBe(200);

  mock.reset();
  expect(mock.behaviour.describe().find(({ name }) => name === 'rateWindow')?.accepted).toBe(false);
});

test('an observed value is accepted; one marked as assumed is not', async () => {
  const known = (provenance: KnownValue['provenance']) =>
    Object.fromEntries(Object.entries(OF_QUOTA).map(([name, value]) => [name, { value, provenance }]));

  expect((await mockWith({ behaviour: known('observed') }).quota()).status).toBe(200);
  expect((await mockWith({ behaviour: known('assumed') }).quota()).status).toBe(501);
  expect((await mockWith({ behaviour: 'hostile' }).quota()).status).toBe(200);
});

test('a value of a snapshot that differs from the accepted one counts as accepted', () => {
  const { mock } = mockWith({ behaviour: OF_QUOTA });
  mock.restore(createMockServer({ behaviour: { rateWindow: 'token-bucket' } }).snapshot());

  const accepted = mock.behaviour.describe().filter((known) => known.accepted);

  expect(accepted.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(OF_QUOTA)));
});

const warnings: Error[] = [];
const listen = (warning: Error) => void warnings.push(warning);
beforeEach(() => void process.on('warning', listen));
afterEach(() => void process.off('warning', listen));

test('warn reports each assumption once and changes no response', async () => {
  const { quota } = mockWith({ onAssumption: 'warn' });

  const responses = [await quota(), await quota()];
  await new Promise((resolve) => setImmediate(resolve));

  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatchObject({
    name: 'FxratesMockWarning',
    code: 'FXRATES_ASSUMPTION',
    message: expect.stringContaining('rateWindow: "sliding-log"'),
  });
});
