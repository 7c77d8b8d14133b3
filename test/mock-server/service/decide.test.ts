import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operations } from '../../../src/generated/operations.ts';
import { failure } from '../../../src/mock-server/http/answer.ts';
import { rateWindows } from '../../../src/mock-server/service/windows/rate-windows.ts';
import { MockCore } from '../../helpers/mock-core.ts';
import { rateModels } from '../../helpers/mock-rate-models.ts';

const windows = Object.keys(rateWindows) as (keyof typeof rateWindows)[];

const behaviours = fc.record({
  rateWindow: fc.constantFrom(...windows),
  quotaEndpointBucket: fc.constantFrom('shared' as const, 'separate' as const),
  checkOrder: fc.constantFrom('rate-then-quota' as const, 'quota-then-rate' as const),
  quotaChargesOn: fc.constantFrom('accepted' as const, 'success' as const, 'non-5xx' as const),
});

const moves = fc.array(
  fc.record({
    gapMs: fc.oneof(fc.constant(0), fc.nat(4000), fc.nat(90_000), fc.constant(20 * 86_400_000)),
    who: fc.nat(1),
    what: fc.constantFrom('latest', 'latest', 'latest?base=XXX', 'broken', 'quota'),
    times: fc.constantFrom(1, 3, 31),
  }),
  { maxLength: 40 },
);

/** `broken` is metered like `latest`, and its answer is a 500. */
const withBroken = { ...operations, broken: { ...operations.latest, id: 'broken', path: '/api/v1/broken' } };

/** What SERVICE.md says of one key, in the plainest words. */
function modelOf(behaviour: {
  readonly rateWindow: (typeof windows)[number];
  readonly quotaEndpointBucket: 'shared' | 'separate';
  readonly checkOrder: 'rate-then-quota' | 'quota-then-rate';
  readonly quotaChargesOn: 'accepted' | 'success' | 'non-5xx';
}) {
  const windowsOf = { latest: [] as number[], quota: [] as number[] };
  let month = -1;
  let used = 0;
  return (what: string, now: number) => {
    const monthNow = new Date(now).getUTCFullYear() * 12 + new Date(now).getUTCMonth();
    if (month !== monthNow) used = 0;
    const window = windowsOf[what === 'quota' && behaviour.quotaEndpointBucket === 'separate' ? 'quota' : 'latest'];
    const fits = rateModels[behaviour.rateWindow](window, 30, now);
    const isExhausted = what !== 'quota' && used >= 40;
    if (!fits && (!isExhausted || behaviour.checkOrder === 'rate-then-quota')) return { code: 'rate_limited', used };
    if (isExhausted) return { code: 'quota_exceeded', used };
    window.push(now);
    const status = { 'latest?base=XXX': 400, broken: 500 }[what] ?? 200;
    const isCharged = { accepted: true, success: status < 300, 'non-5xx': status < 500 }[behaviour.quotaChargesOn];
    if (what !== 'quota' && isCharged) {
      used += 1;
      month = monthNow;
    }
    return { code: { 400: 'invalid_parameter', 500: 'internal_error' }[status], used };
  };
}

test('every sequence of requests is decided as the model decides it, and no key changes another', () => {
  fc.assert(
    fc.property(behaviours, moves, (behaviour, sequence) => {
      const core = new MockCore({
        behaviour,
        operations: withBroken,
        responders: {
          broken: () => {
            throw new Error('a bug in a responder');
          },
        },
        now: Date.UTC(2026, 0, 28, 23, 59, 20),
      });
      const callers = [0, 1].map(() => ({ ...core.createKey('free'), model: modelOf(behaviour) }));
      // The quota of the model is 40, not 1,000, so that a short sequence comes to its end.
      const alreadyUsed = () => 1000 - 40;
      const isSet = new Map<string, number>();

      for (const { gapMs, who, what, times } of sequence) {
        core.now += gapMs;
        const caller = callers[who]!;
        for (let time = 0; time < times; time += 1) {
          const month = new Date(core.now).getUTCMonth();
          if (isSet.get(caller.id) !== month) core.keys.setUsage(caller.id, { month: alreadyUsed() });
          isSet.set(caller.id, month);
          const expected = caller.model(what, core.now);

          const answer = core.send(`/api/v1/${what}`, { key: caller.key });

          expect(answer.code).toBe(expected.code);
          expect(core.keys.get(caller.id).monthlyUsed).toBe(expected.used + alreadyUsed());
        }
      }
    }),
    { numRuns: 150 },
  );
});

