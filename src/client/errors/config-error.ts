import { maskKeysIn } from '../keys/mask.ts';
import { FxRatesError } from './fxrates-error.ts';

/** A wrong option or argument; the message names it and what it got. Nothing was sent. */
export class ConfigError extends FxRatesError {
  override readonly name = 'ConfigError';
  readonly kind = 'config';

  /** A key given in place of another value, such as the base URL, must not show in what is said about that value. */
  constructor(message: string) {
    super(maskKeysIn(message));
  }
}
