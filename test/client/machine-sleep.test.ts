import { expect, test, vi } from 'vitest';
import type { FxRatesOptions } from '../../src/client/index.ts';
import type { RateLimiterOptions } from '../../src/client/limits/rate-limiter.ts';
import { steadyTime } from '../../src/client/time/clock.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import type { Reply } from '../helpers/fake-fetch.ts';
import { MemoryLimitStore } from '../helpers/memory-limit-store.ts';
import { API_KEY, failure, rateLimited, success } from '../helpers/service-replies.ts';
import { StrictLimiter } from '../helpers/strict-limiter.ts';
import { BASE_URL, differentCalls, errorOf, testClient } from '../helpers/test-client.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The longest timer of a wait for a date, and the steps of a shared limit. */
const SOON_MS = 35_000;

/** The clock of a machine: neither timers nor the monotonic clock run while it sleeps. `set` moves only the wall clock. */
class MachineClock extends FakeClock {
  readonly #startedAt = this.now();
  #setByMs = 0;

  monotonicNow(): number {
    return this.now() - this.#setByMs - this.#startedAt;
  }

  override set(byMs: number): void {
    this.#setByMs += byMs;
    super.set(byMs);
  }
}

type Work = (client: ReturnType<typeof testClient>) => Promise<unknown>;

const latest: Work = ({ fx }) => fx.latest();
const firstRound: Work = ({ fx }) => fx.poll({}, { every: HOUR })[Symbol.asyncIterator]().next();
const secondRound: Work = async ({ fx }) => {
  let rounds = 0;
  for await (const _ of fx.poll({}, { every: HOUR })) if (++rounds === 2) return;
};

type Given = readonly [Reply, waitMs: number, Work, options?: (clock: FakeClock) => FxRatesOptions];

const waits: readonly [string, ...Given][] = [
  ['an hour of Retry-After', rateLimited('3600'), HOUR, latest],
  ['an hour of Retry-After without the limiter', rateLimited('3600'), HOUR, latest, () => ({ rateLimit: false })],
  ['an hour of Retry-After of a poll', rateLimited('3600'), HOUR, firstRound],
  ['ten minutes of Retry-After with a store', rateLimited('600'), 10 * MINUTE, latest, withStore('up')],
  ['ten minutes of Retry-After with a store that is down', rateLimited('600'), 10 * MINUTE, latest, withStore('down')],
  ['the Retry-After of a 503', failure(503, { headers: { 'retry-after': '90' } }), 90_000, latest],
  ['the rest of the minute', success(), MINUTE, (client) => Promise.all(differentCalls(client.fx, 5)), minuteOf4],
  ['the next hour of a poll', success(), HOUR, secondRound],
];

function withStore(health: 'up' | 'down') {
  return (clock: FakeClock) => ({ rateLimit: { store: Object.assign(new MemoryLimitStore(clock), { health }) } });
}

function minuteOf4(): FxRatesOptions {
  return { rateLimit: { perMinute: 4 } };
}

function waitOf(reply: Reply, options: ((clock: FakeClock) => FxRatesOptions) | undefined) {
  const clock = new MachineClock();
  const client = testClient([reply, success()], {
    ...{ clock, maxRetryAfterMs: 2 * HOUR, retryAfterUnit: 'seconds', quota: failure(500), ...options?.(clock) },
  });
  return { clock, client };
}

/** A wait of which a third has passed. */
async function begunWait([reply, waitMs, work, options]: Given) {
  const { clock, client } = waitOf(reply, options);
  let isDone = false;
  const done = work(client).then(() => {
    isDone = true;
  });
  await clock.advance(waitMs / 3);
  return { clock, waitMs, done, isDone: () => isDone };
}

test.each(waits)('a machine that slept for longer than it waits ends the wait soon: %s', async (_, ...given) => {
  const { clock, done, isDone } = await begunWait(given);
  expect(isDone()).toBe(false);

  clock.set(8 * HOUR);
  await clock.advance(SOON_MS);

  expect(isDone()).toBe(true);
  await done;
});

test.each(waits)('a wall clock set back in a wait makes it no longer: %s', async (_, ...given) => {
  const { clock, waitMs, done, isDone } = await begunWait(given);

  clock.set(-8 * HOUR);
  await clock.advance(waitMs / 2);
  expect(isDone()).toBe(false);
  await clock.advance(waitMs / 6 + SOON_MS);

  expect(isDone()).toBe(true);
  await done;
});

