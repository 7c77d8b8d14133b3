import { FxRatesError } from './fxrates-error.ts';

/** No valid HTTP response arrived; the system's error is in `cause`, its code in `code`. */
export class NetworkError extends FxRatesError {
  override readonly name = 'NetworkError';
  readonly kind = 'network';
}
