import { expect, test, vi } from 'vitest';
import { presetValues } from '../../../src/mock-server/behaviour/behaviour.ts';
import { SWITCH_NAMES, switches } from '../../../src/mock-server/behaviour/switches.ts';
import {
  behaviourMatrix,
  createMockServer,
  type KnownValue,
  type MockServerOptions,
} from '../../../src/mock-server/index.ts';
import { mockWithKey } from '../../helpers/mock-with-key.ts';

/** Values that a user without types may pass. */
const withBehaviour = (behaviour: object) => createMockServer({ behaviour } as never);

test('a change of what a mock returns changes neither this mock nor another one', async () => {
  const { mock, id, send } = mockWithKey({ setup: { keys: [{}] } });
  for (const _ of [1, 2]) await send('/api/v1/latest?base=EUR&base=USD');
  const bases = mock.journal.list()[0]?.query['base'];
  expect(() => Object.assign(bases!, ['GBP'])).toThrow(TypeError);
  const [setupKey] = mock.setupKeys;
  Object.assign(setupKey!, { key: 'changed' });
  expect(mock.setupKeys[0]?.key).not.toBe('changed');
  const limited = mock.createKey({ limits: { requests: 5 } });
  const before = JSON.stringify([mock.snapshot(), mock.behaviour.describe(), createMockServer().snapshot().behaviour]);
  const snapshot = JSON.parse(JSON.stringify({ id })) as object;

  Object.assign(mock.snapshot().behaviour, { quotaExhausted: '402 quota_exceeded' });
  for (const { limits } of [mock.snapshot().keys.at(-1)!, mock.keys.get(limited.id)])
    Object.assign(limits!, { requests: 99 });
  for (const { alternatives } of mock.behaviour.describe()) (alternatives as unknown[]).push('another');
  expect(() => Object.assign(mock.behaviour.values, { rateWindow: 'fixed-epoch' })).toThrow(TypeError);

  expect(snapshot).toEqual({ id });
  expect(JSON.stringify([mock.snapshot(), mock.behaviour.describe(), createMockServer().snapshot().behaviour])).toBe(
    before,
  );
});

test('restore() makes no choice of a default', () => {
  const mock = createMockServer({ onAssumption: 'error' });
  const assumed = () => mock.behaviour.describe().filter(({ accepted }) => !accepted).length;
  const before = assumed();
  const snapshot = mock.snapshot();
  mock.behaviour.set({ rateWindow: 'fixed-epoch', retryAfterValue: 'whole-minute' });

  mock.restore(snapshot);

  expect(assumed()).toBe(before);
});

test('rejects an unknown switch with the three nearest ones', () => {
  expect(() => withBehaviour({ rateWindows: 'sliding-log' })).toThrow(
    /behaviour\.rateWindows is not a switch; did you mean rateWindow\? The nearest of \d+ names: rateWindow, \w+, \w+\.$/,
  );
});

test.each([
  [{ rateWindow: 'rolling' }, 'behaviour.rateWindow is "rolling"; expected one of "sliding-log", "fixed-epoch"'],
  [{ unlimitedAs: 1 }, 'behaviour.unlimitedAs is 1; expected one of null, -1, 0, "unlimited", "omitted".'],
  [{ freeMaxActiveKeys: 0 }, 'behaviour.freeMaxActiveKeys is 0; expected a whole number from 1, or null for none.'],
  [{ freeMaxActiveKeys: 1.5 }, 'behaviour.freeMaxActiveKeys is 1.5'],
  [{ unlimitedFairUse: '9' }, 'behaviour.unlimitedFairUse is "9"'],
  [{ keyPrefix: 'fx-live-' }, 'behaviour.keyPrefix is "fx-live-"; expected text matching'],
  [{ rejectedCountsTowardRate: 'yes' }, 'behaviour.rejectedCountsTowardRate is "yes"; expected one of false, true.'],
  [{ missingKey: null }, 'behaviour.missingKey is null'],
  [{ preset: 'strict' }, 'behaviour.preset is "strict"; expected one of documented, lenient, hostile.'],
])('a wrong value is refused: %j', (behaviour, message) => {
  expect(() => withBehaviour(behaviour)).toThrow(message);
});