test.each([8 * HOUR, -8 * HOUR])('a wall clock set by %i ms ends no timeout and no deadline', async (byMs) => {
  const clock = new MachineClock();
  const { fx } = testClient('never', { clock, timeoutMs: 9_000, maxRetries: 0, deadlineMs: 20_000 });
  let endedAfterMs: number | undefined;
  const started = clock.monotonicNow();
  const ended = errorOf(fx.latest()).then(() => {
    endedAfterMs = clock.monotonicNow() - started;
  });
  await clock.advance(1_000);

  clock.set(byMs);
  await clock.advance(20_000);
  await ended;

  expect(endedAfterMs).toBe(9_000);
});

test.each([8 * HOUR, -8 * HOUR])(
  'after the wall clock was set by %i ms, a client of another copy of the package has the same deadlines',
  async (byMs) => {
    const { clock, client } = waitOf(rateLimited('30'), undefined);
    clock.set(byMs);
    vi.resetModules();
    const { FxRates: Copy } = await import('../../src/client/index.ts');
    const other = new Copy({ baseUrl: BASE_URL, apiKey: API_KEY, clock, fetch: client.fetch });
    const refused = client.fx.latest();
    await clock.advance(1);

    const late = errorOf(other.latest({ late: true }, { deadlineMs: 29_000 }));
    const calls = [refused, other.latest({}, { deadlineMs: 31_000 })];
    await clock.run(Promise.all(calls));

    expect(await late).toMatchObject({ reason: 'deadline', retryAfterMs: 29_999 });
  },
);

test('after a sleep of the machine, a call with a deadline is sent', async () => {
  const { clock, client } = waitOf(success(), undefined);
  await clock.run(client.fx.latest());
  clock.set(8 * HOUR);

  await clock.run(client.fx.latest({ base: 'EUR' }, { deadlineMs: 1_000 }));
  const refused = testClient([rateLimited('60'), success()], { clock });
  const startedAt = clock.monotonicNow();
  await clock.run(refused.fx.latest());

  expect(clock.monotonicNow() - startedAt).toBe(MINUTE);
});

test('the minute and a Retry-After elapse while a platform freezes the process between its calls', async () => {
  const clock = new MachineClock();
  const { fx } = testClient([rateLimited('30'), success()], { clock, deadlineMs: 3_000, rateLimit: { perMinute: 10 } });
  const outcomes: unknown[] = [];
  for (let call = 0; call < 30; call += 1) {
    outcomes.push(await clock.run(fx.latest({ call }).then(() => 'sent', errorReason)));
    clock.set(10_000);
  }

  expect(outcomes.slice(0, 3)).toEqual(['deadline', 'deadline', 'deadline']);
  expect(new Set(outcomes.slice(3))).toEqual(new Set(['sent']));
});

test('a sleep of the machine during a request is no part of its round trip', async () => {
  const clock = new MachineClock();
  const limiter = new StrictLimiter({ clock });
  const permit = await limiter.acquire();
  await clock.advance(100);

  clock.set(8 * HOUR);
  permit.end({ kind: 'accepted' });

  expect(limiter.etaMs(1, { concurrency: 1 })).toBe(100);
});

const errorReason = (error: { readonly reason?: unknown }) => error.reason;

/** A limiter after a night, and its time without the night. */
function afterNight(options: Partial<RateLimiterOptions> = {}) {
  const clock = new MachineClock();
  const limiter = new StrictLimiter({ clock, ...options });
  clock.set(8 * HOUR);
  return { clock, limiter, now: steadyTime(clock).now() };
}

test('after a sleep of the machine, a waiting call is sent before its deadline, without a busy loop', async () => {
  const { clock, limiter, now } = afterNight({ perMinute: 2 });
  for (let call = 0; call < 2; call += 1) (await limiter.acquire()).end({ kind: 'accepted' });

  const sent = limiter.acquire({ due: { deadlineAt: now + MINUTE + 1_000 } });
  await clock.run(sent);

  expect(steadyTime(clock).now() - now).toBe(MINUTE);
  expect(clock.sleeps.length).toBeLessThan(5);
});

test.each([
  ['in a millisecond gets a permit', 1, true],
  ['a millisecond ago gets none', -1, false],
])('after a sleep of the machine, a call with a deadline %s', (_, inMs, isGranted) => {
  const { limiter, now } = afterNight();

  expect(limiter.tryAcquire({ due: { deadlineAt: now + inMs } }) !== undefined).toBe(isGranted);
});

test('after a sleep of the machine, a call with a deadline waits for a slow store', async () => {
  const clock = new MachineClock();
  const store = new MemoryLimitStore(clock, { takesMs: 200 });
  const limiter = new StrictLimiter({ clock, shared: { name: 'key', store } });
  clock.set(8 * HOUR);
  const startedAt = clock.monotonicNow();

  await clock.run(limiter.acquire({ due: { deadlineAt: steadyTime(clock).now() + 10_000 } }));

  expect(clock.monotonicNow() - startedAt).toBe(200);
});
