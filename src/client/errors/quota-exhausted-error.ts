import type { QuotaData } from '../../generated/types.ts';
import type { ErrorDetails } from './fxrates-error.ts';
import { FxRatesError } from './fxrates-error.ts';
import { hideAbsent } from './hide-absent.ts';

interface QuotaExhaustedDetails extends ErrorDetails {
  readonly quota?: QuotaData | undefined;
  readonly local?: boolean;
}

/** The monthly quota is used up. Never retried: waiting a minute does not help. */
export class QuotaExhaustedError extends FxRatesError {
  override readonly name = 'QuotaExhaustedError';
  readonly kind = 'quota_exhausted';
  /** The quota record that says so. */
  readonly quota: QuotaData | undefined;
  /** When the quota resets. */
  readonly resetsAt: Date | undefined;
  /** Whether the client refused by itself, from what it knew, without sending the request. */
  readonly local: boolean;

  constructor(message: string, { quota, local = false, ...details }: QuotaExhaustedDetails = {}) {
    super(message, details);
    this.quota = quota;
    this.resetsAt = quota && new Date(quota.resets_at);
    this.local = local;
    hideAbsent(this, { quota, resetsAt: this.resetsAt });
  }

  override toJSON(): Record<string, unknown> {
    const { resetsAt, local } = this;
    return { ...super.toJSON(), resetsAt, local };
  }
}