test.each([
  [{ freeMaxActiveKeys: 7 }],
  [{ unlimitedFairUse: 0 }],
  [{ keyPrefix: 'fx-eu_1_live_' }],
  [{ quotaPeriod: undefined }],
])('a value outside the alternatives is accepted if the switch allows it: %j', (behaviour) => {
  expect(() => withBehaviour(behaviour)).not.toThrow();
});

test('400 is the value "400" of a switch, as the command line reads it', () => {
  const { values } = withBehaviour({ unknownParameters: 400 }).behaviour;

  expect(values.unknownParameters).toBe('400');
});

test('changes no switch if one value is invalid', () => {
  const mock = createMockServer();

  expect(() => mock.behaviour.set({ rateHeaders: 'x-ratelimit', rateWindow: 'wrong' as never })).toThrow('rateWindow');

  expect(mock.behaviour.values.rateHeaders).toBe('none');
});

test('describe returns value, default, alternatives, provenance and reason of each switch', () => {
  const mock = createMockServer({ behaviour: { rateWindow: 'token-bucket' } });

  const described = mock.behaviour.describe();

  expect(described.find(({ name }) => name === 'rateWindow')).toEqual({
    name: 'rateWindow',
    group: 'Per-minute limit',
    value: 'token-bucket',
    default: 'sliding-log',
    alternatives: ['fixed-epoch', 'fixed-first-request', 'sliding-counter', 'token-bucket'],
    provenance: 'assumed',
    accepted: true,
    notShown: 'rate-window',
    why: expect.stringContaining('sliding log'),
  });
  expect(described.map(({ name }) => name)).toEqual(Object.keys(mock.behaviour.values));
});

test('a new kind of window starts empty, also after a snapshot', async () => {
  const { mock, send } = mockWithKey();
  const status = async () => (await send()).status;
  for (let request = 0; request < 30; request += 1) await status();
  expect(await status()).toBe(429);

  mock.behaviour.set({ rateWindow: 'token-bucket' });

  expect(await status()).toBe(200);
  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));
  expect(mock.behaviour.values.rateWindow).toBe('token-bucket');
  expect(await status()).toBe(200);
});

const PERIODS = ['calendar-month-utc', 'rolling-30d', 'anniversary'] as const;

test.each(PERIODS.flatMap((from) => PERIODS.filter((to) => to !== from).map((to) => [from, to] as const)))(
  'a quota period that changes from %s to %s starts empty, and is the same everywhere',
  async (from, to) => {
    const { mock, id, send } = mockWithKey({ behaviour: { quotaPeriod: from } });
    const other = mockWithKey({ behaviour: { quotaPeriod: to } });
    await send();
    await mock.clock.advance(DAY_MS);
    await other.mock.clock.advance(DAY_MS);
    const usage = async () => {
      const { data } = (await send('/api/v1/quota')).json();
      const { quota } = mock.journal.list().at(-1) ?? {};
      const { month } = mock.keys.get(id);
      expect([quota, data.resets_at]).toEqual([month, new Date(month.resetsAt).toISOString()]);
      return [month.used, data.monthly_used];
    };

    expect(await usage()).toEqual([1, 1]);
    mock.behaviour.set({ quotaPeriod: to });
    expect(await usage()).toEqual([0, 0]);
    await send();
    await other.send();
    expect(await usage()).toEqual([1, 1]);
    expect(mock.keys.get(id).month).toEqual(other.mock.keys.get(other.id).month);
    mock.behaviour.set({ quotaPeriod: from });
    expect(await usage()).toEqual([0, 0]);
  },
);

const DAY_MS = 86_400_000;

const defaults = createMockServer().behaviour.values;

test('the preset documented keeps all defaults, as assumptions', () => {
  const { behaviour } = createMockServer({ behaviour: 'documented' });

  expect(behaviour.values).toEqual(defaults);
  expect(behaviour.describe().filter(({ accepted }) => accepted)).toEqual([]);
});

test.each(['lenient', 'hostile'] as const)('the preset %s sets every switch', (name) => {
  const { behaviour } = createMockServer({ behaviour: name });

  expect(Object.keys(presetValues(name)).sort()).toEqual([...SWITCH_NAMES].sort());
  expect(behaviour.values).toEqual({ ...defaults, ...presetValues(name) });
  expect(behaviour.describe().every(({ accepted }) => accepted)).toBe(true);
});

