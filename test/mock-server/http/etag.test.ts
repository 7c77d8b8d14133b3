import { expect, test } from 'vitest';
import { MockCore } from '../../helpers/mock-core.ts';

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
