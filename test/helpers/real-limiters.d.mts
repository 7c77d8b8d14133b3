/** A service behind a rate limiter of 30 requests per minute, on a port of the loopback. */
export interface LimitedService extends AsyncDisposable {
  readonly origin: string;
}

export const hasNginx: boolean;

/** The limiters that read the time of this process. */
export const REAL_LIMITERS: Readonly<
  Record<
    | 'express-rate-limit'
    | '@fastify/rate-limit'
    | 'rate-limiter-flexible'
    | 'rate-limiter-flexible, blockDuration: 75',
    () => Promise<LimitedService>
  >
>;

/** nginx with `limit_req rate=30r/m burst=10 nodelay`, in a time that is `speed` times as fast as the real one. */
export function startNginx(options: { readonly speed: number }): Promise<LimitedService>;

/** Replaces `Date` and the timers of this process until it is disposed; `advance` runs the next timer. */
export function startVirtualTime(): Disposable & { advance(): Promise<unknown> };
