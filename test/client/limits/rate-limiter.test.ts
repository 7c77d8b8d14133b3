import { expect, test } from 'vitest';
import { LimitError } from '../../../src/client/limits/limit-error.ts';
import type { Permit } from '../../../src/client/limits/permit.ts';
import { RateLimiter } from '../../../src/client/limits/rate-limiter.ts';
import { settle, VirtualClock } from '../../helpers/limits-clock.ts';

function setUp(options: { perMinute?: number; maxConcurrent?: number } = {}) {
  const clock = new VirtualClock();
  return { clock, limiter: new RateLimiter({ clock, ...options }) };
}

test('grants a lone call at once and leaves no timer', async () => {
  const { clock, limiter } = setUp();

  const permit = await limiter.acquire();
  permit.ok();

  expect(permit.sentAt).toBe(clock.now());
  expect(limiter.limits()).toMatchObject({ gate: 'open', waiting: 0, inFlight: 0 });
  expect(clock.pending).toBe(0);
});

test('lets nobody through before Retry-After has passed', async () => {
  const { clock, limiter } = setUp();
  const start = clock.now();
  const first = await limiter.acquire();

  first.limited({ retryAfter: '7' });
  const second = limiter.acquire({ retryOf: first });
  await clock.run();

  expect((await second).sentAt).toBe(start + 7_000);
});

test('a refused call comes back before those that wait', async () => {
  const { clock, limiter } = setUp({ maxConcurrent: 1 });
  const served: string[] = [];
  const first = await limiter.acquire();
  const later = limiter.acquire().then((permit) => finish('later', permit));
  await settle();

  first.limited({ retryAfter: '1' });
  const again = limiter.acquire({ retryOf: first }).then((permit) => finish('again', permit));
  await clock.run();
  await Promise.all([later, again]);

  expect(served).toEqual(['again', 'later']);

  function finish(name: string, permit: Permit) {
    served.push(name);
    permit.ok();
  }
});

test('refuses a call at once when the gate opens after its deadline', async () => {
  const { clock, limiter } = setUp();
  const start = clock.now();
  (await limiter.acquire()).limited({ retryAfter: '30' });

  const late = limiter.acquire({ deadlineAt: start + 10_000 });

  await expect(late).rejects.toThrow(LimitError);
  await expect(late).rejects.toMatchObject({ reason: 'deadline', retryAt: start + 30_000 });
});

test('an abort rejects within a tick with the reason of the signal', async () => {
  const { clock, limiter } = setUp({ maxConcurrent: 1 });
  await limiter.acquire();
  const controller = new AbortController();
  const waiting = limiter.acquire({ signal: controller.signal });

  controller.abort(new Error('enough'));

  await expect(waiting).rejects.toThrow('enough');
  expect(limiter.limits().waiting).toBe(0);
  expect(clock.pending).toBe(0);
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2.5])('refuses %d as a number of calls', (value) => {
  expect(() => setUp({ perMinute: value })).toThrow(`perMinute is ${value}`);
  expect(() => setUp({ maxConcurrent: value })).toThrow(`maxConcurrent is ${value}`);
});
