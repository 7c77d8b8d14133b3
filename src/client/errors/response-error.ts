import type { SchemaIssue } from '../standard-schema.ts';
import type { ErrorDetails } from './fxrates-error.ts';
import { FxRatesError } from './fxrates-error.ts';
import { hideAbsent } from './hide-absent.ts';

interface ResponseErrorDetails extends ErrorDetails {
  readonly issues?: readonly SchemaIssue[];
  readonly bodyExcerpt?: string;
}

/** A response arrived, but not the one the contract promises: not JSON, not the envelope, not the schema, too long, or a redirect. */
export class ResponseError extends FxRatesError {
  override readonly name = 'ResponseError';
  readonly kind = 'response';
  /** What a schema found wrong; empty when the body could not be read at all. */
  readonly issues: readonly SchemaIssue[];
  /** The first characters of the body, without the key. */
  readonly bodyExcerpt: string | undefined;

  constructor(message: string, { issues, bodyExcerpt, ...details }: ResponseErrorDetails = {}) {
    super(message, details);
    this.issues = issues ?? [];
    this.bodyExcerpt = bodyExcerpt;
    hideAbsent(this, { issues, bodyExcerpt });
  }
}
