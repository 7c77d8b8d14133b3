// All types of the contract, so that those of a new operation are included. One whose name the client also exports is only in
// `ContractTypes`.
export type * from '../generated/types.ts';
export type * as ContractTypes from '../generated/types.ts';
export type { Batch, BatchItem, RemainingQueries } from './api/batch.ts';
export { FxRates } from './api/fxrates.ts';
export type { Poll, PollItem } from './api/poll.ts';
export type { ApiCall, ResponseMeta } from './call/api-call.ts';
export type { GetOptions } from './call/endpoint.ts';
export type { Attempt, SchemaIssue } from './errors/errors.ts';
export {
  AbortError,
  type AnyFxRatesError,
  AuthenticationError,
  ConfigError,
  FxRatesError,
  type FxRatesErrorKind,
  NetworkError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  ResponseError,
  ServerError,
  TimeoutError,
} from './errors/errors.ts';
export type { KeyLimits } from './limits/rate-limiter.ts';
export type { LimitStore } from './limits/shared/limit-store.ts';
export type {
  BatchOptions,
  BatchProgress,
  CallOptions,
  PollOptions,
  PollSchedule,
  StandardSchema,
} from './options/call-options.ts';
export type {
  CacheOptions,
  CacheStore,
  FxRatesOptions,
  Middleware,
  MiddlewareRequest,
  QuotaEstimate,
  QuotaGuardOptions,
  RateLimitOptions,
} from './options/client-options.ts';
export type { CallEvent, Logger, QuotaEvent, RequestEvent, RetryEvent, WaitEvent } from './options/hooks.ts';
export type { Clock } from './time/clock.ts';
export type { FetchLike } from './transport/transport.ts';
