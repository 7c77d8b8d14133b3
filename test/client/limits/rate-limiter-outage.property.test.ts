import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Permit } from '../../../src/client/limits/in-flight.ts';
import { retryAfterMs } from '../../../src/client/limits/retry-after.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { type Random, seededRandom } from '../../helpers/limits-random.ts';
import { LimitedServer, WINDOW_KINDS } from '../../helpers/limits-server.ts';
import { hint, StrictLimiter } from '../../helpers/strict-limiter.ts';

interface Outage {
  readonly fromMs: number;
  readonly lastsMs: number;
  readonly retryAfter: string | undefined;
}

/** A server that is down for a while, and a client whose calls are repeated until they are served. */
class OutageRun {
  readonly clock = new FakeClock();
  readonly limiter: StrictLimiter;
  failures = 0;
  readonly #startedAt = this.clock.now();
  readonly #server: LimitedServer;
  readonly #outage: Outage;
  readonly #random: Random;

  constructor(server: LimitedServer, outage: Outage, random: Random) {
    this.#server = server;
    this.#outage = outage;
    this.#random = random;
    this.limiter = new StrictLimiter({ clock: this.clock, random });
  }

  async call(): Promise<void> {
    let permit = await this.limiter.acquire();
    while (!(await this.#send(permit))) permit = await this.limiter.acquire({ retryOf: permit });
  }

  /** Returns whether the call is served. */
  async #send(permit: Permit): Promise<boolean> {
    await this.clock.sleep(this.#random() * 200);
    const sinceMs = this.clock.now() - this.#startedAt - this.#outage.fromMs;
    const isDown = sinceMs >= 0 && sinceMs < this.#outage.lastsMs;
    const response = isDown ? undefined : this.#server.receive(this.clock.now());
    await this.clock.sleep(this.#random() * 200);
    if (response?.status === 200) permit.ok();
    else if (response) permit.limited(hint(response.retryAfter, response.date));
    else this.#fail(permit);
    return response?.status === 200;
  }

  #fail(permit: Permit): void {
    this.failures += 1;
    const before = this.#perMinute;
    const hintMs = retryAfterMs(hint(this.#outage.retryAfter), 'seconds');
    permit.failed({ hintMs, wasSent: true, mayHaveCounted: false, error: new Error('503') });
    expect(this.#perMinute).toBeLessThanOrEqual(before);
  }

  get #perMinute(): number {
    return this.limiter.limits().perMinute ?? Number.POSITIVE_INFINITY;
  }
}

test('an outage at any time costs few requests and no call; a failure raises no limit', async () => {
  const outages = fc.record({
    fromMs: fc.nat(70_000),
    lastsMs: fc.integer({ min: 1_000, max: 60_000 }),
    retryAfter: fc.constantFrom(undefined, '5', '30'),
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WINDOW_KINDS), outages, fc.integer(), async (window, outage, seed) => {
      const server = new LimitedServer({ window, limit: 30, hint: 'seconds' });
      const run = new OutageRun(server, outage, seededRandom(seed));

      const calls = Promise.all(Array.from({ length: 60 }, () => run.call()));
      await run.clock.runAll();
      await calls;

      // Those in flight when it began, two at most after that, and one probe per backoff.
      expect(run.failures).toBeLessThanOrEqual(40);
      expect(run.limiter.limits()).toMatchObject({ waiting: 0, inFlight: 0, service: 'up' });
    }),
    { numRuns: 100 },
  );
});
