/** Waits that grow with the number of failures. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Default: 2. */
  readonly factor?: number;
}

/** Milliseconds to wait after a failure; `failures`: the number of those before it. */
export function backoffMs(failures: number, { firstMs, longestMs, factor = 2 }: Backoff): number {
  return Math.min(longestMs, firstMs * factor ** failures);
}

/** Half of the wait, and a random part of the other half. Full jitter can be close to zero: within the same outage. */
export function equalJitter(ms: number, random: () => number): number {
  return Math.ceil(ms / 2 + (random() * ms) / 2);
}