const RETRY_SWITCHES = fc.record({
  rateWindow: fc.constantFrom(...windows),
  retryAfterUnit: fc.constantFrom('seconds' as const, 'milliseconds' as const),
  retryAfterFormat: fc.constantFrom('integer' as const, 'decimal' as const),
});

test('whoever obeys Retry-After exactly is served; one millisecond earlier is refused when the format is exact', () => {
  fc.assert(
    fc.property(RETRY_SWITCHES, fc.array(fc.nat(2500), { minLength: 31, maxLength: 45 }), (behaviour, gaps) => {
      const core = new MockCore({ behaviour });
      const { key } = core.createKey('free');
      for (const gap of gaps) {
        core.now += gap;
        const refused = core.send('/api/v1/latest', { key });
        if (refused.status === 200) continue;
        const value = Number(refused.headers['retry-after']);
        const waitMs = behaviour.retryAfterUnit === 'seconds' ? Math.round(value * 1000) : value;
        expect(waitMs).toBeGreaterThan(0);
        const isExact = behaviour.retryAfterUnit === 'milliseconds' || behaviour.retryAfterFormat === 'decimal';
        core.now += waitMs - 1;
        if (isExact) expect(core.send('/api/v1/latest', { key }).code).toBe('rate_limited');
        core.now += 1;
        expect(core.send('/api/v1/latest', { key }).status).toBe(200);
      }
    }),
  );
});

test('a refused request changes neither limit, whichever of the two refuses it', () => {
  const core = new MockCore();
  const { id, key } = core.createKey('free');
  core.keys.setUsage(id, { month: 999 });
  core.send('/api/v1/latest', { key });

  const exhausted = Array.from({ length: 50 }, () => core.send('/api/v1/latest', { key }).code);
  const quota = Array.from({ length: 30 }, () => core.send('/api/v1/quota', { key }));

  expect(new Set(exhausted)).toEqual(new Set(['quota_exceeded']));
  // One served `latest` and 29 `quota` make the 30 of the minute; the 50 refused count nowhere.
  expect(quota.map(({ status }) => status)).toEqual([...Array(29).fill(200), 429]);
  expect(quota[0]?.data.monthly_used).toBe(1000);
});

test('the quota endpoint never counts toward the month, works when it is used up, and is rate limited', () => {
  const core = new MockCore();
  const { id, key } = core.createKey('free');
  core.keys.setUsage(id, { month: 1000 });

  const answers = Array.from({ length: 31 }, () => core.send('/api/v1/quota', { key }));

  expect(answers.slice(0, 30).every(({ status, data }) => status === 200 && data.monthly_used === 1000)).toBe(true);
  expect(answers[30]).toMatchObject({ status: 429, code: 'rate_limited', headers: { 'retry-after': '60' } });
});

test('the Unlimited plan is never out of quota, yet rate limited', () => {
  const core = new MockCore();
  const { id, key } = core.createKey('unlimited');
  core.keys.setUsage(id, { month: 50_000_000 });

  const codes = Array.from({ length: 1001 }, () => core.send('/api/v1/latest', { key }).code);

  expect(codes.filter((code) => code === undefined)).toHaveLength(1000);
  expect(codes.at(-1)).toBe('rate_limited');
});

test('both limits apply to each key of an account for itself', () => {
  const core = new MockCore();
  const account = core.accounts.create({ plan: 'developer' });
  core.accounts.confirm(account.id);
  const [one, other] = [0, 1].map(() => core.keys.create({ accountId: account.id }));
  for (let request = 0; request < 300; request += 1) core.send('/api/v1/latest', { key: one!.key });

  expect(core.send('/api/v1/latest', { key: one!.key }).status).toBe(429);
  expect(core.send('/api/v1/quota', { key: other!.key }).data.monthly_used).toBe(0);
});

test('an answer that fails inside a responder is a 500 in the envelope, without a word of why', () => {
  const core = new MockCore({
    responders: {
      latest: () => {
        throw new Error('secret detail');
      },
    },
  });
  const { key } = core.createKey();

  const answer = core.send('/api/v1/latest', { key });

  expect(answer).toMatchObject({ status: 500, code: 'internal_error' });
  expect(JSON.stringify(answer)).not.toContain('secret detail');
  expect(core.journal.entries.at(-1)?.why).toContain('secret detail');
});

test('a failure of the service’s own making is not charged when only successes are', () => {
  const core = new MockCore({
    behaviour: { quotaChargesOn: 'success' },
    responders: { latest: () => failure({ status: 503, code: 'down', message: 'Down.' }) },
  });
  const { id, key } = core.createKey();

  core.send('/api/v1/latest', { key });

  expect(core.keys.get(id).monthlyUsed).toBe(0);
});
