import type { Clock } from '../clock.ts';
import { type SteadyTime, steadyTime } from '../steady-time.ts';
import type { AcquireOptions } from './acquire-options.ts';
import {
  concurrencyAnswered,
  concurrencyFailed,
  concurrencyRoom,
  concurrencyWakeAt,
  initialConcurrency,
} from './concurrency.ts';
import { NEARLY_ALL } from './learn-window.ts';
import { LimitError, type LimitReason } from './limit-error.ts';
import { type LimiterCore, LocalCore } from './limiter-core.ts';
import { DEFAULT_LIMITER_SETTINGS, type LimiterSettings } from './limiter-settings.ts';
import { hasConfiguredLimit } from './limiter-state.ts';
import {
  burstOf,
  type LimiterEvent,
  LimiterHistory,
  type LimiterView,
  type LimiterWait,
  perMinuteOf,
  windowName,
} from './limiter-view.ts';
import { type AnswerHeaders, type FailureDetails, Permit, type RefusalAnswerHeaders } from './permit.ts';
import { type QueuedCall, RequestQueue } from './request-queue.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs } from './retry-after.ts';
import {
  HEALTHY,
  serviceAnswered,
  serviceFailed,
  serviceGranted,
  serviceRoom,
  serviceUntested,
} from './service-health.ts';
import type { LimitStore } from './shared/limit-store.ts';
import { SharedCore, type Sharing } from './shared/shared-core.ts';
import type { Answer, RetryAfterReading } from './transitions.ts';
import { WakeTimer } from './wake-timer.ts';

/** Shorter waits are the ordinary rhythm of a window; reporting each would be noise. */
const WAIT_WORTH_REPORTING_MS = 1_000;

/** While calls wait, the plan's limit is read again after this time: it can have grown. */
const LIMIT_IS_OLD_MS = 120_000;

const NEVER = Number.POSITIVE_INFINITY;

export interface RateLimiterOptions extends Partial<LimiterSettings> {
  readonly clock: Clock;
  /** Chance in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Called once per wait of the limiter, however many calls wait. */
  readonly onWait?: ((wait: LimiterWait) => void) | undefined;
  /** Called when calls wait and the plan's limit is unknown, contradicted by a refusal, or was read long ago. */
  readonly onLimitWanted?: (() => void) | undefined;
  /** Where processes share the limit, and under what name. Default: this process uses it alone. */
  readonly shared?: Sharing | undefined;
  /** Called when the store fails and this process continues alone, once per outage. */
  readonly onOutage?: ((reason: string) => void) | undefined;
}

interface Call extends QueuedCall {
  readonly grant: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The queue of calls in front of a limit: who goes next, who is rejected, and the one sleep until something changes. It
 * decides nothing about the limit: `LimiterCore`, service-health.ts and concurrency.ts do, and the smallest number counts.
 */
export class RateLimiter {
  readonly #time: SteadyTime;
  readonly #timer: WakeTimer;
  readonly #core: LimiterCore;
  readonly #settings: LimiterSettings;
  readonly #random: () => number;
  readonly #onWait: ((wait: LimiterWait) => void) | undefined;
  readonly #onLimitWanted: (() => void) | undefined;
  readonly #queue = new RequestQueue<Call>();
  readonly #history: LimiterHistory;
  #health = HEALTHY;
  #lastFailure: unknown;
  #concurrency;
  /** In order of sending. */
  readonly #inFlight = new Set<Permit>();
  #configuredAt = Number.NEGATIVE_INFINITY;
  #isContradicted = false;
  #lastTicket = 0;
  #isServing = false;
  #reportedUntil = Number.NEGATIVE_INFINITY;

