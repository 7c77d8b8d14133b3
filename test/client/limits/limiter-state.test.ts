import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LocalCore } from '../../../src/client/limits/local-core.ts';
import { savedLimit } from '../../../src/client/limits/saved-limit.ts';

const settings = {
  perMinute: 'learn',
  maxConcurrent: 16,
  probe: true,
  maxRetryAfterMs: 65_000,
  retryAfterUnit: 'auto',
} as const;

const happenings = fc.array(
  fc.record({
    kind: fc.constantFrom('ask', 'ok', 'limited', 'lost', 'unused', 'tell'),
    afterMs: fc.integer({ min: 0, max: 20_000 }),
    roundTripMs: fc.integer({ min: 1, max: 5_000 }),
    retryAfter: fc.constantFrom(undefined, '0', '1', '17', '60', '2500', '61000', '3600', '0.5'),
    count: fc.integer({ min: 1, max: 40 }),
  }),
  { maxLength: 60 },
);

type Happening = (typeof happenings extends fc.Arbitrary<infer List> ? List : never)[number];

test('what was learned is the same after it was written as JSON and read again, at any moment', () => {
  void fc.assert(
    fc.property(happenings, (list) => {
      const core = new LocalCore(settings);
      let now = 1_700_000_000_000;
      for (const happening of list) {
        now += happening.afterMs;
        const text = JSON.stringify(core.save());
        const copy = new LocalCore(settings, savedLimit.parse(JSON.parse(text)));

        expect(tell(copy, happening, now)).toEqual(tell(core, happening, now));
        expect(copy.save()).toEqual(core.save());
      }
    }),
  );
});

function tell(core: LocalCore, { kind, roundTripMs, retryAfter, count }: Happening, now: number): unknown {
  const date = new Date(now).toUTCString();
  const answer = { now, sentAt: now - roundTripMs, probe: count % 5 === 0 };
  if (kind === 'ask') return [core.acquire(now, count), core.slotAt(now, count), core.view()];
  if (kind === 'ok') return core.ok({ ...answer, date });
  if (kind === 'limited') return core.limited({ ...answer, date, retryAfter });
  if (kind === 'lost') return core.lost(answer);
  if (kind === 'unused') return core.unused();
  return core.configure(count);
}

test('a thousand calls take less than 10 kB', () => {
  const core = new LocalCore({ ...settings, perMinute: 1_000 });
  for (let call = 0; call < 1_000; call += 1) {
    const now = 1_700_000_000_000 + 59 * call;
    core.acquire(now, 1);
    core.ok({ now, sentAt: now - 120, probe: false });
  }

  expect(JSON.stringify(core.save()).length).toBeLessThan(10_000);
});
