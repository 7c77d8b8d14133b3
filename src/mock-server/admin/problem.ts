import { redactKeys } from '../redact-keys.ts';

/** What the admin API refuses; the answer is `{ error: { code, message, field } }` with `status`. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly code: string;
  /** The part of the request that is wrong. */
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, { status, code, field, headers = {} }: ProblemDetail) {
    // Both repeat what was sent: a path, or the name of a field.
    super(redactKeys(message));
    this.status = status;
    this.code = code;
    this.field = field === undefined ? undefined : redactKeys(field);
    this.headers = headers;
  }
}

interface ProblemDetail {
  readonly status: number;
  readonly code: string;
  readonly field?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}
