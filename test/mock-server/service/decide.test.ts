import fc from 'fast-check';
import { expect, test } from 'vitest';
import { operations } from '../../../src/generated/operations.ts';
import { rateWindows } from '../../../src/mock-server/service/rate-windows.ts';
import { MockCore } from '../../helpers/mock-core.ts';
import { rateModels } from './rate-models.ts';

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
    times: fc.constantFrom(1, 3, 10, 31),
  }),
  { maxLength: 40 },
);

/** `broken` is metered like `latest`, and its response is a 500. */
const withBroken = { ...operations, broken: { ...operations.latest, id: 'broken', path: '/api/v1/broken' } };

type ModelBehaviour = typeof behaviours extends fc.Arbitrary<infer Value> ? Value : never;

/** A simple model of one key, by the documentation. */
class ModelKey {
  used = 0;
  readonly #behaviour: ModelBehaviour;
  readonly #windows = { shared: [] as number[], separate: [] as number[] };
  #month = -1;

  constructor(behaviour: ModelBehaviour) {
    this.#behaviour = behaviour;
  }

  codeOf(what: string, now: number): string | undefined {
    const { rateWindow, quotaEndpointBucket, checkOrder } = this.#behaviour;
    this.#turnTo(new Date(now).getUTCFullYear() * 12 + new Date(now).getUTCMonth());
    const window = this.#windows[what === 'quota' ? quotaEndpointBucket : 'shared'];
    const fits = rateModels[rateWindow](window, { requests: 30, windowMs: 60_000 }, now);
    const isExhausted = what !== 'quota' && this.used >= MODEL_QUOTA;
    if (!fits && !(isExhausted && checkOrder === 'quota-then-rate')) return 'rate_limited';
    if (isExhausted) return 'quota_exceeded';
    window.push(now);
    return this.#charge(what);
  }

  #turnTo(month: number) {
    if (month !== this.#month) this.used = 0;
    this.#month = month;
  }

  #charge(what: string): string | undefined {
    const status = { 'latest?base=XXX': 400, broken: 500 }[what] ?? 200;
    const isCharged = { accepted: true, success: status < 300, 'non-5xx': status < 500 };
    if (what !== 'quota' && isCharged[this.#behaviour.quotaChargesOn]) this.used += 1;
    return { 400: 'invalid_parameter', 500: 'internal_error' }[status];
  }
}

/** Smaller than the plan's 1,000, so that a short sequence exhausts the quota. */
const MODEL_QUOTA = 40;
const USED_BEFORE = 1000 - MODEL_QUOTA;

/** A key of the mock and its model; asserts that both return the same. */
class ComparedKey {
  readonly #core: MockCore;
  readonly #model: ModelKey;
  readonly #created;
  #month = -1;

  constructor(core: MockCore, behaviour: ModelBehaviour) {
    this.#core = core;
    this.#model = new ModelKey(behaviour);
    this.#created = core.createKey('free');
  }

  send(what: string) {
    const { id, key } = this.#created;
    const month = new Date(this.#core.now).getUTCMonth();
    if (month !== this.#month) this.#core.keys.setUsage(id, { month: USED_BEFORE });
    this.#month = month;

    const response = this.#core.send(`/api/v1/${what}`, { key });

    expect(response.code).toBe(this.#model.codeOf(what, this.#core.now));
    expect(this.#core.keys.get(id).month.used).toBe(USED_BEFORE + this.#model.used);
  }
}

const broken = () => {
  throw new Error('a bug in a responder');
};

test('every sequence of requests is decided as in the model, and keys are independent', () => {
  fc.assert(
    fc.property(behaviours, moves, (behaviour, sequence) => {
      const now = Date.UTC(2026, 0, 28, 23, 59, 20);
      const core = new MockCore({ behaviour, operations: withBroken, responders: { broken }, now });
      const keys = [new ComparedKey(core, behaviour), new ComparedKey(core, behaviour)];

      for (const { gapMs, who, what, times } of sequence) {
        core.now += gapMs;
        for (let time = 0; time < times; time += 1) keys[who]?.send(what);
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

/**
 * Retries a millisecond before Retry-After has elapsed, if the format has milliseconds, and then exactly when it has.
 */
function obey(
  core: MockCore,
  key: string,
  { waitMs, isExact }: { readonly waitMs: number; readonly isExact: boolean },
) {
  const servedAt = core.now + waitMs;
  core.now = servedAt - 1;
  const early = isExact ? core.send('/api/v1/latest', { key }).status : 429;
  core.now = servedAt;
  return [early, core.send('/api/v1/latest', { key }).status];
}

test('a client that waits exactly Retry-After is served; one millisecond earlier it is refused', () => {
  fc.assert(
    fc.property(RETRY_SWITCHES, fc.array(fc.nat(2500), { minLength: 31, maxLength: 45 }), (behaviour, gaps) => {
      const core = new MockCore({ behaviour });
      const { key } = core.createKey('free');
      const unitMs = behaviour.retryAfterUnit === 'seconds' ? 1000 : 1;
      const isExact = unitMs === 1 || behaviour.retryAfterFormat === 'decimal';
      for (const gap of gaps) {
        core.now += gap;
        const refused = core.send('/api/v1/latest', { key });
        if (refused.status === 200) continue;
        const waitMs = Math.round(Number(refused.headers['retry-after']) * unitMs);
        expect(waitMs).toBeGreaterThan(0);
        expect(obey(core, key, { waitMs, isExact })).toEqual([429, 200]);
      }
    }),
  );
});

test('the quota endpoint works when the month is used up, and is rate limited', () => {
  const core = new MockCore();
  const { id, key } = core.createKey('free');
  core.keys.setUsage(id, { month: 1000 });

  const responses = Array.from({ length: 31 }, () => core.send('/api/v1/quota', { key }));

  expect(responses.slice(0, 30).every(({ status, data }) => status === 200 && data.monthly_used === 1000)).toBe(true);
  expect(responses[30]).toMatchObject({ status: 429, code: 'rate_limited', headers: { 'retry-after': '60' } });
});

test('both limits apply to each key separately', () => {
  const core = new MockCore();
  const account = core.accounts.create({ plan: 'developer' });
  core.accounts.confirm(account.id);
  const [one, other] = [0, 1].map(() => core.keys.create({ accountId: account.id }));
  for (let request = 0; request < 300; request += 1) core.send('/api/v1/latest', { key: one!.key });

  expect(core.send('/api/v1/latest', { key: one!.key }).status).toBe(429);
  expect(core.send('/api/v1/quota', { key: other!.key }).data.monthly_used).toBe(0);
});

test('a responder that throws is a 500 in the envelope, without the reason', () => {
  const core = new MockCore({
    responders: {
      latest: () => {
        throw new Error(`secret detail of fx_live_${'0'.repeat(48)}`);
      },
    },
  });
  const { key } = core.createKey();

  const response = core.send('/api/v1/latest', { key });

  expect(response).toMatchObject({ status: 500, code: 'internal_error' });
  expect(JSON.stringify(response)).not.toContain('secret detail');
  expect(core.journal.entries.at(-1)?.why).toContain('secret detail of fx_live_…');
});
