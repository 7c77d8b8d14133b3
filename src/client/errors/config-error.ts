import { FxRatesError } from './fxrates-error.ts';

/** A wrong option or argument; the message names it and what it got. Nothing was sent. */
export class ConfigError extends FxRatesError {
  override readonly name = 'ConfigError';
  readonly kind = 'config';
}
