// Generated from openapi.yaml by npm run generate. Do not edit.

import * as z from 'zod/mini';
import type * as types from './types.ts';

/** An integer of any size, as in JSON Schema; `z.int()` refuses those beyond ±2^53. */
const integer = z.number().check(z.refine(Number.isInteger, 'Expected an integer'));

export const LatestData: z.ZodMiniType<types.LatestData> = z.looseObject({});

export const LatestResponse: z.ZodMiniType<types.LatestResponse> = z.looseObject({
  success: z.literal(true),
  data: LatestData,
});

export const QuotaData: z.ZodMiniType<types.QuotaData> = z.looseObject({
  plan: z.string(),
  monthly_used: integer,
  monthly_limit: z.exactOptional(z.union([integer, z.string(), z.null()])),
  rate_limit_per_minute: integer,
  snapshot_granularity: z.string(),
  historical_days: integer,
  resets_at: z.iso.datetime({ offset: true }),
});

export const QuotaResponse: z.ZodMiniType<types.QuotaResponse> = z.looseObject({
  success: z.literal(true),
  data: QuotaData,
});

export const ErrorDetail: z.ZodMiniType<types.ErrorDetail> = z.looseObject({
  code: z.string(),
  message: z.string(),
  status: integer,
});

export const ErrorResponse: z.ZodMiniType<types.ErrorResponse> = z.looseObject({
  success: z.literal(false),
  error: ErrorDetail,
});

export const LatestQuery: z.ZodMiniType<types.LatestQuery> = z.catchall(
  z.object({}),
  z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number(), z.boolean()]))]),
);

/** The whole response of each operation. */
export const responseSchemas = {
  latest: LatestResponse,
  quota: QuotaResponse,
};

/** What each operation takes: parameters of the path and of the query. */
export const querySchemas = {
  latest: LatestQuery,
  quota: z.strictObject({}),
};
