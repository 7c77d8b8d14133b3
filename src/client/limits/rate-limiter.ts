import type { Clock } from '../clock.ts';
import type { AcquireOptions } from './acquire-options.ts';
import { Alarm } from './alarm.ts';
import { createCore, type Sharing } from './create-core.ts';
import type { Answer, LimitCore } from './limit-core.ts';
import { LimitError, type LimitReason } from './limit-error.ts';
import { type LimiterSettings, limiterSettings, requireCount } from './limiter-settings.ts';
import type { LimiterView, LimiterWait } from './limiter-view.ts';
import { type AnswerHeaders, Permit, type RefusalAnswerHeaders } from './permit.ts';
import type { RetryAfterReading } from './retry-after-reader.ts';
import { SteadyTime } from './steady-time.ts';
import { type Waiter, WaitingLine } from './waiting-line.ts';

/** After a refusal for a longer quota (hours, days) one call per minute is let through to see whether it still holds. */
const CLOSED_AT_MOST_MS = 60_000;
/** Shorter waits are the ordinary rhythm of a window; nobody wants to be told of each. */
const WAIT_WORTH_TELLING_MS = 1_000;

const NEVER = Number.POSITIVE_INFINITY;

export interface RateLimiterOptions extends Partial<LimiterSettings> {
  readonly clock: Clock;
  /** Told once per wait of the limiter, however many calls wait. */
  readonly onWait?: ((wait: LimiterWait) => void) | undefined;
  /** Where processes share the limit, and under what name. Default: this process uses it alone. */
  readonly shared?: Sharing | undefined;
  /** Told when the store fails and this process goes on by itself, once per outage. */
  readonly onOutage?: ((reason: string) => void) | undefined;
}

interface Call extends Waiter {
  readonly grant: (permit: Permit) => void;
  readonly refuse: (reason: unknown) => void;
}

/** The line of calls in front of a limit: who goes next, who is refused, and the one sleep until something changes. */
export class RateLimiter {
  readonly #time: SteadyTime;
  readonly #alarm: Alarm;
  readonly #core: LimitCore;
  readonly #maxRetryAfterMs: number;
  readonly #onWait: ((wait: LimiterWait) => void) | undefined;
  readonly #line = new WaitingLine<Call>();
  #lastTicket = 0;
  #isServing = false;
  #toldUntil = Number.NEGATIVE_INFINITY;
  /** Set by a Retry-After too long to wait for. */
  #closed: { readonly until: number; readonly retryAt: number } | undefined;

