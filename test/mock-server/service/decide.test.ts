import { expect, test } from 'vitest';
import { operations } from '../../../src/generated/operations.ts';
import type { BehaviourOptions } from '../../../src/mock-server/behaviour/behaviour.ts';
import { MockCore } from '../../helpers/mock-core.ts';

/** `broken` is metered like `latest`, and its response is a 500. */
const withBroken = { ...operations, broken: { ...operations.latest, id: 'broken', path: '/api/v1/broken' } };
const broken = () => {
  throw new Error('a bug in a responder');
};

const OVER_BOTH = { minute: 30, month: 1000 };

test.each<[BehaviourOptions, usage: object, codes: Record<string, string>, used: number]>([
  [{ checkOrder: 'rate-then-quota' }, OVER_BOTH, { latest: 'rate_limited', quota: 'rate_limited' }, 1000],
  [{ checkOrder: 'quota-then-rate' }, OVER_BOTH, { latest: 'quota_exceeded', quota: 'rate_limited' }, 1000],
  [{ quotaEndpointBucket: 'shared' }, { minute: 30 }, { quota: 'rate_limited' }, 0],
  [{ quotaEndpointBucket: 'separate' }, { minute: 30 }, { quota: 'served', latest: 'rate_limited' }, 0],
  ...Object.entries({ accepted: 3, 'non-5xx': 2, success: 1 }).map(
    ([quotaChargesOn, used]): [BehaviourOptions, object, Record<string, string>, number] => [
      { quotaChargesOn } as BehaviourOptions,
      { month: 0 },
      { latest: 'served', 'latest?base=XXX': 'invalid_parameter', broken: 'internal_error', quota: 'served' },
      used,
    ],
  ),
])('with %j, a key that has used %j gets %j, and has then used %i of its month', (behaviour, usage, codes, used) => {
  const core = new MockCore({ behaviour, operations: withBroken, responders: { broken } });
  const { id, key } = core.createKey('free');
  core.keys.setUsage(id, usage);

  for (const [what, code] of Object.entries(codes)) {
    expect([what, core.send(`/api/v1/${what}`, { key }).code ?? 'served']).toEqual([what, code]);
  }
  expect(core.keys.get(id).month.used).toBe(used);
});

test('the quota endpoint works when the month is used up, and is rate limited', () => {
  const core = new MockCore();
  const { id, key } = core.createKey('free');
  core.keys.setUsage(id, { month: 1000 });

  const responses = Array.from({ length: 31 }, () => core.send('/api/v1/quota', { key }));

  expect(responses.slice(0, 30).every(({ status, data }) => status === 200 && data.monthly_used === 1000)).toBe(true);
  expect(responses[30]).toMatchObject({ status: 429, code: 'rate_limited', headers: { 'retry-after': '60' } });
});

test.each([0, 30])('setUsage() of %i in the minute empties a separate window of the quota endpoint', (minute) => {
  const core = new MockCore({ behaviour: { quotaEndpointBucket: 'separate' } });
  const { id, key } = core.createKey('free');
  const ask = () => core.send('/api/v1/quota', { key }).status;
  const statuses = Array.from({ length: 31 }, ask);

  core.keys.setUsage(id, { minute });

  expect([statuses.at(-1), ask(), core.keys.get(id).minute.used]).toEqual([429, 200, minute]);
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
