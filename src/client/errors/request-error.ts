import { FxRatesError } from './fxrates-error.ts';

/** The service refused the request: a 4xx that is about neither the key nor a limit. */
export class RequestError extends FxRatesError {
  override readonly name = 'RequestError';
  readonly kind = 'request';
}
