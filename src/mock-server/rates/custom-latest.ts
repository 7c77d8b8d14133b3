import type { PlanName } from '../../generated/service.ts';
import type { AdmittedRequest } from '../http/responders.ts';
import { type ServiceResponse, successResponse } from '../http/service-response.ts';
import { show } from '../mock-server-error.ts';
import type { InventedData } from './invented-latest.ts';

/** Makes the `data` of `latest` for a request that is within both limits. Synchronous: limits are counted around it. */
export type LatestFunction = (query: URLSearchParams, context: LatestContext) => object;

/** What a `latest` function may want to know beside the query. */
export interface LatestContext {
  /** When the request came, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly keyId: string;
  readonly plan: PlanName;
  /** What the mock would have answered. */
  invented(): InventedData;
}

/** The answer of a user's function. What is no object becomes a 500, with the reason in the journal. */
export function answerWith(
  latest: LatestFunction,
  { query, at, key }: AdmittedRequest,
  invented: LatestContext['invented'],
): ServiceResponse {
  const data: unknown = latest(query, { at, keyId: key.id, plan: key.account.plan, invented });
  if (typeof data === 'object' && data !== null && !('then' in data)) return successResponse(data);
  const given = data instanceof Promise ? 'a promise' : show(data);
  throw new TypeError(`the latest option gave ${given}; expected an object, at once`);
}
