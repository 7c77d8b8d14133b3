import {
  concurrencyAfterIdle,
  concurrencyAnswered,
  concurrencyFailed,
  concurrencyRoom,
  concurrencyWakeAt,
  initialConcurrency,
} from './concurrency.ts';
import type { LimiterState } from './limiter-state.ts';
import type { Permit } from './permit.ts';
import type { Answer } from './transitions.ts';

export interface InFlightOptions {
  readonly maxConcurrent: 'adapt' | number;
  readonly random: () => number;
}

/** The requests of this process in flight: how many there may be, and what their results say about the service. */
export class InFlight {
  readonly #random: () => number;
  /** In order of sending. */
  readonly #permits = new Set<Permit>();
  #health = HEALTHY;
  #concurrency;
  /** The error of the last request that failed. */
  lastFailure: unknown;

  constructor({ maxConcurrent, random }: InFlightOptions) {
    this.#random = random;
    this.#concurrency = initialConcurrency(maxConcurrent);
  }

  get size(): number {
    return this.#permits.size;
  }

  get health(): ServiceHealth {
    return this.#health;
  }

  get maxConcurrent(): number {
    return Math.floor(this.#concurrency.limit);
  }

  /** How long a request takes on average; 0 before the first answer. */
  get roundTripMs(): number {
    return this.#concurrency.averageMs;
  }

  /** Requests that may join. */
  room(now: number, { phase, configured, log }: LimiterState): number {
    if (this.#permits.size === 0) this.#concurrency = concurrencyAfterIdle(this.#concurrency, now);
    const room = concurrencyRoom(this.#concurrency, {
      now,
      requests: this.#permits.size,
      sentAt: this.#permits,
      unknown:
        phase === 'unknown' && Number.isFinite(configured) ? { limit: configured, accepted: log.size } : undefined,
    });
    return Math.max(0, Math.min(room, serviceRoom(this.#health, now)));
  }

  /** When there may be room again although no answer comes; `undefined`: then there is none. */
  nextRoomAt(now: number): number | undefined {
    const { isDown, isProbing, retryAt } = this.#health;
    if (!isDown) return concurrencyWakeAt(now);
    return isProbing ? undefined : retryAt;
  }

  add(permit: Permit): void {
    this.#health = serviceGranted(this.#health);
    this.#permits.add(permit);
  }

  /** The service works: it answered with a success or a refusal. */
  answered(permit: Permit, now: number): Answer {
    const wasFull = this.#permits.size >= this.maxConcurrent;
    const answer = this.#remove(permit, now);
    this.#health = serviceAnswered(this.#health, answer);
    this.#concurrency = concurrencyAnswered(this.#concurrency, { ...answer, wasFull });
    return answer;
  }

  /** `hintMs`: what the Retry-After of the failure asks for. */
  failed(permit: Permit, now: number, { hintMs, error }: { hintMs: number | undefined; error: unknown }): Answer {
    const answer = this.#remove(permit, now);
    this.#health = serviceFailed(this.#health, { ...answer, hintMs, random: this.#random });
    this.#concurrency = concurrencyFailed(this.#concurrency, { ...answer, isOutage: this.#health.isDown });
    this.lastFailure = error;
    return answer;
  }

  /** Its caller left, or it was not sent. */
  left(permit: Permit, now: number): Answer {
    const answer = this.#remove(permit, now);
    this.#health = serviceUntested(this.#health, answer);
    return answer;
  }

  #remove(permit: Permit, now: number): Answer {
    this.#permits.delete(permit);
    return { now, sentAt: permit.sentAt, probe: permit.probe };
  }
}

/**
 * Whether the service answers at all. Failures (5xx, timeouts, broken connections) say nothing about the limit. After
 * several in a row the service counts as down: one request at a time probes it, after waits that grow; the other calls
 * wait without spending their retries.
 */
export interface ServiceHealth {
  readonly isDown: boolean;
  /** While down: when to probe next. */
  readonly retryAt: number;
  /** While down: results of requests sent up to this time say nothing new. */
  readonly staleBefore: number;
  readonly backoffMs: number;
  readonly isProbing: boolean;
  /** When the latest request that succeeded was sent: an older one that failed says nothing about the time since. */
  readonly lastSuccessSentAt: number;
  /** Failures since the last success. */
  readonly failuresInARow: number;
  /** Part of the recent requests that failed, while up. */
  readonly failureRate: number;
}

/** A failed request, or one that was not. */
export interface ServiceResult {
  readonly now: number;
  readonly sentAt: number;
}

export interface ServiceFailure extends ServiceResult {
  /** Milliseconds that the Retry-After of a 503 asks to wait. */
  readonly hintMs: number | undefined;
  readonly random: () => number;
}

/** Fewer in a row are not worth a wait. */
const FEWEST_FAILURES = 2;
/** A run of failures this unlikely at the recent failure rate is an outage. */
const UNLIKELY = 0.01;
const FIRST_FAILURE_RATE = 0.1;
const RATE_WEIGHT = 1 / 16;
/** Arithmetic with numbers that tend to zero becomes slow. */
const LOWEST_FAILURE_RATE = 0.000_001;
const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 16_000;
/** Each probe that fails lengthens the wait: the last one is about half as long as the outage. */
const BACKOFF_FACTOR = 1.5;
/** A 503 estimates: one request per so much time finds out whether the service is back earlier. */
const LONGEST_HINT_MS = 300_000;

export const HEALTHY: ServiceHealth = {
  isDown: false,
  retryAt: Number.NEGATIVE_INFINITY,
  staleBefore: Number.NEGATIVE_INFINITY,
  backoffMs: FIRST_BACKOFF_MS,
  isProbing: false,
  lastSuccessSentAt: Number.NEGATIVE_INFINITY,
  failuresInARow: 0,
  failureRate: FIRST_FAILURE_RATE,
};

/** The service answered: with a success, or with a refusal that shows that it works. */
export function serviceAnswered(health: ServiceHealth, { sentAt }: ServiceResult): ServiceHealth {
  const { isDown, retryAt, staleBefore, backoffMs, isProbing } = health;
  const lastSuccessSentAt = Math.max(health.lastSuccessSentAt, sentAt);
  if (isDown)
    return sentAt <= staleBefore ? health : { ...HEALTHY, lastSuccessSentAt, failureRate: health.failureRate };
  const failureRate = Math.max(LOWEST_FAILURE_RATE, (1 - RATE_WEIGHT) * health.failureRate);
  // Written out: this runs once per request, and a spread costs more than all other work.
  return { isDown, retryAt, staleBefore, backoffMs, isProbing, lastSuccessSentAt, failuresInARow: 0, failureRate };
}

export function serviceFailed(health: ServiceHealth, failure: ServiceFailure): ServiceHealth {
  const { now, sentAt, hintMs } = failure;
  if (health.isDown && sentAt <= health.staleBefore) {
    return hintMs === undefined
      ? health
      : { ...health, retryAt: Math.max(health.retryAt, now + Math.min(hintMs, LONGEST_HINT_MS)) };
  }
  if (health.isDown)
    return goDown({ ...health, backoffMs: Math.min(LONGEST_BACKOFF_MS, BACKOFF_FACTOR * health.backoffMs) }, failure);
  const failureRate = health.failureRate + RATE_WEIGHT * (1 - health.failureRate);
  if (sentAt < health.lastSuccessSentAt && hintMs === undefined) return { ...health, failureRate };
  const failuresInARow = health.failuresInARow + 1;
  const isOutage = failuresInARow >= FEWEST_FAILURES && health.failureRate ** failuresInARow <= UNLIKELY;
  // One 503 with a Retry-After is enough.
  if (isOutage || hintMs !== undefined) return goDown(health, failure);
  return { ...health, failuresInARow, failureRate };
}

function goDown(health: ServiceHealth, { now, hintMs, random }: ServiceFailure): ServiceHealth {
  // Equal jitter, so that processes that failed at the same time retry at different times.
  const backoffMs = health.backoffMs * (0.5 + random() / 2);
  const retryAt = now + Math.max(backoffMs, Math.min(hintMs ?? 0, LONGEST_HINT_MS));
  return { ...health, isDown: true, isProbing: false, failuresInARow: 0, retryAt, staleBefore: now };
}

/** Requests that may be sent now; Infinity while the service is up. */
export function serviceRoom({ isDown, isProbing, retryAt }: ServiceHealth, now: number): number {
  if (!isDown) return Number.POSITIVE_INFINITY;
  return isProbing || now < retryAt ? 0 : 1;
}

/** Calls were sent; while the service is down, the first is its probe. */
export function serviceGranted(health: ServiceHealth): ServiceHealth {
  return health.isDown ? { ...health, isProbing: true } : health;
}

/** A probe ended without a result: its caller left. */
export function serviceUntested(health: ServiceHealth, { sentAt }: ServiceResult): ServiceHealth {
  return health.isProbing && sentAt > health.staleBefore ? { ...health, isProbing: false } : health;
}
