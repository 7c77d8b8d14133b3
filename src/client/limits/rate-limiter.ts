import { type Clock, type SteadyTime, steadyTime } from '../clock.ts';
import { Admission } from './admission.ts';
import { InFlight } from './in-flight.ts';
import { DEFAULT_LIMITER_SETTINGS, LimiterCore, type LimiterSettings } from './limiter-core.ts';
import { type LimiterEvent, LimiterHistory, type LimiterView, type LimiterWait } from './limiter-view.ts';
import { type AnswerHeaders, type OnEnd, Permit } from './permit.ts';
import { type AcquireOptions, type QueuedCall, RequestQueue, WakeTimer } from './request-queue.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs, unitOfFailure } from './retry-after.ts';
import type { LimitStore } from './shared/limit-store.ts';
import { SharedCore, type Sharing } from './shared/shared-core.ts';

/** Shorter waits are normal in a window and are not reported. */
const WAIT_WORTH_REPORTING_MS = 1_000;

const NEVER = Number.POSITIVE_INFINITY;

export interface RateLimiterOptions extends Partial<LimiterSettings> {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Called once per wait of the limiter, however many calls wait. */
  readonly onWait?: ((wait: LimiterWait) => void) | undefined;
  /** Called when calls wait and the limit of the plan is unknown, contradicted by a refusal, or was read long ago. */
  readonly onLimitWanted?: (() => void) | undefined;
  /** The store through which processes share the limit, and its name there. Default: this process does not share it. */
  readonly shared?: Sharing | undefined;
  /** Called once per outage of the store, when this process continues alone. */
  readonly onOutage?: ((reason: string) => void) | undefined;
}

/** Whether the slot of a waiting call is after a deadline. */
export type SlotCheck = (deadlineAt: number) => boolean;

interface Call extends QueuedCall {
  readonly grant: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The queue of calls in front of a limit: sends the next call, rejects calls that may not wait, and sleeps until
 * something changes. It makes no decision about the limit: the smaller number of `LimiterCore` (the limit) and
 * `InFlight` (the service) applies.
 */
export class RateLimiter {
  readonly #time: SteadyTime;
  readonly #timer: WakeTimer;
  readonly #core: LimiterCore;
  readonly #admission: Admission;
  readonly #settings: LimiterSettings;
  readonly #onWait: ((wait: LimiterWait) => void) | undefined;
  readonly #onLimitWanted: (() => void) | undefined;
  readonly #queue = new RequestQueue<Call>();
  readonly #history: LimiterHistory;
  readonly #inFlight: InFlight;
  #lastTicket = 0;
  #isServing = false;
  #reportedUntil = Number.NEGATIVE_INFINITY;

