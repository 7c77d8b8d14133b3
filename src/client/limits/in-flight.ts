import {
  concurrencyAfterIdle,
  concurrencyFailed,
  concurrencyResponded,
  concurrencyRoom,
  initialConcurrency,
  LOST_AFTER_MS,
} from './concurrency.ts';
import type { LimiterState } from './limiter-state.ts';
import type { Permit } from './permit.ts';

interface RequestFailure {
  /** Milliseconds that the Retry-After of the failure asks to wait. */
  readonly hintMs: number | undefined;
  readonly isTimeout?: boolean | undefined;
  readonly error: unknown;
}

/**
 * The requests of this process in flight: limits their number, and derives the state of the service from their results.
 */
export class InFlight {
  readonly #random: () => number;
  /** In the order in which they were sent. */
  readonly #permits = new Set<Permit>();
  health = HEALTHY;
  #concurrency;
  /** The error of the last request that failed. */
  lastFailure: unknown;

  constructor({ maxConcurrent, random }: { maxConcurrent: 'adapt' | number; random: () => number }) {
    this.#random = random;
    this.#concurrency = initialConcurrency(maxConcurrent);
  }

  get size(): number {
    return this.#permits.size;
  }

  get maxConcurrent(): number {
    return Math.floor(this.#concurrency.limit);
  }

  /** Average duration of a request in milliseconds; 0 before the first response. */
  get roundTripMs(): number {
    return this.#concurrency.averageMs;
  }

  /** Number of further requests that may be sent. */
  room(now: number, limiter: LimiterState): number {
    if (this.#permits.size === 0) this.#concurrency = concurrencyAfterIdle(this.#concurrency, now);
    const room = concurrencyRoom(this.#concurrency, { now, inFlight: this.#permits, limiter });
    return Math.max(0, Math.min(room, serviceRoom(this.health, now)));
  }

  /** Time at which a request may be sent even if no response arrives; `undefined`: only after a response. */
  nextRoomAt(now: number): number | undefined {
    const { isDown, isProbing, retryAt } = this.health;
    if (!isDown) return now + LOST_AFTER_MS; // to check for lost requests
    return isProbing ? undefined : retryAt;
  }

  add(permit: Permit): void {
    this.health = serviceGranted(this.health);
    this.#permits.add(permit);
  }

  /** The service works: it sent a success or a refusal. */
  responded(permit: Permit, now: number): void {
    const wasFull = this.#permits.size >= this.maxConcurrent;
    const { sentAt } = permit;
    this.#permits.delete(permit);
    this.health = serviceResponded(this.health, sentAt);
    this.#concurrency = concurrencyResponded(this.#concurrency, { now, sentAt, wasFull });
  }

  failed(permit: Permit, now: number, { hintMs, isTimeout = false, error }: RequestFailure): void {
    const { sentAt } = permit;
    this.#permits.delete(permit);
    // Others have succeeded since the call first failed, or usual round trips are longer than its timeout.
    const isOwn =
      permit.firstFailedAt < this.health.lastSuccessSentAt || (isTimeout && now - sentAt < this.roundTripMs);
    permit.firstFailedAt = Math.min(permit.firstFailedAt, now);
    this.health = serviceFailed(this.health, { now, sentAt, hintMs, isOwn, random: this.#random });
    this.#concurrency = concurrencyFailed(this.#concurrency, { now, sentAt, isOutage: this.health.isDown });
    this.lastFailure = error;
  }

  /** The caller aborted, or the request was not sent. */
  left(permit: Permit): void {
    this.#permits.delete(permit);
    this.health = serviceUntested(this.health, permit.sentAt);
  }
}

/**
 * Whether the service works. Failures (5xx, timeouts, broken connections) say nothing about the limit. After several in
 * a row, the service is considered down: one request at a time probes it, after increasing waits. The other calls wait
 * and use no retries.
 */
export interface ServiceHealth {
  readonly isDown: boolean;
  /** While down: time at which the outage was detected. */
  readonly downSince: number;
  /** While down: when to probe next. */
  readonly retryAt: number;
  /** While down: results of requests sent up to this time have no new information. */
  readonly staleBefore: number;
  readonly backoffMs: number;
  readonly isProbing: boolean;
  /**
   * Time at which the latest successful request was sent: a failure of an older request says nothing about the time
   * since.
   */
  readonly lastSuccessSentAt: number;
  /** Failures since the last success. */
  readonly failuresInARow: number;
  /** Share of the recent requests that failed, while up. */
  readonly failureRate: number;
}

export interface ServiceFailure {
  readonly now: number;
  readonly sentAt: number;
  /** Milliseconds that the Retry-After of a 503 asks to wait. */
  readonly hintMs: number | undefined;
  /** Whether the call itself is probably the cause, such as a query that always fails. */
  readonly isOwn: boolean;
  readonly random: () => number;
}

/** Fewer failures in a row do not justify a wait. */
const FEWEST_FAILURES = 2;
/** A run of failures this unlikely at the recent failure rate is an outage. */
const UNLIKELY = 0.01;
const FIRST_FAILURE_RATE = 0.1;
/** Otherwise, the failures of an outage would raise the rate, and with it the number that shows an outage. */
const HIGHEST_FAILURE_RATE = 0.5;
const RATE_WEIGHT = 1 / 16;
/** Arithmetic with numbers close to zero is slow. */
const LOWEST_FAILURE_RATE = 0.000_001;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 16_000;
/** Each failed probe lengthens the wait by this factor: the last wait is about half as long as the outage. */
const BACKOFF_FACTOR = 1.5;
/** The Retry-After of a 503 is an estimate: one request in this time checks whether the service works earlier. */
const LONGEST_HINT_MS = 300_000;
/** Calls wait for an outage of this length, with a last probe at its end. */
export const LONGEST_OUTAGE_MS = 90_000;

export const HEALTHY: ServiceHealth = {
  isDown: false,
  downSince: Number.POSITIVE_INFINITY,
  retryAt: Number.NEGATIVE_INFINITY,
  staleBefore: Number.NEGATIVE_INFINITY,
  backoffMs: FIRST_BACKOFF_MS,
  isProbing: false,
  lastSuccessSentAt: Number.NEGATIVE_INFINITY,
  failuresInARow: 0,
  failureRate: FIRST_FAILURE_RATE,
};

/** The service responded with a success or a refusal, so it works. */
export function serviceResponded(health: ServiceHealth, sentAt: number): ServiceHealth {
  const { isDown, downSince, retryAt, staleBefore, backoffMs, isProbing } = health;
  const lastSuccessSentAt = Math.max(health.lastSuccessSentAt, sentAt);
  if (isDown && sentAt <= staleBefore) return health;
  if (isDown) return { ...HEALTHY, lastSuccessSentAt, failureRate: health.failureRate };
  const failureRate = Math.max(LOWEST_FAILURE_RATE, (1 - RATE_WEIGHT) * health.failureRate);
  // Written out: this runs once per request, and a spread costs more than all other work.
  return {
    isDown,
    downSince,
    retryAt,
    staleBefore,
    backoffMs,
    isProbing,
    lastSuccessSentAt,
    failuresInARow: 0,
    failureRate,
  };
}

export function serviceFailed(health: ServiceHealth, failure: ServiceFailure): ServiceHealth {
  return health.isDown ? failedWhileDown(health, failure) : failedWhileUp(health, failure);
}

function failedWhileDown(health: ServiceHealth, failure: ServiceFailure): ServiceHealth {
  const { now, sentAt, hintMs, isOwn } = failure;
  const isProbe = sentAt > health.staleBefore;
  // The failure is about this call and not the service, so another call is the next probe, at once.
  if (isProbe && isOwn && hintMs === undefined) return { ...health, isProbing: false };
  if (isProbe) {
    return goDown({ ...health, backoffMs: Math.min(LONGEST_BACKOFF_MS, BACKOFF_FACTOR * health.backoffMs) }, failure);
  }
  if (hintMs === undefined) return health;
  return { ...health, retryAt: Math.max(health.retryAt, now + Math.min(hintMs, LONGEST_HINT_MS)) };
}

function failedWhileUp(health: ServiceHealth, failure: ServiceFailure): ServiceHealth {
  // One 503 with a Retry-After is enough.
  if (failure.hintMs !== undefined) return goDown(health, failure);
  if (failure.isOwn) return health;
  const failureRate = Math.min(HIGHEST_FAILURE_RATE, health.failureRate + RATE_WEIGHT * (1 - health.failureRate));
  if (failure.sentAt < health.lastSuccessSentAt) return { ...health, failureRate };
  const failuresInARow = health.failuresInARow + 1;
  const isOutage = failuresInARow >= FEWEST_FAILURES && health.failureRate ** failuresInARow <= UNLIKELY;
  return isOutage ? goDown(health, failure) : { ...health, failuresInARow, failureRate };
}

function goDown(health: ServiceHealth, { now, hintMs, random }: ServiceFailure): ServiceHealth {
  // Equal jitter, so that processes that failed at the same time retry at different times.
  const backoffMs = health.backoffMs * (0.5 + random() / 2);
  const downSince = Math.min(health.downSince, now);
  const lastProbeAt = downSince + LONGEST_OUTAGE_MS;
  const backoffEndsAt = now < lastProbeAt ? Math.min(now + backoffMs, lastProbeAt) : now + backoffMs;
  const retryAt = Math.max(backoffEndsAt, now + Math.min(hintMs ?? 0, LONGEST_HINT_MS));
  return { ...health, isDown: true, downSince, isProbing: false, failuresInARow: 0, retryAt, staleBefore: now };
}

/** Number of requests that may be sent now; Infinity while the service is up. */
export function serviceRoom({ isDown, isProbing, retryAt }: ServiceHealth, now: number): number {
  if (!isDown) return Number.POSITIVE_INFINITY;
  return isProbing || now < retryAt ? 0 : 1;
}

/** Requests were sent; while the service is down, the first is the probe. */
export function serviceGranted(health: ServiceHealth): ServiceHealth {
  return health.isDown ? { ...health, isProbing: true } : health;
}

/** A probe ended without a result, because its caller aborted. */
export function serviceUntested(health: ServiceHealth, sentAt: number): ServiceHealth {
  return health.isProbing && sentAt > health.staleBefore ? { ...health, isProbing: false } : health;
}
