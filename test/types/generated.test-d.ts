import * as z from 'zod';
import type { ApiCall, ResponseMeta } from '../../src/client/api-call.ts';
import type { CallOptions } from '../../src/client/call-options.ts';
import type { OperationMethods } from '../../src/generated/operation-methods.ts';
import { type OperationId, operations } from '../../src/generated/operations.ts';
import { querySchemas, responseSchemas } from '../../src/generated/schemas.ts';
import { type PlanName, plans } from '../../src/generated/service.ts';
import type { ErrorDetail, LatestData, LatestQuery, LatestResponse, QuotaData } from '../../src/generated/types.ts';

declare const fx: OperationMethods;
declare const quotaData: QuotaData;
declare const options: CallOptions;

/** Compiles only if `Given` and `Expected` are the same type. */
type Same<Given, Expected> =
  (<T>() => T extends Given ? 1 : 2) extends <T>() => T extends Expected ? 1 : 2 ? true : false;
const same = <Given, Expected>(_: Same<Given, Expected>): void => undefined;
const rates = z.object({ rates: z.record(z.string(), z.number()) });

export const methods = [
  () => fx.latest() satisfies ApiCall<LatestData>,
  () => fx.latest({ base: 'EUR', symbols: ['USD', 'GBP'], places: 4, exact: true }, { timeoutMs: 500 }),
  () => fx.latest(undefined, options),
  () => fx.quota() satisfies ApiCall<QuotaData>,
  () => fx.quota({ deadlineMs: false, onLimit: 'throw', maxRetries: 0, signal: AbortSignal.abort() }),
  async () => (await fx.quota().withMeta()) satisfies { data: QuotaData; meta: ResponseMeta },

  // @ts-expect-error a query is flat
  () => fx.latest({ filter: { base: 'EUR' } }),
  // @ts-expect-error null is not a value of a query
  () => fx.latest({ base: null }),
  () => fx.latest({ base: undefined }),
  // @ts-expect-error options come after the query
  () => fx.latest({}, { timeoutMs: '500' }),
  // @ts-expect-error unknown option
  () => fx.latest({}, { timeout: 500 }),
  // @ts-expect-error quota takes no query
  () => fx.quota({}, {}),
  // @ts-expect-error unknown option
  () => fx.quota({ base: 'EUR' }),
  // @ts-expect-error only what the contract has
  () => fx.noOperation({ date: '2026-01-02' }),
  // @ts-expect-error how a request is sent is the client's own business
  () => fx.request('latest', undefined, undefined),
];

export const ownSchema = [
  () => same<Awaited<ReturnType<typeof typed>>, { rates: Record<string, number> }>(true),
  () => fx.quota({ schema: z.looseObject({ plan: z.string() }), timeoutMs: 500 }) satisfies ApiCall<{ plan: string }>,

  // @ts-expect-error a schema is a Standard Schema
  () => fx.latest({}, { schema: { parse: (value: unknown) => value } }),
  // @ts-expect-error the schema's type, not LatestData
  () => fx.latest({}, { schema: rates }) satisfies ApiCall<{ rates: string }>,
];

function typed() {
  return fx.latest({ base: 'EUR' }, { schema: rates });
}

export const data = [
  () => same<QuotaData['plan'], 'free' | 'developer' | 'unlimited' | (string & {})>(true),
  () => same<QuotaData['monthly_limit'], number | string | null | undefined>(true),
  () => same<QuotaData['extra'], unknown>(true),
  () => same<LatestResponse['success'], true>(true),
  () => same<ErrorDetail['code'], 'rate_limited' | (string & {})>(true),
  (): QuotaData => ({ ...quotaData, plan: 'a plan of tomorrow', more: 1 }),
  (): LatestQuery => ({ base: 'EUR' }),

  // @ts-expect-error a response is not changed
  () => (quotaData.monthly_used = 0),
  // @ts-expect-error what is absent is left out
  (): QuotaData => ({ ...quotaData, monthly_limit: undefined }),
  // @ts-expect-error a field the contract does not name may be anything
  (): string => quotaData['extra'],
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
