import type { Outage, ServerSpec } from './server.ts';
import type { WindowOptions } from './windows.ts';

type More = Partial<ServerSpec>;

export const fixed = (limit: number, more: More = {}): ServerSpec => ({ kind: 'fixed-minute', limit, ...more });
export const firstHit = (limit: number, more: More = {}): ServerSpec => ({ kind: 'fixed-first-hit', limit, ...more });
export const log = (limit: number, more: More = {}): ServerSpec => ({ kind: 'sliding-log', limit, ...more });
export const counter = (limit: number, more: More = {}): ServerSpec => ({ kind: 'sliding-counter', limit, ...more });
export const leaky = (limit: number, more: More = {}): ServerSpec => ({ kind: 'leaky', limit, ...more });
export const bucket = (limit: number, burst: number, more: More = {}): ServerSpec => ({
  ...{ kind: 'bucket', limit, burst },
  ...more,
});

/** A second limit in a sliding window. */
export const per = (windowMs: number, limit: number): WindowOptions => ({ kind: 'sliding-log', limit, windowMs });

/** A limit of requests that are processed at once, each for this time. */
export const atOnce = (calls: number, processingMs: number): More => ({
  second: per(processingMs, calls),
  processingMs,
});

/** An outage with 503. */
export const unavailable = (fromMs: number, untilMs: number, retryAfter?: Outage['retryAfter']): More => ({
  outages: [{ fromMs, untilMs, kind: 503, ...(retryAfter === undefined ? {} : { retryAfter }) }],
});

/** An outage of another kind. */
export const failing = (kind: Outage['kind'], fromMs: number, untilMs: number, part = 1): More => ({
  outages: [{ fromMs, untilMs, kind, part }],
});

export const HOUR_MS = 3_600_000;
export const none = Number.POSITIVE_INFINITY;
/** The client's default options, among them a deadline of 90 s. */
export const DEFAULTS = {};