  // biome-ignore lint/plugin: the default of the seam
  constructor({ clock, random = Math.random, onWait, onLimitWanted, shared, onOutage, ...given }: RateLimiterOptions) {
    this.#settings = { ...DEFAULT_LIMITER_SETTINGS, ...given };
    this.#time = steadyTime(clock);
    this.#timer = new WakeTimer(clock, () => this.#serve());
    this.#history = new LimiterHistory(this.#time);
    this.#random = random;
    this.#onWait = onWait;
    this.#onLimitWanted = this.#settings.perMinute === 'learn' ? onLimitWanted : undefined;
    this.#concurrency = initialConcurrency(this.#settings.maxConcurrent);
    this.#core = shared
      ? new SharedCore({
          settings: this.#settings,
          ...shared,
          clock,
          random,
          now: () => this.#time.now(),
          onChange: () => {
            this.#observe('store');
            this.#serve();
          },
          onOutage: (reason) => onOutage?.(reason),
        })
      : new LocalCore(this.#settings);
  }

  /**
   * Resolves when the call may be sent; report on the permit afterwards. Rejects with the signal's reason on abort, and
   * with a LimitError at once when the earliest slot lies beyond the deadline.
   */
  acquire(options: AcquireOptions = {}): Promise<Permit> {
    const { signal, retryOf } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const isHigh = options.priority === 'high';
    const deadlineAt = deadlineOf(options);
    const ahead = retryOf ? 0 : isHigh ? this.#queue.high : this.#queue.size;
    const rejection = this.#rejectionFor(ahead, options.wait ?? true, deadlineAt());
    if (rejection) return Promise.reject(rejection);
    const permit = this.#queue.size === 0 ? this.#grantAtOnce(retryOf) : undefined;
    if (permit) return Promise.resolve(permit);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (this.#queue.remove(call)) this.#serveSoon();
        reject(signal?.reason);
      };
      const call: Call = {
        ticket: retryOf?.ticket ?? ++this.#lastTicket,
        isHigh,
        failures: retryOf?.failures ?? 0,
        waits: options.wait ?? true,
        deadlineAt,
        grant: (permit) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(permit);
        },
        reject: (reason) => {
          signal?.removeEventListener('abort', onAbort);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.add(call);
      this.#serveSoon();
    });
  }

  /** The plan's limit became known, for example from a quota answer. */
  configure(perMinute: number): void {
    this.#configuredAt = this.#time.now();
    this.#isContradicted = false;
    this.#core.configure(perMinute);
    this.#observe('configured');
    this.#serveSoon();
  }

  /** Time of `SteadyTime` at which a call that comes now could be sent, as far as is known. */
  get nextSlotAt(): number {
    return this.#slotAt(this.#time.now(), this.#queue.size);
  }

  /** Nothing is sent before this time of `SteadyTime`: a refusal or an outage asked for that. */
  get closedUntil(): number {
    const { gate, blockedUntil } = this.#core.state;
    const closedUntil = this.#core.toLocal(Math.max(gate.opensAt, blockedUntil));
    return this.#health.isDown ? Math.max(closedUntil, this.#health.retryAt) : closedUntil;
  }

  get isServiceDown(): boolean {
    return this.#health.isDown;
  }

  /** The unit of a Retry-After that does not come with a 429: seconds (RFC 9110 §10.2.3), unless the key's own differ. */
  get retryAfterUnit(): RetryAfterUnit {
    const { evidence } = this.#core.state.unit;
    const isMilliseconds = this.#settings.retryAfterUnit === 'milliseconds' || evidence === 'confirmed';
    return isMilliseconds ? 'milliseconds' : 'seconds';
  }

