// Generated from openapi.yaml by npm run generate. Do not edit.

import * as z from 'zod';
import type * as types from './types.ts';

/** An integer of any size, as in JSON Schema; `z.int()` refuses those beyond ±2^53. */
const integer = z.number().refine(Number.isInteger, 'Expected an integer');

export const LatestData: z.ZodType<types.LatestData> = z.looseObject({});

export const LatestResponse: z.ZodType<types.LatestResponse> = z.looseObject({
  success: z.literal(true),
  data: LatestData,
});

export const QuotaData: z.ZodType<types.QuotaData> = z.looseObject({
  plan: z.string(),
  monthly_used: integer,
  monthly_limit: z.union([integer, z.string(), z.null()]).exactOptional(),
  rate_limit_per_minute: integer,
  snapshot_granularity: z.string(),
  historical_days: integer,
  resets_at: z.iso.datetime({ offset: true }),
});

export const QuotaResponse: z.ZodType<types.QuotaResponse> = z.looseObject({
  success: z.literal(true),
  data: QuotaData,
});

export const ErrorDetail: z.ZodType<types.ErrorDetail> = z.looseObject({
  code: z.string(),
  message: z.string(),
  status: integer,
});

export const ErrorResponse: z.ZodType<types.ErrorResponse> = z.looseObject({
  success: z.literal(false),
  error: ErrorDetail,
});

export const LatestQuery: z.ZodType<types.LatestQuery> = z
  .object({})
  .catchall(z.union([z.string(), z.number(), z.boolean(), z.array(z.union([z.string(), z.number(), z.boolean()]))]));

/** The whole answer of each operation. */
export const responseSchemas = {
  latest: LatestResponse,
  quota: QuotaResponse,
};

/** What each operation takes: parameters of the path and of the query. */
export const querySchemas = {
  latest: LatestQuery,
  quota: z.strictObject({}),
};
