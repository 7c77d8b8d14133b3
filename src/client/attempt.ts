/** One attempt of a call, with the wait before it. */
export interface Attempt {
  /** HTTP status; `undefined` if no response arrived. */
  readonly status: number | undefined;
  /** Error code of the service, or the error's `code` or `kind`; `undefined` after a success. */
  readonly code: string | undefined;
  /** Milliseconds waited before this attempt was sent: queue, backoff and Retry-After. */
  readonly waitedMs: number;
  /** Why this attempt was made: `'first'`, `'retry'`, `'rate_limited'` or `'key_rotated'`. */
  readonly reason: 'first' | 'retry' | 'rate_limited' | 'key_rotated';
}
