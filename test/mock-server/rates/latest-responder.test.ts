import { expect, test } from 'vitest';
import { CURRENCIES } from '../../../src/mock-server/rates/latest.ts';
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

test('returns symbols in the order of the request, in any case, in one list or in several parameters', () => {
  const { data } = latest('?base=EUR&symbols=JPY,CHF');

  expect(Object.keys(data.rates)).toEqual(['JPY', 'CHF']);
  expect(latest('?base=EUR').data.rates).toMatchObject(data.rates);
  for (const query of ['?base=eur&symbols=jpy,%20chf', '?base=EUR&symbols=JPY&symbols=CHF,']) {
    expect(latest(query).data).toEqual(data);
  }
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

test.each([
  ['?bse=EUR', 'served; latest does not know the parameter "bse" (did you mean base?)'],
  ['?base=EUR&symbol=USD&day=1', 'served; latest does not know the parameters "symbol" (did you mean symbols?), "day"'],
  ['?a&b&c&d&d&e', 'served; latest does not know the parameters "a", "b", "c" and 2 more'],
  ['?base=EUR&symbols=USD', 'served'],
])('the reason for %s names parameters that latest does not know', (query, why) => {
  const core = new MockCore();
  const { status } = core.send(`/api/v1/latest${query}`, { key: core.createKey().key });

  expect(status).toBe(200);
  expect(core.journal.entries.at(-1)).toMatchObject({ why });
  expect(core.journal.entries.at(-1)?.switches.includes('unknownParameters')).toBe(why !== 'served');
});

test('a key as the name of a parameter is masked in the reason and in the refusal', () => {
  const core = new MockCore({ behaviour: { unknownParameters: '400' } });
  const { key } = core.createKey();
  const { status, text } = core.send(`/api/v1/latest?${key}=1`, { key });

  expect(status).toBe(400);
  expect(text + JSON.stringify(core.journal.entries)).not.toContain(key);
});
