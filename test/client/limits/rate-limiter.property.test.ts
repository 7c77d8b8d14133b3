import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Permit, RequestEnd, RequestFailure } from '../../../src/client/limits/in-flight.ts';
import type { Due } from '../../../src/client/limits/request-queue.ts';
import { retryAfterMs } from '../../../src/client/limits/retry-after.ts';
import { definedOf } from '../../../src/json.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { HeardCancellation } from '../../helpers/heard-cancellation.ts';
import { seededRandom } from '../../helpers/limits-random.ts';
import { HINT_FORMS, type HintForm, LimitedServer, WINDOW_KINDS } from '../../helpers/limits-server.ts';
import { MemoryLimitStore } from '../../helpers/memory-limit-store.ts';
import { hint, NotSentError, StrictLimiter, setUpLimiter } from '../../helpers/strict-limiter.ts';

const servers = fc.record({
  window: fc.constantFrom(...WINDOW_KINDS),
  hint: fc.constantFrom(...HINT_FORMS),
  limit: fc.integer({ min: 1, max: 40 }),
  skewMs: fc.integer({ min: -3_600_000, max: 3_600_000 }),
});
const seeds = fc.integer();

/** A hint below a second, in milliseconds, could be minutes: who has such a service sets the unit. */
function unitOf({ hint: form }: { readonly hint: HintForm }): { readonly retryAfterUnit: 'auto' | 'milliseconds' } {
  return { retryAfterUnit: form === 'milliseconds' ? form : 'auto' };
}

/** Sends a call until it is served, or its response is lost. */
async function call(limiter: StrictLimiter, network: Network): Promise<void> {
  const { signal, due, onPermit } = network;
  let permit: Permit | undefined;
  for (;;) {
    permit = await limiter.acquire({ retryOf: permit, ...definedOf({ signal, due }) });
    onPermit?.();
    const end = await response(network);
    const { perMinute = Number.POSITIVE_INFINITY } = limiter.limits();
    permit.end(end);
    if (end.kind === 'failed') expect(limiter.limits().perMinute ?? 0).toBeLessThanOrEqual(perMinute);
    if (end.kind === 'accepted' || end.kind === 'lost') return;
  }
}

/** How a request ends over a network that takes up to 200 ms each way. */
async function response({ clock, server, random, loses = 0, ...rest }: Network): Promise<RequestEnd> {
  const { serverNow = () => clock.now(), failure } = rest;
  await clock.sleep(random() * 200);
  const failed = failure?.();
  const { status, date, retryAfter } = failed ? NO_RESPONSE : server.receive(serverNow());
  await clock.sleep(random() * 200);
  if (failed) return failed;
  if (random() < loses) return { kind: 'lost' };
  return status === 200 ? { kind: 'accepted' } : { kind: 'refused', retryAfter: hint(retryAfter, date) };
}

const NO_RESPONSE = { status: undefined, date: undefined, retryAfter: undefined };

interface Network {
  readonly clock: FakeClock;
  readonly server: LimitedServer;
  readonly random: () => number;
  readonly signal?: HeardCancellation;
  readonly due?: Due;
  /** Part of the responses that never arrive. Default: none. */
  readonly loses?: number;
  readonly onPermit?: () => void;
  /** How a request that arrives now fails. Default: it does not. */
  readonly failure?: () => RequestFailure | undefined;
  /** The server's time; the client's unless told. */
  readonly serverNow?: () => number;
}

test('with any server, calls are first sent in their order, all served, and nothing is left', async () => {
  const spreads = fc.constantFrom(0, 90_000);
  const leavings = fc.array(fc.nat(90_000));
  const change = fc.record({ afterMs: fc.nat(200_000), perMinute: fc.integer({ min: 1, max: 300 }) });
  const changes = fc.oneof(fc.constant([]), fc.array(change, { maxLength: 6 }));
  const told = fc.record({ isTold: fc.boolean(), changes });
  await fc.assert(
    fc.asyncProperty(servers, seeds, told, spreads, leavings, async (options, seed, told, spread, afters) => {
      const known = told.isTold ? { perMinute: options.limit } : {};
      const { clock, limiter } = setUpLimiter({ ...unitOf(options), ...known });
      for (const { afterMs, perMinute } of told.changes) clock.after(afterMs, () => limiter.configure(perMinute));
      const random = seededRandom(seed);
      const network = { clock, server: new LimitedServer(options), random };
      const came: number[] = [];
      const sent = new Set<number>();
      const visit = async (name: number) => {
        await clock.sleep(random() * spread);
        came.push(name);
        await call(limiter, { ...network, onPermit: () => sent.add(name) });
      };

      const leaving = afters.map((afterMs) => leave(limiter, network, afterMs));
      const staying = Array.from({ length: 2 * options.limit + 5 }, (_, name) => visit(name));
      await clock.runAll();
      await Promise.all([...leaving, ...staying]);

      expect([...sent]).toEqual(came);
      expect(clock.pending).toBe(0);
      expect(limiter.limits()).toMatchObject({ waiting: 0, inFlight: 0 });
    }),
    { numRuns: 100 },
  );
});

