import { FxRatesError } from './fxrates-error.ts';

/** The service failed (5xx), also after the retries that were allowed. */
export class ServerError extends FxRatesError {
  override readonly name = 'ServerError';
  readonly kind = 'server';
}