test('a preset set later replaces every switch; a single switch only itself', () => {
  const { behaviour } = createMockServer({ behaviour: { quotaPeriod: 'anniversary' } });

  behaviour.set({ unlimitedAs: -1 });
  expect([behaviour.values.quotaPeriod, behaviour.values.unlimitedAs]).toEqual(['anniversary', -1]);

  behaviour.set('lenient');
  expect(behaviour.values).toEqual({ ...defaults, ...presetValues('lenient') });

  behaviour.set('documented');
  expect(behaviour.values).toEqual(defaults);
});

test('the preset survives a reset and a snapshot', () => {
  const mock = createMockServer({ behaviour: 'hostile' });
  const before = mock.behaviour.describe();

  mock.behaviour.set('lenient');
  mock.reset();
  expect(mock.behaviour.describe()).toEqual(before);

  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));
  expect(mock.behaviour.describe()).toEqual(before);
});

test('returns the defaults, then every other value alone; a name given twice counts once', () => {
  const cases = behaviourMatrix(['retryAfterUnit', 'quotaExhausted', 'quotaExhausted']);

  expect(cases.map(({ title, behaviour }) => [title, Object.values(behaviour)])).toEqual([
    ['defaults', ['seconds', '429 quota_exceeded']],
    ['retryAfterUnit: milliseconds', ['milliseconds', '429 quota_exceeded']],
    ['quotaExhausted: 402 quota_exceeded', ['seconds', '402 quota_exceeded']],
    ['quotaExhausted: 403 quota_exceeded', ['seconds', '403 quota_exceeded']],
  ]);
});

test('without names, covers every value of every switch', () => {
  const others = SWITCH_NAMES.flatMap((name): readonly unknown[] => switches[name].alternatives);

  const cases = behaviourMatrix();

  expect(cases).toHaveLength(1 + others.length);
  expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  for (const { title, behaviour } of cases) {
    const mock = createMockServer({ behaviour, onAssumption: 'error' });
    expect([title, mock.behaviour.values]).toMatchObject([title, behaviour]);
    expect(mock.behaviour.describe().filter(({ accepted }) => !accepted)).toEqual([]);
  }
});

test.each([
  [['rateWindows'], 'names is "rateWindows"; expected one of rateWindow,'],
  ['rateWindow', 'names is "rateWindow"; expected an array of switches.'],
])('behaviourMatrix(%j) is refused: it expects switches', (names, message) => {
  expect(() => behaviourMatrix(names as never)).toThrow(message);
});

/** The switches that a response of the quota endpoint depends on. */
const OF_QUOTA = {
  rateWindow: 'sliding-log',
  quotaEndpointBucket: 'shared',
  quotaPeriod: 'calendar-month-utc',
  snapshotGranularity: '5min',
  rateHeaders: 'none',
} as const;

function mockWith(options: MockServerOptions) {
  const { mock, send } = mockWithKey({ onAssumption: 'error', ...options });
  return { mock, quota: () => send('/api/v1/quota') };
}

test('a response that depends on assumptions becomes a 501 with the option to accept them', async () => {
  const { mock, quota } = mockWith({});

  const { status, text, json } = await quota();

  expect(status).toBe(501);
  expect(json()).toMatchObject({ success: false, error: { code: 'assumption', status: 501 } });
  const [, accepted = ''] = /createMockServer\(\{ behaviour: (\{.*\}) \}\)/.exec(text) ?? [];
  for (const [name, value] of Object.entries(OF_QUOTA)) expect(accepted).toContain(`${name}: \\"${value}\\"`);
  expect(mock.journal.list()).toMatchObject([
    { status: 501, code: 'assumption', why: expect.stringContaining('rateWindow') },
  ]);
});

test('a value set by the option behaviour is accepted, also the default', async () => {
  expect(await mockWith({ behaviour: OF_QUOTA }).quota()).toMatchObject({ status: 200 });

  const { rateHeaders: _, ...rest } = OF_QUOTA;
  expect((await mockWith({ behaviour: rest }).quota()).text).toContain('{ behaviour: { rateHeaders: \\"none\\" } }');
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

test('warn reports each assumption once and changes no response', async () => {
  const { quota } = mockWith({ onAssumption: 'warn' });
  const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);

  const responses = [await quota(), await quota()];

  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  const kind = expect.objectContaining({ type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
  expect(warnings.mock.calls).toEqual([[expect.stringContaining('rateWindow: "sliding-log"'), kind]]);
});
