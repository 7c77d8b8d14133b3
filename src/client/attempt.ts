/** One attempt of a call, with the wait before it. */
export interface Attempt {
  /** HTTP status; `undefined` if no response arrived. */
  readonly status: number | undefined;
  /** Error code of the service, or the error's `code` or `kind`; `undefined` after a success. */
  readonly code: string | undefined;
  /** Milliseconds waited before this attempt was sent: queue, backoff and Retry-After. */
  readonly waitedMs: number;
  /**
   * Reason for this attempt. `'first'`: the first one. `'retry'`: the previous one failed. `'rate_limited'`: the service
   * refused the previous one (429). `'key_rotated'`: the service refused the previous key.
   */
  readonly reason: 'first' | 'retry' | 'rate_limited' | 'key_rotated';
}

/** Names of the header, the service's own before those of proxies. */
const NAMES = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-amz-cf-id', 'cf-ray'];

/** ID of the response; `undefined` if no header has one. */
export function requestIdOf(headers: { get(name: string): string | null | undefined } | undefined): string | undefined {
  for (const name of NAMES) {
    const id = headers?.get(name);
    if (id) return id;
  }
  return undefined;
}
