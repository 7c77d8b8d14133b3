import { FxRatesError } from './fxrates-error.ts';

/** The service refused the key (401 or 403). Which statuses and codes it uses is not shown. */
export class AuthenticationError extends FxRatesError {
  override readonly name = 'AuthenticationError';
  readonly kind = 'authentication';
}
