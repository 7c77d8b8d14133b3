import { expect, test } from 'vitest';
import { type Operation, operations } from '../../../src/generated/operations.ts';
import { responseSchemas } from '../../../src/generated/schemas.ts';
import { createRouter } from '../../../src/mock-server/http/respond.ts';
import { MockCore } from '../../helpers/mock-core.ts';

const historical: Operation = {
  ...operations.latest,
  id: 'historical',
  path: '/api/v1/historical/{date}',
  example: { success: true, data: { date: '2026-01-01', rates: { EUR: 0.9 } } },
};

function coreWith(operation: Operation, behaviour = {}) {
  return new MockCore({ operations: { ...operations, [operation.id]: operation }, behaviour });
}

test('an operation added to openapi.yaml returns its example, and is metered as declared', () => {
  const core = coreWith(historical);
  const { id, key } = core.createKey();

  const response = core.send('/api/v1/historical/2026-01-01?days=3', { key });

  expect(response.body).toEqual(historical.example);
  expect(core.keys.get(id).month.used).toBe(1);
});

test('an operation that needs no quota is not counted, and works when the month is used up', () => {
  const core = coreWith({ ...historical, consumesQuota: false, worksWhenQuotaExhausted: true });
  const { id, key } = core.createKey();
  core.keys.setUsage(id, { month: 1000 });

  expect(core.send('/api/v1/historical/2026-01-01', { key }).status).toBe(200);
  expect(core.keys.get(id).month.used).toBe(1000);
});

test('a fixed path comes before one with parameters', () => {
  const today: Operation = {
    ...historical,
    id: 'today',
    path: '/api/v1/historical/today',
  };
  const period: Operation = { ...today, id: 'period', path: '/api/v1/historical/{from}..{to}' };
  const core = new MockCore({ operations: { historical, period, today } });
  const { key } = core.createKey();

  for (const path of ['today', '2026-01-01..2026-02-01', '2026-01-01'])
    core.send(`/api/v1/historical/${path}`, { key });

  expect(core.journal.entries.map(({ operation }) => operation)).toEqual(['today', 'period', 'historical']);
});

test('an encoded dot belongs to a value, not to the text between two values', () => {
  const findRoute = createRouter({ pair: { ...historical, path: '/api/v1/{from}.{to}' } });

  expect(findRoute('GET', '/api/v1/1%2E5.2')).toMatchObject({ parameters: { from: '1.5', to: '2' } });
  expect(findRoute('GET', '/%61pi/v1/1.2')).toMatchObject({ parameters: { from: '1', to: '2' } });
});

test.each(['free', 'developer', 'unlimited'] as const)('the responses of the %s plan match openapi.yaml', (plan) => {
  const core = new MockCore();
  const { key } = core.createKey(plan);

  const quota = core.send('/api/v1/quota', { key });
  const latest = core.send('/api/v1/latest', { key });

  expect(responseSchemas.quota.safeParse(quota.body).success).toBe(true);
  expect(responseSchemas.latest.safeParse(latest.body).success).toBe(true);
  expect(quota.data.resets_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
});

test('a response escapes the parts of a request that it repeats for HTML', () => {
  const core = new MockCore({ behaviour: { unknownParameters: '400' } });

  const response = core.send('/api/v1/latest?%3Cscript%3E=1', { key: core.createKey().key });

  expect(response.headers['content-type']).toBe('application/json');
  expect(response.body.error.message).toContain('<script>');
  expect(response.text).not.toMatch(/[<>&]/);
});
