import { expect, test } from 'vitest';
import { createMockServer } from '../../../src/mock-server/index.ts';

/** Values that a user without types may pass. */
const withBehaviour = (behaviour: object, more = {}) => createMockServer({ behaviour, ...more } as never);

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
])('a wrong value is refused: %j', (behaviour, message) => {
  expect(() => withBehaviour(behaviour)).toThrow(message);
});

test.each([
  [{ freeMaxActiveKeys: 7 }],
  [{ unlimitedFairUse: 0 }],
  [{ keyPrefix: 'abc_live_' }],
  [{ quotaPeriod: undefined }],
])('a value outside the alternatives is accepted if the switch allows it: %j', (behaviour) => {
  expect(() => withBehaviour(behaviour)).not.toThrow();
});

test('400 is the value "400" of a switch, as the command line reads it', () => {
  const { values } = withBehaviour({ unknownParameters: 400 }).behaviour;

  expect(values.unknownParameters).toBe('400');
});

test('rejects values that contradict the documentation, without unsafe', () => {
  expect(() => withBehaviour({ revocationDelayMs: 1000 })).toThrow(/is 0 in the documentation; .*unsafe: true/);
  expect(() => withBehaviour({ revocationDelayMs: 0 })).not.toThrow();
  expect(withBehaviour({ revocationDelayMs: 1000 }, { unsafe: true }).behaviour.values.revocationDelayMs).toBe(1000);
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
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  const status = async () => (await mock.fetch(`${mock.baseUrl}/api/v1/latest?api_key=${key}`)).status;
  for (let request = 0; request < 30; request += 1) await status();
  expect(await status()).toBe(429);

  mock.behaviour.set({ rateWindow: 'token-bucket' });

  expect(await status()).toBe(200);
  mock.restore(JSON.parse(JSON.stringify(mock.snapshot())));
  expect(mock.behaviour.values.rateWindow).toBe('token-bucket');
  expect(await status()).toBe(200);
});
