import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Permit } from '../../../../src/client/limits/in-flight.ts';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import { MemoryLimitStore } from '../../../helpers/memory-limit-store.ts';
import { hint, type NotSentError, StrictLimiter } from '../../../helpers/strict-limiter.ts';

const EVENT = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), calls: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ok' as const) }) },
  fc.record({ kind: fc.constant('limited' as const), retryAfter: fc.constantFrom('1', '20', '60', '3600', undefined) }),
  fc.record({ kind: fc.constant('lost' as const) }),
  fc.record({ kind: fc.constant('configure' as const), perMinute: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ kind: fc.constant('store' as const), health: fc.constantFrom('up' as const, 'down' as const) }),
);
const STEP = fc.record({ event: EVENT, process: fc.nat(1), thenMs: fc.oneof(fc.nat(5), fc.nat(10_000)) });

type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

interface Reported {
  readonly kind: 'ok' | 'lost' | 'limited';
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
    const onReject = ({ why }: NotSentError) => trace.push(why.reason, why.retryAt);
    for (let call = 0; call < calls; call += 1) void limiter.acquire().then(onGrant, onReject);
  };
  for (const { event, process, thenMs } of steps) {
    const { limiter, granted } = processes[process]!;
    if (event.kind === 'store') store.health = event.health;
    else if (event.kind === 'configure') limiter.configure(event.perMinute);
    else if (event.kind === 'ask') ask(processes[process]!, event.calls);
    else report(event, granted.shift());
    await clock.advance(thenMs);
    for (const { limiter } of processes) trace.push({ ...limiter.limits(), history: [], eta: limiter.etaMs(9, 256) });
  }
  return trace;
}

function report({ kind, retryAfter }: Reported, permit: Permit | undefined): void {
  if (kind === 'limited') permit?.limited(hint(retryAfter));
  else permit?.[kind]();
}

test('the clock of the store changes nothing, whatever happens', { timeout: 60_000 }, async () => {
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
