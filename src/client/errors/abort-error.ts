import type { ErrorDetails } from './fxrates-error.ts';
import { FxRatesError } from './fxrates-error.ts';

/** The caller's signal ended the call; the signal's reason is in `cause`. */
export class AbortError extends FxRatesError {
  override readonly name = 'AbortError';
  readonly kind = 'aborted';

  constructor(details: ErrorDetails = {}) {
    super('The call was aborted by its signal', details);
  }
}