test('with a cap, a lone client is never refused by a sliding window', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ limit: fc.integer({ min: 1, max: 40 }), seed: seeds, loses: fc.constantFrom(0, 0, 0.3) }),
      fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 20 }),
      async ({ limit, seed, loses }, leavings) => {
        const { clock, limiter } = setUpLimiter({ perMinute: limit });
        const server = new LimitedServer({ window: 'sliding-log', hint: 'seconds', limit });
        const network = { clock, server, random: seededRandom(seed), loses };
        const leaving = leavings.map((afterMs) => leave(limiter, network, afterMs));
        const calls = Promise.all([...leaving, ...Array.from({ length: 3 * limit }, () => call(limiter, network))]);
        await clock.runAll();
        await calls;

        expect(server.refused).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

/** A call whose caller leaves after a while, if it still waits then. */
async function leave(limiter: StrictLimiter, network: Network, afterMs: number): Promise<void> {
  const signal = new HeardCancellation();
  network.clock.after(afterMs, () => signal.cancel(new Error('left')));
  await call(limiter, { ...network, signal }).catch((error: Error) => expect(error.message).toBe('left'));
  expect(signal.listeners.size).toBe(0);
}

test('no call gets a permit after its deadline, or is rejected later than that', async () => {
  await fc.assert(
    fc.asyncProperty(
      servers,
      seeds,
      fc.array(fc.record({ comesMs: fc.nat(100_000), waitsMs: fc.nat(150_000) }), { minLength: 1, maxLength: 60 }),
      async (options, seed, visits) => {
        const { clock, limiter } = setUpLimiter(unitOf(options));
        const network = { clock, server: new LimitedServer(options), random: seededRandom(seed) };
        const visit = async ({ comesMs, waitsMs }: (typeof visits)[number]) => {
          await clock.sleep(comesMs);
          const deadlineAt = clock.now() + waitsMs;
          const onPermit = () => expect(clock.now()).toBeLessThanOrEqual(deadlineAt);
          await call(limiter, { ...network, due: { deadlineAt: deadlineAt }, onPermit }).catch((error: unknown) => {
            expect(error).toBeInstanceOf(NotSentError);
            // A refusal of what was sent in time can come a round trip later; a timer rings up to 1 ms late.
            expect(clock.now()).toBeLessThanOrEqual(deadlineAt + 401);
          });
        };

        const all = Promise.all(visits.map(visit));
        await clock.runAll();
        await all;

        expect(clock.pending).toBe(0);
        expect(limiter.limits()).toMatchObject({ waiting: 0, inFlight: 0 });
      },
    ),
    { numRuns: 80 },
  );
});

test('jumps of the local clock, in any direction at any time, delay no call permanently', async () => {
  const DAY_MS = 86_400_000;
  const jump = fc.record({ afterMs: fc.nat(120_000), byMs: fc.integer({ min: -DAY_MS, max: DAY_MS }) });
  await fc.assert(
    fc.asyncProperty(servers, seeds, fc.array(jump, { maxLength: 5 }), async (options, seed, jumps) => {
      const clock = new FakeClock();
      let jumpedMs = 0;
      const serverNow = () => clock.now() - jumpedMs;
      const startedAt = serverNow();
      const network = { clock, server: new LimitedServer(options), random: seededRandom(seed), serverNow };
      const limiter = new StrictLimiter({ clock, perMinute: options.limit, ...unitOf(options) });
      for (const { afterMs, byMs } of jumps) {
        clock.after(afterMs, () => {
          clock.set(byMs);
          jumpedMs += byMs;
        });
      }

      const calls = Promise.all(Array.from({ length: 2 * options.limit }, () => call(limiter, network)));
      await clock.runAll();
      await calls;

      // The optimum is a minute; what a jump unlearns, and a server that always says 60, cost some more each.
      expect(serverNow() - startedAt).toBeLessThan(600_000);
      expect(clock.pending).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test('an outage at any time costs few requests and no call; a failure raises no limit', async () => {
  const outages = fc.record({
    fromMs: fc.nat(70_000),
    lastsMs: fc.integer({ min: 1_000, max: 60_000 }),
    retryAfter: fc.constantFrom(undefined, '5', '30'),
  });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...WINDOW_KINDS), outages, seeds, async (window, outage, seed) => {
      const clock = new FakeClock();
      const startsAt = clock.now() + outage.fromMs;
      const hintMs = retryAfterMs(hint(outage.retryAfter), 'seconds');
      let failures = 0;
      const failure = (): RequestFailure | undefined => {
        if (clock.now() < startsAt || clock.now() >= startsAt + outage.lastsMs) return undefined;
        failures += 1;
        return { kind: 'failed', hintMs, wasSent: true, mayHaveUsedSlot: false, error: new Error('503') };
      };
      const server = new LimitedServer({ window, limit: 30, hint: 'seconds' });
      const random = seededRandom(seed);
      const limiter = new StrictLimiter({ clock, random });

      const calls = Promise.all(Array.from({ length: 60 }, () => call(limiter, { clock, server, random, failure })));
      await clock.runAll();
      await calls;

      // Those in flight when it began, two at most after that, and one probe per backoff.
      expect(failures).toBeLessThanOrEqual(40);
      expect(limiter.limits()).toMatchObject({ waiting: 0, inFlight: 0, service: 'up' });
    }),
    { numRuns: 100 },
  );
});

const EVENT = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), calls: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('accepted' as const) }) },
  fc.record({ kind: fc.constant('refused' as const), retryAfter: fc.constantFrom('1', '20', '60', '3600', undefined) }),
  fc.record({ kind: fc.constant('lost' as const) }),
  fc.record({ kind: fc.constant('configure' as const), perMinute: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant('store' as const), health: fc.constantFrom('up' as const, 'down' as const) }),
);
const STEP = fc.record({ event: EVENT, process: fc.nat(1), thenMs: fc.oneof(fc.nat(5), fc.nat(10_000)) });

