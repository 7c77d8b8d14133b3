import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Operation, operations } from '../../../src/generated/operations.ts';
import { querySchemas, responseSchemas } from '../../../src/generated/schemas.ts';
import { MockCore } from '../../helpers/mock-core.ts';

const historical: Operation = {
  ...operations.latest,
  id: 'historical',
  path: '/api/v1/historical',
  query: 'named',
  parameters: [
    { name: 'date', description: '', required: true, type: 'date' },
    { name: 'days', description: '', required: false, type: 'integer' },
    { name: 'exact', description: '', required: false, type: 'boolean' },
  ],
  example: { success: true, data: { date: '2026-01-01', rates: { EUR: 0.9 } } },
};

/** As the generator adds it when openapi.yaml gets the operation. */
const historicalQuery = z.strictObject({
  date: z.iso.date(),
  days: z.int().min(1).optional(),
  exact: z.boolean().optional(),
});

function coreWith(operation: Operation, behaviour = {}) {
  Object.assign(querySchemas, { historical: historicalQuery });
  return new MockCore({ operations: { ...operations, [operation.id]: operation }, behaviour });
}

test('an operation that openapi.yaml adds answers its example, and is metered as it says', () => {
  const core = coreWith(historical);
  const { id, key } = core.createKey();

  const answer = core.send('/api/v1/historical?date=2026-01-01&days=3&exact=true', { key });

  expect(answer.body).toEqual(historical.example);
  expect(core.keys.get(id).monthlyUsed).toBe(1);
});

test('an operation that consumes no quota and works without is not counted, and served when the month is used up', () => {
  const core = coreWith({ ...historical, consumesQuota: false, worksWhenQuotaExhausted: true });
  const { id, key } = core.createKey();
  core.keys.setUsage(id, { month: 1000 });

  expect(core.send('/api/v1/historical?date=2026-01-01', { key }).status).toBe(200);
  expect(core.keys.get(id).monthlyUsed).toBe(1000);
});

test.each([
  ['date=yesterday', 'date: '],
  ['', 'date: '],
  ['date=2026-01-01&days=many', 'days: '],
  ['date=2026-01-01&days=0', 'days: '],
  ['date=2026-01-01&exact=maybe', 'exact: '],
  ['date=2026-01-01&date=2026-01-02', 'date: '],
  ['date=2026-01-01&colour=<b>', 'Unrecognized key'],
])('named parameters are checked: %s', (query, message) => {
  const core = coreWith(historical);
  const { key } = core.createKey();

  const answer = core.send(`/api/v1/historical?${query}&api_key=${key}`);

  expect(answer).toMatchObject({ status: 400, code: 'invalid_parameter' });
  expect(answer.body.error.message).toContain(message);
});

test('an operation without an example is told so', () => {
  const core = coreWith({ ...historical, query: 'free-form', example: undefined });

  expect(core.send('/api/v1/historical', { key: core.createKey().key })).toMatchObject({
    status: 501,
    code: 'not_implemented',
  });
});

test.each(['free', 'developer', 'unlimited'] as const)(
  'the answers of the %s plan are what openapi.yaml says',
  (plan) => {
    const core = new MockCore();
    const { key } = core.createKey(plan);

    const quota = core.send('/api/v1/quota', { key });
    const latest = core.send('/api/v1/latest', { key });

    expect(responseSchemas.quota.safeParse(quota.body).success).toBe(true);
    expect(responseSchemas.latest.safeParse(latest.body).success).toBe(true);
    expect(quota.data.resets_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  },
);

test('latest takes base and symbols in any case, once or several times', () => {
  const core = new MockCore();
  const { key } = core.createKey();

  const answers = ['base=eur&symbols=usd,%20jpy', 'base=EUR&symbols=USD&symbols=JPY,'].map(
    (query) => core.send(`/api/v1/latest?${query}`, { key }).data,
  );

  expect(answers[0]).toEqual({
    base: 'EUR',
    timestamp: '2026-01-15T00:00:00.000Z',
    source: 'invented by the fxrates mock server',
    rates: { USD: expect.any(Number), JPY: expect.any(Number) },
  });
  expect(answers[1]).toEqual(answers[0]);
});

test('invented rates change with the snapshot of five minutes and agree with each other', () => {
  const core = new MockCore();
  const { key } = core.createKey();
  const rates = (query: string) => core.send(`/api/v1/latest?${query}`, { key }).data.rates;

  const [usd, eur] = [rates('base=USD'), rates('base=EUR')];
  core.now += 5 * 60_000 - 1;
  const same = rates('base=USD');
  core.now += 1;
  const next = rates('base=USD');

  expect(same).toEqual(usd);
  expect(next).not.toEqual(usd);
  expect(usd.EUR * eur.USD).toBeCloseTo(1, 3);
  expect(Object.keys(usd)).not.toContain('USD');
  expect(Object.values<number>(usd).every((rate) => rate > 0)).toBe(true);
});

test('what an answer repeats of a request, HTML would find harmless', () => {
  const core = coreWith(historical);

  core.send('/api/v1/historical?%3Cscript%3E=1', { key: core.createKey().key });
  const answer = core.send('/api/v1/historical?%3Cscript%3E=1', { key: core.createKey().key });

  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.body.error.message).toContain('<script>');
  expect(answer.text).not.toMatch(/[<>&]/);
});
