/** One attempt of a call, or one wait before it. */
export interface Attempt {
  /** HTTP status; `undefined` when no response arrived. */
  readonly status: number | undefined;
  /** `error.code` of the envelope, or the error kind when no response arrived; `undefined` after a success. */
  readonly code: string | undefined;
  /** Milliseconds waited before this attempt was sent: queue, backoff and Retry-After together. */
  readonly waitedMs: number;
  /** Why this attempt was made: `'first'`, `'retry'`, `'rate_limited'` or `'key_rotated'`. */
  readonly reason: 'first' | 'retry' | 'rate_limited' | 'key_rotated';
}