type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

interface Reported {
  readonly kind: 'accepted' | 'lost' | 'refused';
  readonly retryAfter?: string | undefined;
}

/** Everything that two processes with a store show, when the clock of the store differs by `aheadMs`. */
async function traceOf(steps: readonly Step[], aheadMs: number): Promise<readonly unknown[]> {
  const clock = new FakeClock();
  const store = new MemoryLimitStore(clock, { takesMs: 2, aheadMs });
  const trace: unknown[] = [];
  const processes = [0, 1].map(() => ({
    limiter: new StrictLimiter({ clock, random: () => 0.5, shared: { store, name: 'key' } }),
    granted: [] as Permit[],
  }));
  const ask = ({ limiter, granted }: (typeof processes)[number], calls: number) => {
    const onGrant = (permit: Permit) => trace.push(permit.sentAt, granted.push(permit));
    const onReject = ({ message, retryAt }: NotSentError) => trace.push(message, retryAt);
    for (let call = 0; call < calls; call += 1) void limiter.acquire().then(onGrant, onReject);
  };
  for (const { event, process, thenMs } of steps) {
    const { limiter, granted } = processes[process]!;
    if (event.kind === 'store') store.health = event.health;
    else if (event.kind === 'configure') limiter.configure(event.perMinute);
    else if (event.kind === 'ask') ask(processes[process]!, event.calls);
    else report(event, granted.shift());
    await clock.advance(thenMs);
    for (const { limiter } of processes)
      trace.push({ ...limiter.limits(), history: [], eta: limiter.etaMs(9, { concurrency: 256 }) });
  }
  return trace;
}

function report({ kind, retryAfter }: Reported, permit: Permit | undefined): void {
  permit?.end(kind === 'refused' ? { kind, retryAfter: hint(retryAfter) } : { kind });
}

test('the clock of the store changes nothing, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(STEP, { minLength: 5, maxLength: 25 }),
      fc.integer({ min: 5_000, max: 86_400_000 }),
      async (steps, byMs) => {
        expect(await traceOf(steps, -byMs)).toEqual(await traceOf(steps, byMs));
      },
    ),
    { numRuns: 15 },
  );
});
