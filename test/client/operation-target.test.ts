import { expect, test } from 'vitest';
import { buildOperationTarget } from '../../src/client/endpoints.ts';
import type { Operation, Parameter } from '../../src/generated/operations.ts';

const period: Operation = {
  id: 'period',
  method: 'GET',
  path: '/api/v1/{base}/{from}..{to}',
  summary: '',
  description: '',
  query: 'named',
  parameters: [
    parameter('base', { in: 'path', required: true }),
    parameter('from', { in: 'path', required: true }),
    parameter('to', { in: 'path', required: true }),
    parameter('symbols', { list: 'comma' }),
    parameter('places', { list: 'repeated', types: ['integer'] }),
    parameter('amount', { types: ['number'] }),
  ],
  consumesQuota: true,
  worksWhenQuotaExhausted: false,
  example: undefined,
  errors: [],
};
const required = { base: 'EUR', from: '2026-01-01', to: '2026-02-01' };

test.each([
  [{}, '/api/v1/EUR/2026-01-01..2026-02-01'],
  [{ base: 'a/b ä?' }, '/api/v1/a%2Fb%20%C3%A4%3F/2026-01-01..2026-02-01'],
  [{ base: 'v1.0', from: '1.5' }, '/api/v1/v1.0/1%2E5..2026-02-01'],
  [{ symbols: ['EUR', 'GBP'] }, '/api/v1/EUR/2026-01-01..2026-02-01?symbols=EUR%2CGBP'],
  [{ places: [2, 4], amount: 1.5 }, '/api/v1/EUR/2026-01-01..2026-02-01?places=2&places=4&amount=1.5'],
  [{ amount: undefined }, '/api/v1/EUR/2026-01-01..2026-02-01'],
])('%j is sent as %s', (values, target) => {
  expect(buildOperationTarget(period, { ...required, ...values })).toBe(target);
});

test.each([
  [{ base: '' }, "'base': expected a value that is not empty"],
  [{ base: '..' }, "'.' and '..' are not valid values"],
  [{ base: '\ud800' }, "'base': contains half a surrogate pair"],
  [{ symbols: ['EUR,GBP'] }, "'symbols': expected values without a comma"],
  [{ symbols: [] }, "'symbols': expected at least one value, got an empty list"],
  [{ places: [] }, "'places': expected at least one value, got an empty list"],
  [{ amount: Number.NaN }, "query: 'amount' must be a string, a finite number"],
])('rejects %j: %s', (values, message) => {
  expect(() => buildOperationTarget(period, { ...required, ...values })).toThrow(message);
});

function parameter(name: string, rest: Partial<Parameter>): Parameter {
  return {
    ...{ name, in: 'query', description: '', required: false, type: 'string', types: ['string'], example: undefined },
    ...rest,
  };
}
