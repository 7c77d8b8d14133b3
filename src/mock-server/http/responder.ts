import type { Operation } from '../../generated/operations.ts';
import type { QuotaUse } from '../service/quota-use.ts';
import type { KeyRecord, ServiceContext } from '../service/service-state.ts';
import type { ServiceResponse } from './service-response.ts';

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
}
