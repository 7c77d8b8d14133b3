import { type AcceptedLog, WINDOW_MS } from './accepted-log.ts';

/**
 * How the server counts requests, as learned from its responses.
 * - `log`: a request counts for a minute. Also safe for a window that starts with the first request after the last ended.
 * - `fixed`: the count restarts every minute, at `startsAt` or up to `guardMs` later.
 * - `bucket`: one token per request; `tokens` at the time `at`, refilled at `perMs`, never more than `capacity`.
 */
export type Window = { readonly kind: 'log' } | FixedWindow | BucketWindow;

export interface FixedWindow {
  readonly kind: 'fixed';
  readonly startsAt: number;
  readonly guardMs: number;
  /** `testing`: the first boundary after the window became known, which tests the assumption. */
  readonly boundary: 'assumed' | 'testing' | 'confirmed';
}

export interface BucketWindow {
  readonly kind: 'bucket';
  readonly perMs: number;
  readonly capacity: number;
  readonly tokens: number;
  readonly at: number;
}

/** The used part of a window: a part of `LimiterState`. */
export interface Usage {
  readonly log: AcceptedLog;
  readonly limit: number;
  readonly inFlight: number;
}

/** The window at `now`: a fixed window that has ended restarts, a bucket refills. */
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

/** Number of requests that may be sent at `now`; zero or less for none. The window has been advanced to `now`. */
export function freeSlots(window: Window, { log, limit, inFlight }: Usage, now: number): number {
  switch (window.kind) {
    case 'log':
      return limit - log.size - inFlight;
    case 'fixed':
      if (now < window.startsAt + window.guardMs) return 0;
      return Math.min(
        limit - log.acceptedSince(window.startsAt) - inFlight,
        testSlots(window, { log, limit, inFlight }),
      );
    case 'bucket':
      return now < window.at ? 0 : Math.floor(window.tokens);
  }
}

/**
 * At its first boundary, a fixed window allows one request more than a log would. If that is accepted, the server has
 * forgotten requests that a log still counts.
 */
function testSlots({ boundary }: FixedWindow, { log, limit, inFlight }: Usage): number {
  if (boundary !== 'testing') return Number.POSITIVE_INFINITY;
  return Math.max(limit - log.size - inFlight, inFlight === 0 ? 1 : 0);
}

/**
 * Time of a free slot for a request with `ahead` others before it if nothing is sent meanwhile; `undefined`: after a
 * response.
 */
export function nextSlotAt(window: Window, usage: Usage, now: number, ahead = 0): number | undefined {
  const missing = ahead + 1 - freeSlots(window, usage, now);
  if (missing <= 0) return now;
  switch (window.kind) {
    case 'log':
      return usage.log.size === 0 ? undefined : nextLogSlotAt(usage, now, missing - 1);
    case 'fixed':
      return nextFixedSlotAt(window, usage, { now, ahead, missing });
    case 'bucket':
      return Math.max(now, window.at) + Math.max(0, ahead + 1 - window.tokens) / window.perMs;
  }
}

/**
 * Time at which the slot at `place`, after the free ones, is free again: first the slots of the requests in the log,
 * then those of the requests sent now; the same again a minute later.
 */
export function nextLogSlotAt({ log, limit }: Usage, now: number, place: number): number {
  const rounds = place < log.size ? 0 : Math.floor(place / limit);
  return (log.expiresAt(place - rounds * limit) ?? now + WINDOW_MS) + rounds * WINDOW_MS;
}

/** `missing`: number of slots missing for the last of the requests `ahead` and the next one. */
function nextFixedSlotAt(
  window: FixedWindow,
  usage: Usage,
  { now, ahead, missing }: { readonly now: number; readonly ahead: number; readonly missing: number },
): number | undefined {
  const { log, limit, inFlight } = usage;
  const { startsAt, guardMs, boundary } = window;
  const opensAt = startsAt + guardMs;
  if (now < opensAt) return opensAt + Math.floor(ahead / limit) * WINDOW_MS;
  const isTest = boundary === 'testing' && log.acceptedSince(startsAt) + inFlight < limit;
  if (isTest) return nextSlotAt({ kind: 'log' }, usage, now, ahead);
  return opensAt + (1 + Math.floor((missing - 1) / limit)) * WINDOW_MS;
}
