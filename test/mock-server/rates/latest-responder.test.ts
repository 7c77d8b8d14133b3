import { expect, test } from 'vitest';
import { CURRENCIES } from '../../../src/mock-server/rates/invented-latest.ts';
import { MockCore, type MockCoreOptions } from '../../helpers/mock-core.ts';

function latest(query = '', options: MockCoreOptions = {}) {
  const core = new MockCore(options);
  const { key } = core.createKey();
  return core.send(`/api/v1/latest${query}`, { key });
}

test('without parameters, returns all currencies except the base, labelled as invented', () => {
  const { data } = latest();

  expect(data).toMatchObject({ base: 'USD', source: 'invented by the fxrates mock server' });
  expect(Object.keys(data.rates)).toEqual(CURRENCIES.filter((code) => code !== 'USD'));
});

test('returns symbols in the order of the request', () => {
  const { data } = latest('?base=EUR&symbols=JPY,CHF');

  expect(Object.keys(data.rates)).toEqual(['JPY', 'CHF']);
  expect(latest('?base=EUR').data.rates).toMatchObject(data.rates);
});

test.each([
  ['1min', '2026-01-15T12:34:00.000Z'],
  ['5min', '2026-01-15T12:30:00.000Z'],
  ['60min', '2026-01-15T12:00:00.000Z'],
])('with a granularity of %s, the timestamp is %s', (snapshotGranularity, timestamp) => {
  const now = Date.parse('2026-01-15T12:34:56.789Z');

  expect(latest('', { now, behaviour: { snapshotGranularity } }).data.timestamp).toBe(timestamp);
});

test.each([
  ['400 invalid_parameter', 400],
  ['422 invalid_parameter', 422],
  ['ignored', 200],
] as const)('a currency that does not exist is %s, as the switch says', (badParameter, status) => {
  for (const query of ['?base=XXX', '?symbols=EUR,XXX', '?base=constructor']) {
    expect(latest(query, { behaviour: { badParameter } }).status).toBe(status);
  }
});
