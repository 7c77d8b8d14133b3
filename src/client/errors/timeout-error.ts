import type { ErrorDetails } from './fxrates-error.ts';
import { FxRatesError } from './fxrates-error.ts';

interface TimeoutDetails extends ErrorDetails {
  /** `'attempt'`: one attempt took longer than `timeoutMs`; `'deadline'`: the whole call took longer than `deadlineMs`. */
  readonly scope: 'attempt' | 'deadline';
  readonly limitMs: number;
}

/** Time ran out, for one attempt or for the whole call. */
export class TimeoutError extends FxRatesError {
  override readonly name = 'TimeoutError';
  readonly kind = 'timeout';
  /** `'attempt'`: one attempt took longer than `timeoutMs`; `'deadline'`: the whole call took longer than `deadlineMs`. */
  readonly scope: 'attempt' | 'deadline';
  /** The limit that was reached, in milliseconds. */
  readonly limitMs: number;

  constructor({ scope, limitMs, ...details }: TimeoutDetails) {
    super(
      scope === 'attempt'
        ? `No complete response within ${limitMs} ms (timeoutMs)`
        : `The call did not end within ${limitMs} ms (deadlineMs)`,
      details,
    );
    this.scope = scope;
    this.limitMs = limitMs;
  }
}
