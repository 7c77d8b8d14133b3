import type { RetryAfter } from '../errors/errors.ts';
import { backoffMs, equalJitter } from '../time/clock.ts';
import { LONGEST_BACKOFF_MS, type RetryAfterReading } from './limit-rules.ts';
import { LONG_AGO, UNBOUNDED } from './limit-state.ts';

/**
 * How a request ended.
 * - `accepted`: the server responded, neither with a refusal for the rate nor with a failure.
 * - `refused`: the server refused it for the rate (429).
 * - `failed`: a 5xx, a timeout, a broken or refused connection.
 * - `lost`: the caller aborted before a response arrived. The server may have counted the request.
 * - `unused`: the request was not sent; its slot is returned.
 */
export type RequestEnd =
  | { readonly kind: 'accepted' | 'lost' | 'unused' }
  | { readonly kind: 'refused'; readonly retryAfter: RetryAfter | undefined }
  | RequestFailure;

/** How a request failed. */
export interface RequestFailure {
  readonly kind: 'failed';
  /** Whether the request was sent, and whether the service may have counted it for the minute. */
  readonly wasSent: boolean;
  readonly mayHaveUsedSlot: boolean;
  /** Milliseconds that the Retry-After of the failure asks to wait. */
  readonly hintMs?: number | undefined;
  /** Whether the time of the attempt was up, which the caller sets. */
  readonly isTimeout?: boolean | undefined;
  readonly error: unknown;
}

/** Receives the end of a request, and the dated time of its response if that was earlier. */
export type OnEnd = (permit: Permit, end: RequestEnd, arrivedAt?: number) => RetryAfterReading | undefined;

/** Permits one request now. The first report about the request ends the permit; later ones are ignored. */
export class Permit {
  /** Dated time of `SteadyTime`, and what its `skippedMs` was then: a sleep of the machine is no part of a round trip. */
  readonly sentAt: number;
  readonly skippedMs: number;
  /** The place of the call in the queue. A call that returns passes the permit as `AcquireOptions.retryOf`. */
  readonly ticket: number;
  /** Number of failed attempts of the call, including this one. */
  failures: number;
  /** Time of the first failed attempt of the call; infinity for none. */
  firstFailedAt: number;
  readonly #onEnd: OnEnd;
  #isOpen = true;

  constructor(onEnd: OnEnd, { sentAt, skippedMs, ticket, retryOf }: PermitFields) {
    this.#onEnd = onEnd;
    this.sentAt = sentAt;
    this.skippedMs = skippedMs;
    this.ticket = ticket;
    this.failures = retryOf?.failures ?? 0;
    this.firstFailedAt = retryOf?.firstFailedAt ?? UNBOUNDED;
  }

  /** Reports how the request ended, at `arrivedAt` or now. Returns how the Retry-After of a refusal is read. */
  end(end: RequestEnd, arrivedAt?: number): RetryAfterReading | undefined {
    if (!this.#isOpen) return undefined;
    this.#isOpen = false;
    return this.#onEnd(this, end, arrivedAt);
  }
}

type PermitFields = Pick<Permit, 'sentAt' | 'skippedMs' | 'ticket'> & { readonly retryOf: Permit | undefined };

/** So many failures in a row are an outage. */
const OUTAGE_FAILURES = 3;
/** After each failed probe: it lengthens the wait by half, so the last wait is about half as long as the outage. */
const PROBE_BACKOFF = { firstMs: 500, longestMs: 16_000, factor: 1.5 };
/** Calls wait for an outage of this length, with a last probe at its end. */
export const LONGEST_OUTAGE_MS = 90_000;
/** Averages about the last eight round trips. */
const AVERAGE_WEIGHT = 1 / 8;

/** Whether the service works. While it is down, one request at a time probes it: at once, then after increasing waits. */
export interface ServiceHealth {
  readonly isDown: boolean;
  /** While down: when the outage was detected. */
  readonly since: number;
  /** While down: when to probe next. */
  readonly retryAt: number;
}

const UP: ServiceHealth = { isDown: false, since: UNBOUNDED, retryAt: LONG_AGO };

/**
 * The requests of this process in flight: limits their number, and derives from their results whether the service works.
 * Failures (5xx, timeouts, broken connections) say nothing about the limit.
 */
export class InFlight {
  health = UP;
  /** Average duration of a request in milliseconds; 0 before the first response. */
  roundTripMs = 0;
  /** The error of the last request that failed. */
  lastFailure: unknown;
  /** Requests in flight. */
  size = 0;
  /** Requests that may be in flight now. */
  maxConcurrent: number;
  /** Average difference of a duration from the average, in milliseconds. */
  #deviationMs = 0;
  #halvedAt = LONG_AGO;
  readonly #atMost: number;
  readonly #random: () => number;
  #probe: Permit | undefined;
  #failedProbes = 0;
  #failuresInARow = 0;
  /** Results of requests sent before it say nothing about an outage. */
  #downAt = LONG_AGO;
  #lastSuccessSentAt = LONG_AGO;

  constructor({ maxConcurrent, random }: { readonly maxConcurrent: number; readonly random: () => number }) {
    this.#random = random;
    this.#atMost = maxConcurrent;
    this.maxConcurrent = maxConcurrent;
  }

