import { expect, test } from 'vitest';
import { type ClockOptions, createMockServer, type KeyLimitOptions } from '../../../src/mock-server/index.ts';
import { mockWithKey, STILL, sender } from '../../helpers/mock-with-key.ts';
import { servedMock } from '../../helpers/served-mock.ts';

const SMALL: KeyLimitOptions = { requests: 2, windowMs: 1_000, monthly: 5 };
/** In the middle of a window and of a month. */
const NOW = Date.UTC(2026, 0, 15, 12, 0, 0, 400);

function limited(limits: KeyLimitOptions, behaviour = {}) {
  const mock = createMockServer({ clock: { ...STILL, now: NOW }, behaviour });
  const { id, key } = mock.createKey({ limits });
  return { mock, id, key, send: sender(mock, key) };
}

test.each([
  ['sliding-log', 1_000],
  ['fixed-epoch', 600],
  ['fixed-first-request', 1_000],
  ['sliding-counter', 1_100],
  ['token-bucket', 500],
] as const)('a key with 2 requests per second waits to the millisecond: %s, %i ms', async (rateWindow, waitMs) => {
  const { mock, id, send } = limited(SMALL, { rateWindow });

  const served = [await send(), await send()].map(({ status }) => status);
  const refused = await send();
  await mock.clock.advance(waitMs - 1);
  const early = await send();
  await mock.clock.advance(1);
  const after = await send();

  expect([...served, early.status, after.status]).toEqual([200, 200, 429, 200]);
  expect(refused.json().error).toMatchObject({
    code: 'rate_limited',
    message: 'Too many requests: the limit is 2 per 1000 ms.',
  });
  expect(refused.headers.get('retry-after')).toBe(String(Math.ceil(waitMs / 1000)));
  expect(mock.keys.get(id)).toMatchObject({ limits: SMALL, minute: { limit: 2 }, month: { limit: 5, used: 3 } });
  await mock.clock.advanceTo('next-window');
  expect(mock.keys.get(id).minute.used).toBe(0);
});

test('a key with 5 requests per month is refused at the sixth', async () => {
  const { mock, send } = limited({ monthly: 5 });

  const statuses: number[] = [];
  for (let request = 0; request < 6; request += 1) statuses.push((await send()).status);

  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  await mock.clock.advanceTo('quota-reset');
  expect((await send()).status).toBe(200);
});

test.each<[KeyLimitOptions, number, number]>([
  [SMALL, 120, 5],
  [{ requests: 2, windowMs: 7_000 }, 17, 1000],
  [{ requests: 1, windowMs: 86_400_000, monthly: 0 }, 1, 0],
  [{ windowMs: 30_000 }, 60, 1000],
  [{ monthly: 7 }, 30, 7],
  [{}, 30, 1000],
])('quota reports the limits %j as %i per minute and %i per month', async (limits, perMinute, monthly) => {
  const { send } = limited(limits);

  const { data } = (await send('/api/v1/quota')).json();

  expect(data).toMatchObject({ plan: 'free', rate_limit_per_minute: perMinute, monthly_limit: monthly });
});

test('headers and Retry-After have the length of the window', async () => {
  const { send } = limited(SMALL, {
    rateHeaders: 'ietf-draft',
    retryAfterUnit: 'milliseconds',
    retryAfterValue: 'whole-minute',
  });
  await send();
  await send();

  const { headers } = await send();

  expect(headers.get('retry-after')).toBe('1000');
  expect(headers.get('ratelimit-policy')).toBe('"minute";q=2;w=1');
});

test('the limits stay in a snapshot, and after a change of plan', async () => {
  const { mock, id, key } = limited(SMALL);
  const copy = createMockServer({ clock: STILL });
  copy.restore(JSON.parse(JSON.stringify(mock.snapshot())));

  copy.accounts.setPlan(copy.keys.get(id).accountId, 'developer');

  const send = sender(copy, key);
  expect([(await send()).status, (await send()).status, (await send()).status]).toEqual([200, 200, 429]);
});

test('a space has a key with limits, also after a reset', async () => {
  await using served = await servedMock({ clock: { mode: 'virtual', autoAdvance: false } });
  const { mock, admin, remote, call } = served;
  const space = mock.space({ limits: SMALL });
  const { body: opened } = await admin('POST', '/spaces', { limits: SMALL });
  const third = await remote.space({ limits: SMALL });

  space.reset();

  for (const key of [space.key, opened.key, third.key]) {
    expect([(await call(key)).status, (await call(key)).status, (await call(key)).status]).toEqual([200, 200, 429]);
  }
  expect(() => mock.space({ limits: { requests: 0 } })).toThrow('limits.requests is 0; expected a whole number from 1');
});

test.each<[clock: ClockOptions, isHinted: boolean]>([
  [{ mode: 'virtual', autoAdvance: false }, true],
  [{ mode: 'real', frozen: true }, true],
  [{ mode: 'real' }, false],
])('a client that waits for the clock %j in real time gets a hint: %j', async (clock, isHinted) => {
  const { mock, id, send } = mockWithKey({ clock });
  mock.keys.setUsage(id, { minute: 30 });

  for (let request = 0; request < 2; request += 1) await send();

  const [first, second] = mock.journal.list().map(({ why }) => why.includes('in real time, advance the clock of'));
  expect([first, second]).toEqual([false, isHinted]);
});

test('a setup and the admin API create keys with limits', async () => {
  await using served = await servedMock({ setup: { keys: [{ limits: SMALL, usage: { month: 4 } }] } });
  const { mock, admin, call, remote } = served;
  const { key } = await remote.createKey({ limits: { requests: 1 } });
  const { body: created } = await admin('POST', '/keys', { limits: SMALL });

  expect((await call(key)).status).toBe(200);
  expect((await call(key)).status).toBe(429);
  expect((await remote.keys.get(created.id)).limits).toEqual(SMALL);
  expect(mock.keys.get('key_1')).toMatchObject({ limits: SMALL, month: { limit: 5, used: 4 } });
});

test.each<[object, string]>([
  [{ requests: 0 }, 'limits.requests is 0; expected a whole number from 1 to 1000000.'],
  [{ requests: 1.5 }, 'limits.requests is 1.5'],
  [{ windowMs: 0 }, 'limits.windowMs is 0; expected whole milliseconds from 1 to 86400000, a day.'],
  [{ windowMs: 86_400_001 }, 'limits.windowMs is 86400001'],
  [{ monthly: -1 }, 'limits.monthly is -1; expected a whole number from 0.'],
  [{ perMinute: 1 }, 'limits.perMinute is not a field of limits; valid names: requests, windowMs, monthly.'],
])('the limits %j are refused', (limits, message) => {
  expect(() => createMockServer().createKey({ limits })).toThrow(message);
  expect(() => createMockServer({ setup: { keys: [{ limits }] } })).toThrow(`setup.keys[0].${message}`);
});
