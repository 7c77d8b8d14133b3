import type { Operation } from '../../generated/operations.ts';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { KeyRecord, ServiceContext } from '../service/service-state.ts';
import type { Answer } from './answer.ts';

/** What an operation answers to a request that is within both limits. Synchronous: limits are counted around it. */
export type Responder = (request: AdmittedRequest, context: ResponderContext) => Answer;

export interface AdmittedRequest {
  readonly operation: Operation;
  readonly key: KeyRecord;
  /** Without `api_key`. */
  readonly query: URLSearchParams;
}

export interface ResponderContext extends ServiceContext {
  readonly behaviour: Behaviour;
  /** Decides the invented rates. */
  readonly seed: number;
}