  /** Number of further requests that may be sent. */
  room(now: number): number {
    if (this.health.isDown && this.healthAt(now).isDown) {
      return this.#probe !== undefined || now < this.health.retryAt ? 0 : 1;
    }
    return Math.max(0, this.maxConcurrent - this.size);
  }

  /** An outage is over, as far as is known, if for as long as calls wait for its end no request has tested the service. */
  healthAt(now: number): ServiceHealth {
    const isKnown = this.#probe !== undefined || now <= this.health.retryAt + LONGEST_OUTAGE_MS;
    if (this.health.isDown && !isKnown) this.#recover();
    return this.health;
  }

  /** Time at which a request may be sent even if no response arrives; Infinity: only after a response. */
  get nextRoomAt(): number {
    return this.health.isDown && this.#probe === undefined ? this.health.retryAt : UNBOUNDED;
  }

  /** Whether the next request may fail as well: a call that has failed before would use up its retries. */
  get mayBeDown(): boolean {
    return this.health.isDown || this.#failuresInARow > 0;
  }

  /** Whether calls no longer wait: the service has been down for long, or says that it will be. */
  isDownForLong(now: number): boolean {
    const { isDown, since, retryAt } = this.health;
    return isDown && retryAt > now && retryAt > since + LONGEST_OUTAGE_MS;
  }

  /** Milliseconds that a response takes; with a margin, for almost all of them: the bound of RFC 6298, section 2.3. */
  responseMs(hasMargin = false): number {
    return this.roundTripMs + (hasMargin ? 4 * this.#deviationMs : 0);
  }

  add(permit: Permit): void {
    if (this.health.isDown) this.#probe = permit;
    this.size += 1;
  }

  /** The service works: it sent a success or a refusal. */
  responded(permit: Permit, tookMs: number): void {
    const isNews = this.#probe === permit || permit.sentAt >= this.#downAt;
    if (this.size >= this.maxConcurrent) this.maxConcurrent = Math.min(this.#atMost, this.maxConcurrent + 1);
    this.left(permit);
    const difference = tookMs - this.roundTripMs;
    const isFirst = this.roundTripMs === 0;
    this.roundTripMs += (isFirst ? 1 : AVERAGE_WEIGHT) * difference;
    if (!isFirst) this.#deviationMs += AVERAGE_WEIGHT * (Math.abs(difference) - this.#deviationMs);
    this.#lastSuccessSentAt = Math.max(this.#lastSuccessSentAt, permit.sentAt);
    this.#failuresInARow = 0;
    if (isNews && this.health.isDown) this.#recover();
  }

  #recover(): void {
    this.health = UP;
    this.#failedProbes = 0;
    this.#failuresInARow = 0;
  }

  failed(
    permit: Permit,
    now: number,
    { hintMs, isTimeout = false, error, tookMs }: RequestFailure & { readonly tookMs: number },
  ): void {
    const isProbe = this.#probe === permit;
    // Others have succeeded since the call first failed, or usual round trips are longer than its timeout.
    const isOwn = permit.firstFailedAt < this.#lastSuccessSentAt || (isTimeout && tookMs < this.roundTripMs);
    this.left(permit);
    this.lastFailure = error;
    permit.failures += 1;
    permit.firstFailedAt = Math.min(permit.firstFailedAt, now);
    if (isTimeout) this.#halve(permit, now);
    if (isProbe && !(isOwn && hintMs === undefined)) this.#failedProbes += 1;
    else if (hintMs === undefined && !this.#isOutage(permit, isOwn)) return;
    this.#halve(permit, now);
    this.#goDown(now, hintMs);
  }

  /** The caller aborted, or the request was not sent. */
  left(permit: Permit): void {
    this.size -= 1;
    if (this.#probe === permit) this.#probe = undefined;
  }

  #isOutage({ sentAt }: Permit, isOwn: boolean): boolean {
    if (isOwn || this.health.isDown || sentAt < this.#lastSuccessSentAt) return false;
    this.#failuresInARow += 1;
    return this.#failuresInARow >= OUTAGE_FAILURES;
  }

  #goDown(now: number, hintMs = 0): void {
    const since = Math.min(this.health.since, now);
    // At once, because requests in flight together fail together if only their connections broke, or one of several servers.
    const isFirst = this.#failedProbes === 0;
    // Equal jitter, so that processes that failed at the same time retry at different times.
    const probeAt = isFirst ? now : now + equalJitter(backoffMs(this.#failedProbes, PROBE_BACKOFF), this.#random);
    const lastProbeAt = since + LONGEST_OUTAGE_MS;
    const ownAt = now < lastProbeAt ? Math.min(probeAt, lastProbeAt) : probeAt;
    // The Retry-After of a failure is an estimate: one request checks whether the service works earlier.
    const hintedAt = now + Math.min(hintMs, LONGEST_BACKOFF_MS);
    this.health = { isDown: true, since, retryAt: Math.max(ownAt, hintedAt, this.health.retryAt) };
    this.#downAt = now;
  }

  /** Once for all requests that were in flight together. */
  #halve({ sentAt }: Permit, now: number): void {
    if (sentAt < this.#halvedAt) return;
    this.maxConcurrent = Math.max(1, Math.floor(this.maxConcurrent / 2));
    this.#halvedAt = now;
  }
}
