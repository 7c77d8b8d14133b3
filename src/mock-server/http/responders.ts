import type { Operation, Parameter } from '../../generated/operations.ts';
import { querySchemas } from '../../generated/schemas.ts';
import { type PlanName, plans } from '../../generated/service.ts';
import type { QuotaData } from '../../generated/types.ts';
import { parseParameterText, splitList } from '../../operation.ts';
import { parseSchema } from '../../parse-schema.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import type { QuotaUse } from '../service/quota.ts';
import type { KeyRecord } from '../service/service-state.ts';
import type { LatestFunction } from '../stubs/stub-schemas.ts';
import type { MockResponse } from './mock-message.ts';
import { type ParsedRequest, parametersOf } from './parse-request.ts';
import { badParameter, envelopeResponse, successResponse } from './responses.ts';

/** Creates the response to a request within both limits. It is synchronous, because the limits are checked before and
 * counted after it, in one step. */
export type Responder = (request: AdmittedRequest) => MockResponse;

export interface AdmittedRequest {
  readonly operation: Operation;
  /** Parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly key: KeyRecord;
  /** Time of arrival, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Usage before this request. */
  readonly quota: QuotaUse;
  readonly request: ParsedRequest;
  readonly switches: Switches;
  /** Determines invented values. */
  readonly seed: number;
  /** The function of a stub that returns the data of `latest` for this request. */
  readonly latest?: LatestFunction | undefined;
}

/** `GET /api/v1/quota`: the documented record (docs/facts.md) with the usage of the key. */
export const quotaResponder: Responder = ({ key, quota, switches }) => {
  const { plan } = key.account;
  const record: QuotaData = {
    plan,
    monthly_used: quota.used,
    ...monthlyLimitField(plan, switches),
    rate_limit_per_minute: plans[plan].rateLimitPerMinute,
    snapshot_granularity: switches.use('snapshotGranularity'),
    historical_days: INVENTED_HISTORICAL_DAYS[plan],
    resets_at: new Date(quota.resetsAt).toISOString(),
  };
  return successResponse(record);
};

/** The service documents the field, not its values. */
const INVENTED_HISTORICAL_DAYS: Readonly<Record<PlanName, number>> = { free: 90, developer: 365, unlimited: 3650 };

function monthlyLimitField(plan: PlanName, switches: Switches): Pick<QuotaData, 'monthly_limit'> {
  const limit = plans[plan].monthlyLimit;
  if (limit !== null) return { monthly_limit: limit };
  const unlimited = switches.use('unlimitedAs');
  return unlimited === 'omitted' ? {} : { monthly_limit: unlimited };
}

/** An operation without a responder of its own: checks the parameters and returns the example of openapi.yaml. */
export const exampleResponder: Responder = (request) => {
  const { operation, switches } = request;
  const problem = operation.query === 'named' ? parameterProblem(request) : undefined;
  const refusal = problem === undefined ? undefined : badParameter(problem, switches);
  if (refusal !== undefined) return refusal;
  return envelopeResponse(operation.example);
};

/** Why the parameters do not match their schema; `undefined` if they do. */
function parameterProblem(request: AdmittedRequest): string | undefined {
  const schema = Object.entries(querySchemas).find(([id]) => id === request.operation.id)?.[1];
  const result = schema && parseSchema(schema, typedParameters(request));
  if (result === undefined || result.success) return undefined;
  return result.error.issues
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
    .join('; ');
}

/** The parameters, converted to the types of the schema. A text that cannot be converted is unchanged, so the schema
 * rejects it. */
function typedParameters({ operation, parameters, request }: AdmittedRequest): Record<string, unknown> {
  const texts = new Map<string, string[]>();
  for (const [name, text] of parametersOf(request)) {
    const earlier = texts.get(name);
    if (earlier === undefined) texts.set(name, [text]);
    else earlier.push(text);
  }
  for (const [name, text] of Object.entries(parameters)) texts.set(name, [text]);
  const known = new Map(operation.parameters.map((parameter) => [parameter.name, parameter]));
  return Object.fromEntries(Array.from(texts, ([name, values]) => [name, typed(values, known.get(name))]));
}

function typed(texts: readonly string[], parameter: Parameter | undefined): unknown {
  if (parameter === undefined) return texts;
  const items = parameter.list === 'comma' ? texts.flatMap(splitList) : texts;
  const values = items.map((text) => parseParameterText(text, parameter));
  return parameter.list === undefined && values.length === 1 ? values[0] : values;
}
