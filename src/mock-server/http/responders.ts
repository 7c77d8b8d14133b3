import type { Operation } from '../../generated/operations.ts';
import { querySchemas } from '../../generated/schemas.ts';
import { type PlanName, plans } from '../../generated/service.ts';
import type { QuotaData } from '../../generated/types.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { QuotaUse } from '../service/quota.ts';
import type { KeyRecord, ServiceContext } from '../service/service-state.ts';
import type { LatestFunction } from '../stubs/stub-record.ts';
import { badParameter } from './error-responses.ts';
import { errorResponse, type ServiceResponse, successResponse } from './service-response.ts';

/** What an operation answers to a request that is within both limits. Synchronous: limits are counted around it. */
export type Responder = (request: AdmittedRequest, context: ServiceContext) => ServiceResponse;

export interface AdmittedRequest {
  readonly operation: Operation;
  readonly key: KeyRecord;
  /** When it came, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Before this request. */
  readonly quota: QuotaUse;
  /** Without `api_key`. */
  readonly query: URLSearchParams;
  /** Makes the data of `latest` for this request, in place of what does otherwise. */
  readonly latest?: LatestFunction | undefined;
}

/** `GET /api/v1/quota`: the record as documented (docs/facts.md), from what the key has really used. */
export const quotaResponder: Responder = ({ key, quota }, { behaviour }) => {
  const { plan } = key.account;
  const record: QuotaData = {
    plan,
    monthly_used: quota.used,
    ...monthlyLimitField(plan, behaviour),
    rate_limit_per_minute: plans[plan].rateLimitPerMinute,
    snapshot_granularity: behaviour.use('snapshotGranularity'),
    historical_days: INVENTED_HISTORICAL_DAYS[plan],
    resets_at: isoTime(quota.resetsAt),
  };
  return successResponse(record);
};

/** The service shows the field, not its values. */
const INVENTED_HISTORICAL_DAYS: Readonly<Record<PlanName, number>> = { free: 90, developer: 365, unlimited: 3650 };

function monthlyLimitField(plan: PlanName, behaviour: Behaviour): Pick<QuotaData, 'monthly_limit'> {
  const limit = plans[plan].monthlyLimit;
  if (limit !== null) return { monthly_limit: limit };
  const unlimited = behaviour.use('unlimitedAs');
  return unlimited === 'omitted' ? {} : { monthly_limit: unlimited };
}

// Kept, because nearly all keys share the end of their month.
let lastIso = { at: 0, text: '' };

function isoTime(at: number): string {
  if (at !== lastIso.at) lastIso = { at, text: new Date(at).toISOString() };
  return lastIso.text;
}

/** An operation without a responder of its own: checks the named parameters and answers the example of openapi.yaml. */
export const exampleResponder: Responder = ({ operation, query }, { behaviour }) => {
  const problem = operation.query === 'named' ? queryProblem(operation, query) : undefined;
  const refusal = problem === undefined ? undefined : badParameter(problem, behaviour);
  if (refusal !== undefined) return refusal;
  if (!isSuccessEnvelope(operation.example)) {
    return errorResponse({
      status: 501,
      code: 'not_implemented',
      message: `openapi.yaml has no example for ${operation.id}.`,
    });
  }
  return successResponse(operation.example.data);
};

/** What is wrong with the query, by the schema generated for it; `undefined` if nothing is. */
function queryProblem(operation: Operation, query: URLSearchParams): string | undefined {
  const schema = Object.entries(querySchemas).find(([id]) => id === operation.id)?.[1];
  const result = schema?.safeParse(typedQuery(operation, query));
  if (result === undefined || result.success) return undefined;
  return result.error.issues
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
    .join('; ');
}

/** Text from the URL as the types the schema asks for; what does not fit stays text, and the schema refuses it. */
function typedQuery({ parameters }: Operation, query: URLSearchParams): Record<string, unknown> {
  const types = new Map(parameters.map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name).map((value) => typed(value, types.get(name)));
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

function typed(value: string, type: string | undefined): unknown {
  if ((type === 'integer' || type === 'number') && value.trim() !== '' && !Number.isNaN(Number(value))) {
    return Number(value);
  }
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function isSuccessEnvelope(example: unknown): example is { readonly data: unknown } {
  return typeof example === 'object' && example !== null && 'data' in example;
}