  constructor({ clock, onWait, shared, onOutage, ...given }: RateLimiterOptions) {
    const settings = limiterSettings(given);
    this.#time = new SteadyTime(clock);
    this.#alarm = new Alarm(clock, () => this.#serve());
    this.#core = createCore(settings, shared, {
      clock,
      now: () => this.#time.now(),
      onChange: () => this.#serve(),
      onOutage: (reason) => onOutage?.(reason),
    });
    this.#maxRetryAfterMs = settings.maxRetryAfterMs;
    this.#onWait = onWait;
  }

  /**
   * Resolves when the call may be sent; report on the permit afterwards. Rejects with the signal's reason on abort, and
   * with a LimitError at once when the earliest slot lies beyond the deadline.
   */
  acquire(options: AcquireOptions = {}): Promise<Permit> {
    const { signal, retryOf } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const isHigh = options.priority === 'high';
    const deadlineAt = this.#steadyDeadline(options.deadlineAt);
    const refusal = this.#refusalFor(retryOf ? 0 : isHigh ? this.#line.high : this.#line.size, options, deadlineAt());
    if (refusal) return Promise.reject(refusal);
    const permit = this.#line.size === 0 ? this.#grantAtOnce(retryOf) : undefined;
    if (permit) return Promise.resolve(permit);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (this.#line.leave(call)) this.#serveSoon();
        reject(signal?.reason);
      };
      const call: Call = {
        ticket: retryOf?.ticket ?? ++this.#lastTicket,
        isHigh,
        isImpatient: options.wait === false,
        deadlineAt,
        grant: (permit) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(permit);
        },
        refuse: (reason) => {
          signal?.removeEventListener('abort', onAbort);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#line.join(call);
      this.#serveSoon();
    });
  }

  /** The plan's limit became known, for example from a quota answer. */
  tellLimit(perMinute: number): void {
    requireCount('perMinute', perMinute);
    this.#core.tellLimit(perMinute);
    this.#serveSoon();
  }

  limits(): LimiterView {
    const now = this.#time.now();
    const { gateAt, inFlight, perMinute, window } = this.#core.view();
    return {
      gate: gateAt > now ? { until: this.#time.toEpoch(gateAt) } : 'open',
      waiting: this.#line.size,
      inFlight,
      perMinute,
      window,
      nextSlotAt: this.#time.toEpoch(this.#core.slotAt(now, this.#line.size)),
    };
  }

  #steadyDeadline(deadlineAt: AcquireOptions['deadlineAt']): () => number {
    if (deadlineAt === undefined) return () => NEVER;
    if (typeof deadlineAt === 'function') return () => this.#time.fromEpoch(deadlineAt());
    this.#time.now();
    const steady = this.#time.fromEpoch(deadlineAt);
    return () => steady;
  }

  #refusalFor(ahead: number, { wait = true }: AcquireOptions, deadlineAt: number): LimitError | undefined {
    const now = this.#time.now();
    if (this.#closed && now < this.#closed.until) return this.#limitError('max_retry_after', this.#closed.retryAt);
    const slotAt = this.#core.slotAt(now, ahead);
    if (slotAt > deadlineAt) return this.#limitError('deadline', slotAt);
    return !wait && slotAt > now ? this.#limitError('policy', slotAt) : undefined;
  }

  #limitError(reason: LimitReason, retryAt: number): LimitError {
    return new LimitError(reason, Math.ceil(this.#time.toEpoch(retryAt)));
  }

  /** With nobody in the line, a call whose slot is free need not stand in it. */
  #grantAtOnce(retryOf: Permit | undefined): Permit | undefined {
    const now = this.#time.now();
    const { n, probe } = this.#core.acquire(now, 1);
    return n === 0 ? undefined : this.#permit(now, probe, retryOf?.ticket ?? ++this.#lastTicket);
  }

  #permit(sentAt: number, probe: boolean, ticket: number): Permit {
    return new Permit(this.#reports, { sentAt, probe, ticket });
  }

  /** In a microtask: a refused call that comes back in the same turn stands at the head before anybody is served. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      this.#serve();
    });
  }

  #serveWaiting(): void {
    if (this.#line.size > 0) this.#serveSoon();
  }

  #serve(): void {
    const now = this.#time.now();
    this.#refuseTooLate(now);
    const { n, probe, at } = this.#core.acquire(now, this.#line.size);
    for (let served = 0; served < n; served += 1) {
      const call = this.#line.next();
      call?.grant(this.#permit(now, probe, call.ticket));
    }
    this.#waitFor(now, at);
  }

  #refuseTooLate(now: number): void {
    const slotAt = this.#core.slotAt(now, 0);
    for (let call = this.#line.nextDueBefore(slotAt); call; call = this.#line.nextDueBefore(slotAt)) {
      call.refuse(this.#limitError('deadline', slotAt));
    }
    if (slotAt <= now) return;
    for (let call = this.#line.nextImpatient(); call; call = this.#line.nextImpatient()) {
      call.refuse(this.#limitError('policy', slotAt));
    }
  }

  #waitFor(now: number, at: number | undefined): void {
    const isWaiting = this.#line.size > 0;
    const wakeAt = isWaiting ? Math.min(at ?? NEVER, this.#line.earliestDeadline) : NEVER;
    if (wakeAt === NEVER) this.#alarm.cancel();
    else this.#alarm.set(now, Math.ceil(wakeAt - now));
    if (isWaiting && at !== undefined) this.#tellWait(now, at);
  }

  /** A shared limit is looked at more often than it changes: what counts is when it gives a slot. */
  #tellWait(now: number, lookAgainAt: number): void {
    const until = Math.max(lookAgainAt, this.#core.slotAt(now, 0));
    if (now < this.#toldUntil || until - now < WAIT_WORTH_TELLING_MS) return;
    this.#toldUntil = until;
    const reason = this.#core.view().gateAt > now ? 'refused' : 'window';
    this.#onWait?.({ until: this.#time.toEpoch(until), waiting: this.#line.size, reason });
  }

  readonly #reports = {
    ok: (permit: Permit, { date }: AnswerHeaders) => {
      this.#core.ok({ ...this.#answerTo(permit), date: date ?? undefined });
      this.#serveWaiting();
    },
    limited: (permit: Permit, { retryAfter, date }: RefusalAnswerHeaders): RetryAfterReading => {
      const answer = this.#answerTo(permit);
      const headers = { retryAfter: retryAfter ?? undefined, date: date ?? undefined };
      const reading = this.#core.limited({ ...answer, ...headers });
      if ((reading.waitMs ?? 0) > this.#maxRetryAfterMs) this.#close(answer.now, reading.waitMs ?? 0);
      this.#serveWaiting();
      return reading;
    },
    lost: (permit: Permit) => {
      this.#core.lost(this.#answerTo(permit));
      this.#serveWaiting();
    },
    unused: () => {
      this.#core.unused();
      this.#serveWaiting();
    },
  };

  #answerTo({ sentAt, probe }: Permit): Answer {
    return { now: this.#time.now(), sentAt, probe };
  }

  /** A longer quota than the window's is used up: nobody waits for it. */
  #close(now: number, waitMs: number): void {
    this.#closed = { until: now + Math.min(waitMs, CLOSED_AT_MOST_MS), retryAt: now + waitMs };
    for (let call = this.#line.next(); call; call = this.#line.next()) {
      call.refuse(this.#limitError('max_retry_after', this.#closed.retryAt));
    }
  }
}
