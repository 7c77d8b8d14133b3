import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Permit } from '../../../src/client/limits/permit.ts';
import { RateLimiter } from '../../../src/client/limits/rate-limiter.ts';
import { settle, VirtualClock } from '../../helpers/limits-clock.ts';
import { seededRandom } from '../../helpers/limits-random.ts';
import { HINT_FORMS, LimitedServer, WINDOW_KINDS } from '../../helpers/limits-server.ts';

const servers = fc.record({
  window: fc.constantFrom(...WINDOW_KINDS),
  hint: fc.constantFrom(...HINT_FORMS),
  limit: fc.integer({ min: 1, max: 40 }),
  skewMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
});
const seeds = fc.integer();

/** Sends a call until it is served, over a network that takes up to 200 ms each way. */
async function call(limiter: RateLimiter, network: Network): Promise<void> {
  const { clock, server, random, signal, serverNow = () => clock.now() } = network;
  let permit: Permit | undefined;
  for (;;) {
    permit = await limiter.acquire({ retryOf: permit, signal });
    await clock.sleep(random() * 200);
    const { status, date, retryAfter } = server.receive(serverNow());
    await clock.sleep(random() * 200);
    if (status === 200) return permit.ok({ date });
    permit.limited({ date, retryAfter });
  }
}

interface Network {
  readonly clock: VirtualClock;
  readonly server: LimitedServer;
  readonly random: () => number;
  readonly signal?: AbortSignal;
  /** The server's time; the client's unless told. */
  readonly serverNow?: () => number;
}

test('every call is served by any server, and no timer is left', async () => {
  await fc.assert(
    fc.asyncProperty(servers, seeds, fc.boolean(), async (options, seed, isTold) => {
      const clock = new VirtualClock();
      const network = { clock, server: new LimitedServer(options), random: seededRandom(seed) };
      const limiter = new RateLimiter({ clock, ...(isTold ? { perMinute: options.limit } : {}) });

      const calls = Promise.all(Array.from({ length: 2 * options.limit + 5 }, () => call(limiter, network)));
      await clock.run();
      await calls;

      expect(clock.pending).toBe(0);
      expect(limiter.limits()).toMatchObject({ waiting: 0, inFlight: 0 });
    }),
    { numRuns: 60 },
  );
});

test('told the limit and not allowed to probe, a lone client is never refused by a sliding window', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), seeds, async (limit, seed) => {
      const clock = new VirtualClock();
      const server = new LimitedServer({ window: 'sliding', hint: 'seconds', limit });
      const limiter = new RateLimiter({ clock, perMinute: limit, probe: false });

      const network = { clock, server, random: seededRandom(seed) };
      const calls = Promise.all(Array.from({ length: 3 * limit }, () => call(limiter, network)));
      await clock.run();
      await calls;

      expect(server.refused).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test('nothing is sent before the Retry-After of any refusal has passed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 12 }), async (hints) => {
      const clock = new VirtualClock();
      const limiter = new RateLimiter({ clock });
      let notBefore = 0;
      let permit: Permit | undefined;

      for (const seconds of hints) {
        const next = limiter.acquire({ retryOf: permit });
        await clock.run();
        permit = await next;
        expect(clock.now()).toBeGreaterThanOrEqual(notBefore);
        permit.limited({ retryAfter: String(seconds) });
        notBefore = clock.now() + seconds * 1000;
      }
    }),
    { numRuns: 100 },
  );
});

test('whoever leaves, and whenever: the others are served, and the slots come back', async () => {
  await fc.assert(
    fc.asyncProperty(servers, seeds, fc.array(fc.integer({ min: 0, max: 90_000 })), async (options, seed, leavings) => {
      const clock = new VirtualClock();
      const network = { clock, server: new LimitedServer(options), random: seededRandom(seed) };
      const limiter = new RateLimiter({ clock, perMinute: options.limit });
      const leave = async (afterMs: number) => {
        const controller = new AbortController();
        clock.after(afterMs, () => controller.abort(new Error('left')));
        await call(limiter, { ...network, signal: controller.signal }).catch((error: Error) => {
          expect(error.message).toBe('left');
        });
      };

      const leaving = Promise.all(leavings.map(leave));
      const staying = Promise.all(Array.from({ length: options.limit + 5 }, () => call(limiter, network)));
      await clock.run();
      await Promise.all([leaving, staying]);

      expect(limiter.limits()).toMatchObject({ waiting: 0, inFlight: 0 });
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 40 },
  );
});

test.each([3_600_000, -3_600_000])('a clock that jumps by %d ms on our side holds nobody up', async (jumpMs) => {
  const clock = new VirtualClock();
  const server = new LimitedServer({ window: 'sliding', hint: 'seconds', limit: 5 });
  const limiter = new RateLimiter({ clock, perMinute: 5 });
  let jumpedMs = 0;
  const network = { clock, server, random: seededRandom(1), serverNow: () => clock.now() - jumpedMs };
  const calls = Promise.all(Array.from({ length: 12 }, () => call(limiter, network)));

  await clock.advance(2000);
  clock.jump(jumpMs);
  jumpedMs = jumpMs;
  await clock.run();

  await expect(calls).resolves.toHaveLength(12);
});

test('calls are served in the order they came, urgent ones first', async () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, perMinute: 100, maxConcurrent: 1 });
  const order: string[] = [];
  const visit = async (name: string, priority: 'high' | 'low') => {
    const permit = await limiter.acquire({ priority });
    order.push(name);
    await clock.sleep(10);
    permit.ok();
  };

  const visits = [visit('a', 'low'), visit('b', 'low'), visit('c', 'low'), visit('urgent', 'high')];
  await clock.run();
  await Promise.all(visits);

  expect(order).toEqual(['urgent', 'a', 'b', 'c']);
});

test('a hundred thousand waiting calls hold one timer, and leave none', async () => {
  const clock = new VirtualClock();
  const limiter = new RateLimiter({ clock, perMinute: 1 });
  const controller = new AbortController();
  (await limiter.acquire()).ok();
  (await limiter.acquire()).limited({ retryAfter: '60' });

  const waiting = Array.from({ length: 100_000 }, () =>
    limiter.acquire({ signal: controller.signal, deadlineAt: clock.now() + 80_000 }).catch(() => 'left'),
  );
  await settle();
  const { pending } = clock;
  controller.abort();

  expect(pending).toBe(1);
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['left']));
  expect(clock.pending).toBe(0);
});