  /** Whether no call waits or is in flight. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && this.#inFlight.size === 0;
  }

  /** See `SharedCore.offerStore`. */
  offerStore(store: LimitStore): void {
    if (this.#core instanceof SharedCore) this.#core.offerStore(store);
  }

  limits(): LimiterView {
    const now = this.#time.now();
    const { state } = this.#core;
    const { closedUntil } = this;
    return {
      gate: closedUntil > now && !this.#health.isDown ? { until: this.#time.toEpoch(closedUntil) } : 'open',
      service: this.#health.isDown ? { downUntil: this.#time.toEpoch(this.#health.retryAt) } : 'up',
      waiting: this.#queue.size,
      inFlight: this.#inFlight.size,
      maxConcurrent: Math.floor(this.#concurrency.limit),
      perMinute: perMinuteOf(state),
      window: windowName(state),
      burst: burstOf(state),
      nextSlotAt: this.#time.toEpoch(this.nextSlotAt),
      history: this.#history.changes,
    };
  }

  #slotAt(now: number, ahead: number): number {
    return Math.max(this.#core.slotAt(now, ahead), this.#health.isDown ? this.#health.retryAt : now);
  }

  #rejectionFor(ahead: number, waits: boolean, deadlineAt: number): LimitError | undefined {
    const now = this.#time.now();
    const tooLong = this.#tooLongWait(now);
    if (tooLong) return tooLong;
    const slotAt = this.#slotAt(now, ahead);
    if (slotAt > deadlineAt) return this.#limitError('deadline', slotAt);
    return !waits && slotAt > now ? this.#limitError('policy', slotAt) : undefined;
  }

  /** A longer quota than the window's is used up, or the service asked for a long pause: no call waits for that. */
  #tooLongWait(now: number): LimitError | undefined {
    const blockedUntil = this.#core.toLocal(this.#core.state.blockedUntil);
    if (blockedUntil > now) return this.#limitError('max_retry_after', blockedUntil);
    const { isDown, retryAt } = this.#health;
    if (isDown && retryAt - now > this.#settings.maxRetryAfterMs) return this.#limitError('unavailable', retryAt);
    return undefined;
  }

  #limitError(reason: LimitReason, retryAt: number): LimitError {
    const isForService = this.#health.isDown && retryAt <= this.#health.retryAt;
    const retryAtEpoch = Math.ceil(this.#time.toEpoch(retryAt));
    return isForService
      ? new LimitError('unavailable', retryAtEpoch, { cause: this.#lastFailure })
      : new LimitError(reason, retryAtEpoch);
  }

  /** If no call is waiting, one whose slot is free does not need to queue. */
  #grantAtOnce(retryOf: Permit | undefined): Permit | undefined {
    const now = this.#time.now();
    const { n, probe } = this.#core.grant(now, Math.min(1, this.#room(now)));
    const { ticket = ++this.#lastTicket, failures = 0 } = retryOf ?? {};
    return n === 0 ? undefined : this.#permit({ sentAt: now, probe, ticket, failures });
  }

  /** Requests that may join those in flight. */
  #room(now: number): number {
    const { phase, configured } = this.#core.state;
    const room = concurrencyRoom(this.#concurrency, {
      now,
      requests: this.#inFlight.size,
      sentAt: this.#inFlight,
      unknownLimit: phase === 'unknown' && Number.isFinite(configured) ? configured : undefined,
    });
    return Math.max(0, Math.min(room, serviceRoom(this.#health, now)));
  }

  #permit(fields: Pick<Permit, 'sentAt' | 'probe' | 'ticket' | 'failures'>): Permit {
    this.#health = serviceGranted(this.#health);
    const permit = new Permit(this.#reports, fields);
    this.#inFlight.add(permit);
    return permit;
  }

  /** In a microtask: a refused call that comes back in the same turn is at the head before any call is served. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      this.#serve();
    });
  }

  #serveWaiting(): void {
    if (this.#queue.size > 0) this.#serveSoon();
  }

  #serve(): void {
    const now = this.#time.now();
    this.#rejectTooLate(now);
    const wanted = Math.min(this.#queue.size, this.#room(now));
    const { n, probe, at } = this.#core.grant(now, wanted);
    for (let served = 0; served < n; served += 1) {
      const call = this.#health.isDown ? this.#queue.shiftLeastFailed() : this.#queue.shift();
      call?.grant(this.#permit({ sentAt: now, probe, ticket: call.ticket, failures: call.failures }));
    }
    if (this.#queue.size > 0) this.#askForLimit(now);
    const { isDown, isProbing, retryAt } = this.#health;
    if (isDown) this.#waitUntil(now, isProbing ? undefined : retryAt);
    else this.#waitUntil(now, wanted === 0 ? concurrencyWakeAt(now) : at);
  }

  #askForLimit(now: number): void {
    if (this.#onLimitWanted === undefined || this.#health.isDown) return;
    const isKnown = hasConfiguredLimit(this.#core.state) && !this.#isContradicted;
    if (!isKnown || now - this.#configuredAt >= LIMIT_IS_OLD_MS) this.#onLimitWanted();
  }

  #rejectTooLate(now: number): void {
    const tooLong = this.#tooLongWait(now);
    for (let call = tooLong && this.#queue.shift(); call; call = this.#queue.shift()) call.reject(tooLong);
    const slotAt = this.#slotAt(now, 0);
    for (let call = this.#queue.shiftDueBefore(slotAt); call; call = this.#queue.shiftDueBefore(slotAt)) {
      call.reject(this.#limitError('deadline', slotAt));
    }
    if (slotAt <= now) return;
    for (let call = this.#queue.shiftNotWaiting(); call; call = this.#queue.shiftNotWaiting()) {
      call.reject(this.#limitError('policy', slotAt));
    }
  }

  #waitUntil(now: number, at: number | undefined): void {
    const isWaiting = this.#queue.size > 0;
    const wakeAt = isWaiting ? Math.min(at ?? NEVER, this.#queue.earliestDeadline) : NEVER;
    if (wakeAt === NEVER) this.#timer.cancel();
    else this.#timer.set(now, Math.ceil(wakeAt - now));
    if (isWaiting && at !== undefined) this.#reportWait(now, at);
  }

  /** A shared limit is looked at more often than it changes: what counts is when it gives a slot. */
  #reportWait(now: number, askAgainAt: number): void {
    const until = Math.max(askAgainAt, this.#slotAt(now, 0));
    if (now < this.#reportedUntil || until - now < WAIT_WORTH_REPORTING_MS) return;
    this.#reportedUntil = until;
    const reason = this.#health.isDown ? 'service' : this.closedUntil > now ? 'refused' : 'window';
    this.#onWait?.({ until: this.#time.toEpoch(until), waiting: this.#queue.size, reason });
  }

  readonly #reports = {
    ok: (permit: Permit, { date }: AnswerHeaders) => {
      const answer = this.#answered(permit);
      this.#core.accepted({ ...answer, date: date ?? undefined });
      this.#observe('accepted');
      this.#serveWaiting();
    },
    limited: (permit: Permit, { retryAfter, date }: RefusalAnswerHeaders): RetryAfterReading => {
      const answer = this.#answered(permit);
      const headers = { retryAfter: retryAfter ?? undefined, date: date ?? undefined };
      const { configured, log } = this.#core.state;
      if (Number.isFinite(configured) && log.size < NEARLY_ALL * configured) this.#isContradicted = true;
      const reading = this.#core.refused({ ...answer, ...headers });
      this.#observe('refused');
      this.#serveWaiting();
      return reading;
    },
    failed: (permit: Permit, details: FailureDetails) => {
      const answer = this.#answerTo(permit);
      if (details.mayHaveCounted) this.#core.lost(answer);
      else this.#core.unused();
      this.#fail(answer, details);
      this.#observe('failed');
      this.#serveWaiting();
    },
    lost: (permit: Permit) => {
      const answer = this.#answerTo(permit);
      this.#health = serviceUntested(this.#health, answer);
      this.#core.lost(answer);
      this.#serveWaiting();
    },
    unused: (permit: Permit) => {
      this.#health = serviceUntested(this.#health, this.#answerTo(permit));
      this.#core.unused();
      this.#serveWaiting();
    },
  };

  #answerTo(permit: Permit): Answer {
    const { sentAt, probe } = permit;
    this.#inFlight.delete(permit);
    return { now: this.#time.now(), sentAt, probe };
  }

  /** The service works: with a success or a refusal. */
  #answered(permit: Permit): Answer {
    const wasFull = this.#inFlight.size >= Math.floor(this.#concurrency.limit);
    const answer = this.#answerTo(permit);
    this.#health = serviceAnswered(this.#health, answer);
    this.#concurrency = concurrencyAnswered(this.#concurrency, { ...answer, wasFull });
    return answer;
  }

  #fail(answer: Answer, { retryAfter, date, error }: FailureDetails): void {
    const reading = {
      unit: this.retryAfterUnit,
      date: date ?? undefined,
      serverNowMs: this.#time.toEpoch(answer.now),
    };
    const hintMs = retryAfterMs(parseRetryAfter(retryAfter ?? undefined), reading);
    this.#health = serviceFailed(this.#health, { ...answer, hintMs, random: this.#random });
    this.#concurrency = concurrencyFailed(this.#concurrency, { ...answer, isOutage: this.#health.isDown });
    this.#lastFailure = error;
  }

  #observe(event: LimiterEvent): void {
    this.#history.observe(event, this.#core.state, this.#health, (at) => this.#core.toLocal(at));
  }
}

function deadlineOf({ deadlineAt }: AcquireOptions): () => number {
  if (typeof deadlineAt === 'function') return deadlineAt;
  return () => deadlineAt ?? NEVER;
}
