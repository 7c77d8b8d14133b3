import type { OperationMethods } from '../../src/generated/operation-methods.ts';
import { type OperationId, operations } from '../../src/generated/operations.ts';
import { querySchemas, responseSchemas } from '../../src/generated/schemas.ts';
import { type PlanName, plans } from '../../src/generated/service.ts';
import type { ErrorDetail, LatestData, LatestQuery, LatestResponse, QuotaData } from '../../src/generated/types.ts';

declare const fx: OperationMethods;
declare const quotaData: QuotaData;

/** Compiles only if `Given` and `Expected` are the same type. */
type Same<Given, Expected> =
  (<T>() => T extends Given ? 1 : 2) extends <T>() => T extends Expected ? 1 : 2 ? true : false;
const same = <Given, Expected>(_: Same<Given, Expected>): void => undefined;

export const methods = [
  // @ts-expect-error only what the contract has
  () => fx.noOperation({ date: '2026-01-02' }),
  // @ts-expect-error how a request is sent is the client's own business
  () => fx.request('latest', undefined, undefined),
];

export const data = [
  () => same<QuotaData['plan'], 'free' | 'developer' | 'unlimited' | (string & {})>(true),
  () => same<QuotaData['extra'], unknown>(true),
  () => same<LatestResponse['success'], true>(true),
  () => same<ErrorDetail['code'], 'rate_limited' | (string & {})>(true),
  (): QuotaData => ({ ...quotaData, plan: 'a plan of tomorrow', more: 1 }),

  // @ts-expect-error what is absent is left out
  (): QuotaData => ({ ...quotaData, monthly_limit: undefined }),
  // @ts-expect-error the service does not show what rates look like
  (response: LatestData): number => response['rates'].EUR,
  // @ts-expect-error monthly_used is required
  (): QuotaData => ({ ...quotaData, monthly_used: undefined }),
];

export const tables = [
  (): readonly OperationId[] => ['latest', 'quota'],
  () => same<PlanName, 'free' | 'developer' | 'unlimited'>(true),
  () => operations.quota.consumesQuota satisfies false,
  () => operations.latest.errors[0].headers[0] satisfies 'Retry-After',
  () => plans.developer.rateLimitPerMinute satisfies 300,
  () => responseSchemas.quota.parse({}).data satisfies QuotaData,
  () => querySchemas.latest.parse({}) satisfies LatestQuery,

  // @ts-expect-error no such operation
  () => operations.noOperation,
  // @ts-expect-error no such plan
  () => plans.gold,
  // @ts-expect-error the table is constant
  () => (operations.latest.path = '/api/v2/latest'),
];