  // biome-ignore lint/plugin: the default of the option
  constructor({ clock, random = Math.random, onWait, onLimitWanted, shared, onOutage, ...given }: RateLimiterOptions) {
    this.#settings = { ...DEFAULT_LIMITER_SETTINGS, ...given };
    this.#time = steadyTime(clock);
    this.#timer = new WakeTimer(clock, () => this.#serve());
    this.#history = new LimiterHistory(this.#time);
    this.#onWait = onWait;
    this.#onLimitWanted = onLimitWanted;
    this.#inFlight = new InFlight({ maxConcurrent: this.#settings.maxConcurrent, random });
    this.#core = shared
      ? new SharedCore({
          settings: this.#settings,
          ...shared,
          clock,
          now: () => this.#time.now(),
          onChange: () => {
            this.#observe('store');
            this.#serve();
          },
          onOutage: (reason) => onOutage?.(reason),
        })
      : new LimiterCore(this.#settings);
    const [core, inFlight, settings, time] = [this.#core, this.#inFlight, this.#settings, this.#time];
    this.#admission = new Admission({ core, inFlight, settings, time });
  }

  /** The permit if the call need not wait: no other call waits, and a slot is free. */
  tryAcquire({ retryOf, deadlineAt = () => NEVER }: AcquireOptions = {}): Permit | undefined {
    const now = this.#time.now();
    const mustWait = this.#queue.size > 0 || this.#admission.slotAt(now, 0) > now || deadlineAt() < now;
    if (mustWait) return undefined;
    const { n, probe } = this.#core.grant(now, Math.min(1, this.#inFlight.room(now, this.#core.state)));
    const { ticket = ++this.#lastTicket, failures = 0 } = retryOf ?? {};
    return n === 0 ? undefined : this.#permit({ sentAt: now, probe, ticket, failures });
  }

  /**
   * Resolves when the call may be sent; report the result on the permit. Rejects with the signal's reason on abort, and
   * immediately with a LimitError if the earliest slot is after the deadline.
   */
  acquire(options: AcquireOptions = {}): Promise<Permit> {
    const { signal, retryOf, deadlineAt = () => NEVER } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const isHigh = options.priority === 'high';
    const ahead = retryOf ? 0 : isHigh ? this.#queue.high : this.#queue.size;
    const rejection = this.#admission.rejectionFor(ahead, options.wait ?? true, deadlineAt());
    if (rejection) return Promise.reject(rejection);
    const permit = this.tryAcquire(options);
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

  /** The limit of the plan became known, for example from `quota()`. */
  configure(perMinute: number): void {
    this.#core.report({ kind: 'configured', perMinute, now: this.#time.now() });
    this.#changed('configured');
  }

  /**
   * Returns a function that tells, until the call that is acquired next is sent, whether its slot is after a deadline
   * (times of `SteadyTime`), as far as is known.
   */
  nextSlotCheck({ priority, retryOf }: Pick<AcquireOptions, 'priority' | 'retryOf'> = {}): SlotCheck {
    const place = { isHigh: priority === 'high', ticket: retryOf?.ticket ?? this.#lastTicket + 1 };
    return (deadlineAt) => {
      const isAfter = (ahead: number) => this.#admission.slotAt(this.#time.now(), ahead) > deadlineAt;
      // To count the calls ahead takes long, and is rarely necessary.
      return isAfter(this.#queue.size) && isAfter(this.#queue.countBefore(place));
    };
  }

  /** See `Admission.etaMs`. */
  etaMs(calls: number, concurrency: number): number {
    return this.#admission.etaMs(calls, concurrency);
  }

  get isServiceDown(): boolean {
    return this.#inFlight.health.isDown;
  }

  /** See `unitOfFailure`. */
  get retryAfterUnit(): RetryAfterUnit {
    return unitOfFailure(this.#core.state.unit, this.#settings.retryAfterUnit);
  }

  /** Whether no call waits or is in flight. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && this.#inFlight.size === 0;
  }

  /** See `SharedCore.stored`. */
  async stored(): Promise<void> {
    if (this.#core instanceof SharedCore) await this.#core.stored();
  }

  /** See `SharedCore.offerStore`. */
  offerStore(store: LimitStore): void {
    if (this.#core instanceof SharedCore) this.#core.offerStore(store);
  }

  limits(): LimiterView {
    return { ...this.#admission.view(this.#queue.size), history: this.#history.changes };
  }

  #permit(fields: Pick<Permit, 'sentAt' | 'probe' | 'ticket' | 'failures'>): Permit {
    const permit = new Permit(this.#end, fields);
    this.#inFlight.add(permit);
    return permit;
  }

  /** In a microtask: a refused call that returns in the same turn is at the head before any call is served. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    queueMicrotask(() => {
      this.#isServing = false;
      this.#serve();
    });
  }

  #serve(): void {
    const now = this.#time.now();
    this.#rejectTooLate(now);
    const wanted = Math.min(this.#queue.size, this.#inFlight.room(now, this.#core.state));
    const { n, probe, at } = this.#core.grant(now, wanted);
    for (let served = 0; served < n; served += 1) {
      const call = this.#inFlight.health.isDown ? this.#queue.shiftLeastFailed() : this.#queue.shift();
      call?.grant(this.#permit({ sentAt: now, probe, ticket: call.ticket, failures: call.failures }));
    }
    if (!this.#inFlight.health.isDown && this.#core.asksForLimit(now, this.#queue.size)) this.#onLimitWanted?.();
    const isFull = wanted === 0 || this.#inFlight.health.isDown;
    const wakeAt = isFull ? this.#inFlight.nextRoomAt(now) : at;
    this.#wakeAt(now, wakeAt);
    // Calls that wait only for responses are sent soon.
    if (wakeAt !== undefined && (wanted > 0 || this.#inFlight.health.isDown)) this.#reportWait(now, wakeAt);
  }

  #rejectTooLate(now: number): void {
    const tooLong = this.#admission.tooLongWait(now);
    for (let call = tooLong && this.#queue.shift(); call; call = this.#queue.shift()) call.reject(tooLong);
    const slotAt = this.#admission.slotAt(now, 0);
    for (let call = this.#queue.shiftDueBefore(slotAt); call; call = this.#queue.shiftDueBefore(slotAt)) {
      call.reject(this.#admission.limitError('deadline', slotAt));
    }
    if (slotAt <= now) return;
    for (let call = this.#queue.shiftNotWaiting(); call; call = this.#queue.shiftNotWaiting()) {
      call.reject(this.#admission.limitError('policy', slotAt));
    }
  }

  #wakeAt(now: number, at: number | undefined): void {
    const wakeAt = this.#queue.size > 0 ? Math.min(at ?? NEVER, this.#queue.earliestDeadline) : NEVER;
    if (wakeAt === NEVER) this.#timer.cancel();
    else this.#timer.set(now, Math.ceil(wakeAt - now));
  }

  /** With a shared limit, `askAgainAt` is often earlier than the next slot, so the later time is reported. */
  #reportWait(now: number, askAgainAt: number): void {
    if (this.#queue.size === 0) return;
    const until = Math.max(askAgainAt, this.#admission.slotAt(now, 0));
    if (now < this.#reportedUntil || until - now < WAIT_WORTH_REPORTING_MS) return;
    this.#reportedUntil = until;
    const reason = this.#inFlight.health.isDown ? 'service' : this.#admission.closedUntil > now ? 'refused' : 'window';
    this.#onWait?.({ until: this.#time.toEpoch(until), waiting: this.#queue.size, reason });
  }

  readonly #end: OnEnd = (permit, end, details) => {
    const now = this.#time.now();
    const { sentAt, probe } = permit;
    const { date, retryAfter, mayHaveCounted, error } = details;
    if (end === 'failed') this.#inFlight.failed(permit, now, { hintMs: this.#hintOf(details), error });
    else if (end === 'accepted' || end === 'refused') this.#inFlight.answered(permit, now);
    else this.#inFlight.left(permit);
    const kind = end !== 'failed' ? end : mayHaveCounted ? 'lost' : 'unused';
    const reading = this.#core.report({ kind, now, sentAt, probe, date, retryAfter });
    this.#changed(end === 'refused' || end === 'failed' ? end : 'accepted');
    return reading;
  };

  #changed(event: LimiterEvent): void {
    this.#observe(event);
    if (this.#queue.size > 0) this.#serveSoon();
  }

  #hintOf({ retryAfter, date }: AnswerHeaders): number | undefined {
    return retryAfterMs(parseRetryAfter(retryAfter), {
      unit: this.retryAfterUnit,
      date,
      serverNowMs: this.#time.toEpoch(this.#time.now()),
    });
  }

  #observe(event: LimiterEvent): void {
    this.#history.observe(event, this.#core.state, this.#inFlight.health, this.#core.aheadMs);
  }
}
