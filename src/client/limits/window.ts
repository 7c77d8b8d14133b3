import { type AcceptedLog, WINDOW_MS } from './accepted-log.ts';
import type { LimiterState } from './limiter-state.ts';

/**
 * How the server counts, as far as its answers have shown.
 * - `log`: a request counts for a minute. Also safe for a window that starts with the first request after the last ended.
 * - `fixed`: the count starts anew every minute, at `startsAt` or up to `guardMs` later.
 * - `bucket`: one token per request; `tokens` at the time `at`, refilled at `perMs`, never more than `capacity`.
 */
export type Window = Readonly<LimiterState['window']>;
export type BucketWindow = Extract<Window, { kind: 'bucket' }>;
export type FixedWindow = Extract<Window, { kind: 'fixed' }>;

/** What has been used of a window. */
export interface Usage {
  readonly log: AcceptedLog;
  readonly limit: number;
  readonly inFlight: number;
}

/** The window as it is at `now`: a fixed one that has ended starts again, a bucket has refilled. */
export function advanceWindow(window: Window, now: number): Window {
  if (window.kind === 'fixed' && now >= window.startsAt + WINDOW_MS) {
    const ended = Math.floor((now - window.startsAt) / WINDOW_MS);
    const boundary = window.boundary === 'assumed' ? 'testing' : window.boundary;
    return { ...window, startsAt: window.startsAt + ended * WINDOW_MS, boundary };
  }
  if (window.kind === 'bucket' && now > window.at) {
    const tokens = Math.min(window.capacity, window.tokens + (now - window.at) * window.perMs);
    return { ...window, tokens, at: now };
  }
  return window;
}

/** Requests that may be sent at `now`; zero or less for none. The window has been advanced to `now`. */
export function freeSlots(window: Window, { log, limit, inFlight }: Usage, now: number): number {
  switch (window.kind) {
    case 'log':
      return limit - log.size - inFlight;
    case 'fixed':
      if (now < window.startsAt + window.guardMs) return 0;
      return limit - log.answeredSince(window.startsAt) - inFlight;
    case 'bucket':
      return now < window.at ? 0 : Math.floor(window.tokens);
  }
}

/** When a request with `ahead` others before it finds a slot if nothing is sent meanwhile; `undefined`: after an answer. */
export function nextSlotAt(window: Window, usage: Usage, now: number, ahead = 0): number | undefined {
  const missing = ahead + 1 - freeSlots(window, usage, now);
  if (missing <= 0) return now;
  const { log, limit } = usage;
  switch (window.kind) {
    case 'log': {
      // Beyond the requests in the log, the slots are those of requests that are still to be sent: a minute later each.
      const beyond = missing - 1 - log.size;
      if (beyond < 0) return log.expiresAt(missing - 1);
      const expiresAt = log.expiresAt(Math.min(beyond % limit, log.size - 1));
      return expiresAt === undefined ? undefined : expiresAt + (1 + Math.floor(beyond / limit)) * WINDOW_MS;
    }
    case 'fixed': {
      const opensAt = window.startsAt + window.guardMs;
      if (now < opensAt) return opensAt + Math.floor(ahead / limit) * WINDOW_MS;
      return opensAt + (1 + Math.floor((missing - 1) / limit)) * WINDOW_MS;
    }
    case 'bucket':
      return Math.max(now, window.at) + (ahead + 1 - window.tokens) / window.perMs;
  }
}
