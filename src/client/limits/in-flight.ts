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
import {
  HEALTHY,
  type ServiceHealth,
  serviceAnswered,
  serviceFailed,
  serviceGranted,
  serviceRoom,
  serviceUntested,
} from './service-health.ts';
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
