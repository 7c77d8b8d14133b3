// Exports all types, so that those of a new operation are included.
export type * from '../generated/types.ts';
export type { ApiCall, CallOptions, HeadersOption, ResponseMeta, SchemaCallOptions } from './api-call.ts';
export type { Attempt } from './attempt.ts';
export type { Batch, BatchItem, BatchOptions, BatchProgress, BatchQueries, RemainingQueries } from './batch.ts';
export type { CallTrace } from './call-trace.ts';
export type { Clock } from './clock.ts';
export type { GetOptions, OperationData, OperationQuery, QueryOperation, QueryValue } from './endpoints.ts';
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
  type RateLimitReason,
  RequestError,
  ResponseError,
  ServerError,
  TimeoutError,
} from './errors/errors.ts';
export type {
  CallEvent,
  EventHooks,
  KeyEvent,
  Logger,
  QuotaEvent,
  RequestEvent,
  RetryEvent,
  WaitEvent,
} from './events.ts';
export { FxRates } from './fxrates.ts';
export type { ApiKeyOption } from './keys/key-source.ts';
export type { LimiterChange, LimiterEvent, WindowName } from './limits/limiter-view.ts';
export type { LimitExchange, LimitOffer, LimitStore } from './limits/shared/limit-store.ts';
export type { Middleware, MiddlewareRequest } from './middleware/intercept.ts';
export type { Numbers } from './numbers.ts';
export type {
  AppInfo,
  AuthForm,
  CacheOptions,
  CacheStore,
  FxRatesOptions,
  QuotaGuardOptions,
  RateLimitOptions,
} from './options.ts';
export type { Poll, PollItem, PollOptions, PollSchedule } from './poll.ts';
export { forecastQuota, type QuotaForecast } from './quota/forecast.ts';
export type { QuotaEstimate } from './quota/quota-ledger.ts';
export { granularityMs } from './quota/quota-ledger.ts';
export type { SchemaIssue, SchemaOutput, StandardResult, StandardSchema } from './standard-schema.ts';
export type { KeyLimits, UnitEstimate } from './state/key-limits.ts';
export type { FetchLike } from './transport/transport.ts';
