import type { AbortError } from './abort-error.ts';
import type { AuthenticationError } from './authentication-error.ts';
import type { ConfigError } from './config-error.ts';
import type { NetworkError } from './network-error.ts';
import type { QuotaExhaustedError } from './quota-exhausted-error.ts';
import type { RateLimitError } from './rate-limit-error.ts';
import type { RequestError } from './request-error.ts';
import type { ResponseError } from './response-error.ts';
import type { ServerError } from './server-error.ts';
import type { TimeoutError } from './timeout-error.ts';

/** Every error of the client; a union that `switch (error.kind)` narrows. */
export type AnyFxRatesError =
  | ConfigError
  | AuthenticationError
  | RateLimitError
  | QuotaExhaustedError
  | RequestError
  | ServerError
  | NetworkError
  | TimeoutError
  | AbortError
  | ResponseError;
