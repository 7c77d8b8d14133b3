import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Concurrency, concurrencyFailed, initialConcurrency } from '../../../src/client/limits/concurrency.ts';
import type { LimiterState } from '../../../src/client/limits/limiter-state.ts';
import { type LimiterEvent, LimiterProcess, limiterEvents } from '../../helpers/limiter-events.ts';

const ANY_HINT = [undefined, undefined, '0', '1', '2', '10', '17', '60', '61', '3600', '2500', '59000', '0.5', '86400'];
const limits = fc.constantFrom(Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 1, 3, 30, 300);
const LONGEST_GUARD_MS = 30_000;
const DAY_MS = 86_400_000;

/** Ends what is in flight, in the given way. */
function endAll(process: LimiterProcess, kind: 'accepted' | 'lost' | 'unused'): void {
  while (process.inFlight > 0) process.apply({ kind, place: 0, isDated: false });
}

test('while calls wait and nothing is in flight, a call is sent or has a time, after any events', () => {
  fc.assert(
    fc.property(limiterEvents(ANY_HINT), limits, fc.boolean(), (events, perMinute, mayProbe) => {
      const process = new LimiterProcess(perMinute, { mayProbe });
      for (const event of events) {
        const { inFlight } = process;
        const { grant } = process.apply(event);
        if (grant === undefined || inFlight > 0 || grant.count > 0) continue;
        expect(grant.askAgainAt).toBeDefined();
        expect(grant.askAgainAt).toBeGreaterThan(process.now);
        expect(grant.askAgainAt! - process.now).toBeLessThanOrEqual(DAY_MS);
      }
    }),
    { numRuns: 400 },
  );
});

/** After these events, the next slot of the window is at the same millisecond: without a later time, the loop would not end. */
const SLOT_AT_NOW: LimiterEvent[] = [
  { kind: 'ask', wanted: 1 },
  { kind: 'refused', place: 0, isDated: false },
  { kind: 'configured', perMinute: 36 },
  { kind: 'time', ms: 1667 },
  { kind: 'ask', wanted: 1 },
  { kind: 'accepted', place: 0, isDated: false },
  { kind: 'ask', wanted: 1 },
  { kind: 'accepted', place: 0, isDated: false },
  { kind: 'ask', wanted: 2 },
  { kind: 'refused', place: 0, isDated: false },
  { kind: 'refused', place: 0, isDated: false, retryAfter: '10' },
];

test('a process that asks at the given times sends a call after few attempts, within a day and a guard', () => {
  fc.assert(
    fc.property(
      limiterEvents(ANY_HINT),
      limits,
      fc.boolean(),
      fc.constantFrom('accepted' as const, 'lost' as const, 'unused' as const),
      (events, perMinute, mayProbe, end) => {
        const process = new LimiterProcess(perMinute, { mayProbe });
        for (const event of events) process.apply(event);
        endAll(process, end);

        const startedAt = process.now;
        let grant = process.ask(5);
        for (let asked = 1; grant.count === 0; asked += 1) {
          // As many as the jitter of a bucket has milliseconds.
          expect(asked).toBeLessThan(20);
          process.now = Math.ceil(grant.askAgainAt!);
          grant = process.ask(5);
        }
        // A fixed window can begin with a guard.
        expect(process.now - startedAt).toBeLessThanOrEqual(DAY_MS + LONGEST_GUARD_MS);
      },
    ),
    { numRuns: 400, examples: [[SLOT_AT_NOW, Number.POSITIVE_INFINITY, false, 'accepted']] },
  );
});

test('a limit configured at any time, higher or lower, allows calls within two minutes', () => {
  fc.assert(
    fc.property(
      limiterEvents([undefined, '1', '10', '60']),
      limits,
      fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 5 }),
      (events, perMinute, plans) => {
        const process = new LimiterProcess(perMinute);
        for (const event of events) process.apply(event);

        for (const plan of plans) process.apply({ kind: 'configured', perMinute: plan });
        endAll(process, 'accepted');
        const startedAt = process.now;
        let sent = process.ask(5).count;
        while (sent === 0 && process.now - startedAt < 120_000) {
          process.now += 250;
          sent = process.ask(5).count;
        }

        expect(sent).toBeGreaterThan(0);
      },
    ),
    { numRuns: 300 },
  );
});

/** When the service said it would serve again. */
function promisedAt(event: LimiterEvent, process: LimiterProcess): number {
  return event.kind === 'refused' && event.retryAfter !== undefined
    ? process.now + Number(event.retryAfter) * 1_000
    : 0;
}

test('nothing is sent before an honest Retry-After has passed', () => {
  fc.assert(
    fc.property(limiterEvents([undefined, '1', '2', '7.5', '30', '60', '61']), limits, (events, perMinute) => {
      const process = new LimiterProcess(perMinute);
      let notBefore = 0;
      for (const event of events) {
        const hasResponse = process.inFlight > 0;
        const { grant } = process.apply(event);
        if (hasResponse) notBefore = Math.max(notBefore, promisedAt(event, process));
        if (grant && grant.count > 0) expect(process.now).toBeGreaterThanOrEqual(notBefore);
      }
    }),
    { numRuns: 400 },
  );
});

test('without probes, calls in flight and per minute never exceed the configured limit', () => {
  const calm = limiterEvents([undefined]).map((events) =>
    events.filter(({ kind }) => kind !== 'refused' && kind !== 'configured'),
  );
  fc.assert(
    fc.property(calm, fc.constantFrom(1, 3, 30), (events, perMinute) => {
      const process = new LimiterProcess(perMinute, { mayProbe: false });
      for (const event of events) {
        process.apply(event);
        expect(process.state.log.size + process.inFlight).toBeLessThanOrEqual(perMinute);
      }
    }),
  );
});

/** Everything that allows more requests the larger it is. */
function allowances({ limit, configured, window, burst, gate }: LimiterState): number[] {
  return [limit, configured, window.kind === 'bucket' ? window.perMs : 0, burst.calls, gate.accepted, -gate.opensAt];
}

test('a failed request never raises a limit, a share or the concurrency', () => {
  fc.assert(
    fc.property(limiterEvents(ANY_HINT), limits, (events, perMinute) => {
      const process = new LimiterProcess(perMinute);
      let concurrency: Concurrency = initialConcurrency('adapt');
      for (const event of events) {
        const before = allowances(process.state);
        process.apply(event);
        if (event.kind !== 'lost' && event.kind !== 'unused') continue;
        for (const [place, value] of allowances(process.state).entries()) {
          expect(value).toBeLessThanOrEqual(before[place]!);
        }

        const response = { now: process.now, sentAt: process.now - 100, isOutage: event.kind === 'lost' };
        const after = concurrencyFailed(concurrency, response);
        expect(after.limit).toBeLessThanOrEqual(concurrency.limit);
        concurrency = after;
      }
    }),
    { numRuns: 200 },
  );
});
