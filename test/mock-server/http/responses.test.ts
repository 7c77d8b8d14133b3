import { expect, test } from 'vitest';
import { Behaviour, type BehaviourOptions } from '../../../src/mock-server/behaviour/behaviour.ts';
import { rateHeaders, retryAfter } from '../../../src/mock-server/http/responses.ts';
import { MockCore } from '../../helpers/mock-core.ts';

const DECIMAL = { retryAfterFormat: 'decimal' } as const;
const MILLISECONDS = { retryAfterUnit: 'milliseconds' } as const;

test.each<[number, BehaviourOptions, string]>([
  [60_000, {}, '60'],
  [59_001, {}, '60'],
  [59_000, {}, '59'],
  [1, {}, '1'],
  [1, { retryAfterRounding: 'nearest' }, '1'],
  [1, { retryAfterRounding: 'nearest', retryAfterMin: 0 }, '0'],
  [59_499, { retryAfterRounding: 'nearest' }, '59'],
  [59_500, { retryAfterRounding: 'nearest' }, '60'],
  [59_999, { retryAfterRounding: 'down' }, '59'],
  [999, { retryAfterRounding: 'down' }, '1'],
  [999, { retryAfterRounding: 'down', retryAfterMin: 0 }, '0'],
  [59_001, DECIMAL, '59.001'],
  [59_100, DECIMAL, '59.1'],
  [59_000, DECIMAL, '59'],
  [1, DECIMAL, '0.001'],
  [0.25, DECIMAL, '0.001'],
  [59_001, MILLISECONDS, '59001'],
  [59_000.5, MILLISECONDS, '59001'],
  [59_000.5, { ...MILLISECONDS, ...DECIMAL }, '59000.5'],
  [1234, { retryAfterValue: 'whole-minute' }, '60'],
  [1234, { ...MILLISECONDS, retryAfterValue: 'whole-minute' }, '60000'],
])('a wait of %d ms, with %j, is written as %s', (waitMs, options, value) => {
  expect(retryAfter(waitMs, new Behaviour(options))).toBe(value);
});

const NOW = Date.UTC(2026, 0, 21, 14, 20);
const headers = (style: 'none' | 'x-ratelimit' | 'ietf-draft', used: number, fullInMs: number) =>
  rateHeaders(
    { rate: { limit: 30, used, fullAt: NOW + fullInMs }, limit: { requests: 30, windowMs: 60_000 } },
    NOW,
    new Behaviour({ rateHeaders: style }),
  );

test.each([
  [1, 59_001, 29, 60],
  [1, 59_000, 29, 59],
  [30, 1, 0, 1],
  [0, 0, 30, 0],
  // Refused requests can count too.
  [31, 60_000, 0, 60],
])('with %i of 30 requests used and all free in %i ms, %i remain, and the reset is in %i s', (...row) => {
  const [used, fullInMs, remaining, resetSeconds] = row;

  expect(headers('x-ratelimit', used, fullInMs)).toEqual({
    'x-ratelimit-limit': '30',
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(NOW / 1000 + resetSeconds),
  });
  expect(headers('ietf-draft', used, fullInMs)).toEqual({
    'ratelimit-policy': '"minute";q=30;w=60',
    ratelimit: `"minute";r=${remaining};t=${resetSeconds}`,
  });
  expect(headers('none', used, fullInMs)).toBeUndefined();
});

const LATEST = '/api/v1/latest';

test('a matching If-None-Match gets 304 without a body, with the same ETag', () => {
  const core = new MockCore({ behaviour: { etag: 'strong' } });
  const { key } = core.createKey();

  const first = core.send(LATEST, { key });
  const etag = String(first.headers['etag']);
  const again = core.send(LATEST, { key, headers: { 'if-none-match': `"other", W/${etag}` } });
  const other = core.send(`${LATEST}?base=EUR`, { key, headers: { 'if-none-match': etag } });
  core.now += 5 * 60_000;
  const next = core.send(LATEST, { key, headers: { 'if-none-match': etag } });

  expect(etag).toMatch(/^"[\w-]{22}"$/);
  expect(again).toMatchObject({ status: 304, text: '', headers: { etag } });
  expect(again.headers).not.toHaveProperty('content-length');
  expect([other.status, next.status]).toEqual([200, 200]);
});

test.each([
  ['weak', '*', 304],
  ['weak', '"other"', 200],
  ['strong', 'not quoted', 200],
  ['strong', '', 200],
  ['absent', '*', 200],
] as const)('the ETag is %s: If-None-Match %s gets %i', (etag, condition, status) => {
  const core = new MockCore({ behaviour: { etag } });

  const response = core.send(LATEST, { key: core.createKey().key, headers: { 'if-none-match': condition } });

  expect(response.status).toBe(status);
});

test.each([
  ['accepted', 2],
  ['non-5xx', 2],
  ['success', 1],
] as const)('a 304 counts in the minute, and in the month as quotaChargesOn defines: %s', (quotaChargesOn, month) => {
  const core = new MockCore({ behaviour: { etag: 'weak', quotaChargesOn } });
  const { id, key } = core.createKey();

  core.send(LATEST, { key });
  core.send(LATEST, { key, headers: { 'if-none-match': '*' } });

  expect(core.keys.get(id).month.used).toBe(month);
  expect(core.journal.entries[1]).toMatchObject({ status: 304, rate: { used: 2 } });
});

test('refusals have no ETag and are never 304', () => {
  const core = new MockCore({ behaviour: { etag: 'strong' } });
  const { id, key } = core.createKey();
  core.keys.setUsage(id, { month: 1000 });

  const responses = [key, undefined].map((one) =>
    core.send(LATEST, { ...(one === undefined ? {} : { key: one }), headers: { 'if-none-match': '*' } }),
  );

  expect(responses.map(({ status }) => status)).toEqual([429, 401]);
  for (const { headers } of responses) expect(headers).not.toHaveProperty('etag');
});

test('without the switch or without a condition, no response depends on the ETag', () => {
  const core = new MockCore();
  const { key } = core.createKey();

  core.send(LATEST, { key });
  core.send(LATEST, { key, headers: { 'if-none-match': '*' } });

  expect(core.journal.entries.map(({ switches }) => switches.includes('etag'))).toEqual([false, true]);
});
