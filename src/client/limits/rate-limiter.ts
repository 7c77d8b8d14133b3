import { type Clock, type SteadyTime, steadyTime } from '../clock.ts';
import { lastSlotAt, slotAt } from './grant.ts';
import { InFlight, LONGEST_OUTAGE_MS } from './in-flight.ts';
import { DEFAULT_LIMITER_SETTINGS, LimiterCore, type LimiterSettings } from './limiter-core.ts';
import { closedUntil, hasConfiguredLimit } from './limiter-state.ts';
import {
  type LimiterEvent,
  LimiterHistory,
  type LimiterView,
  type LimiterWait,
  type LongWait,
  statusOf,
} from './limiter-view.ts';
import { LimitError, type LimitReason, type OnEnd, Permit, type PermitFields } from './permit.ts';
import { type AcquireOptions, type QueuedCall, RequestQueue, WakeTimer } from './request-queue.ts';
import { parseRetryAfter, type RetryAfterUnit, retryAfterMs, unitOf } from './retry-after.ts';
import { SharedCore, type Sharing } from './shared/shared-core.ts';

/** A program may not expect that calls wait for longer. */
const LONG_WAIT_MS = 60_000;
/** A limit learned from fewer calls can be wrong. */
const ENOUGH_CALLS = 10;

/** Shorter waits are normal in a window and are not reported. */
const WAIT_WORTH_REPORTING_MS = 1_000;

const NEVER = Number.POSITIVE_INFINITY;

export interface RateLimiterOptions extends Partial<LimiterSettings> {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Called once per wait of the limiter, however many calls wait. */
  readonly onWait?: ((wait: LimiterWait) => void) | undefined;
  /** Called once, when the last waiting call will be sent in more than a minute. Calls of low priority do not count. */
  readonly onLongWait?: ((wait: LongWait) => void) | undefined;
  /** Called when calls wait and the limit of the plan is unknown, contradicted by a refusal, or was read long ago. */
  readonly onLimitWanted?: (() => void) | undefined;
  /** The store through which processes share the limit, and its name there. Default: this process does not share it. */
  readonly shared?: Sharing | undefined;
  /** Called once per outage of the store, when this process continues alone. */
  readonly onOutage?: ((reason: string) => void) | undefined;
}

/** Whether the slot of a waiting call is after a deadline. */
export type SlotCheck = (deadlineAt: number) => boolean;

interface Call extends QueuedCall, Pick<AcquireOptions, 'retryOf'> {
  readonly grant: (permit: Permit) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The queue of calls in front of a limit: sends the next call, rejects calls that may not wait, and sleeps until
 * something changes. It makes no decision about the limit: the smaller number of `LimiterCore` (the limit) and
 * `InFlight` (the service) applies.
 */
export class RateLimiter {
  /** `undefined` if this process does not share the limit. */
  readonly shared: SharedCore | undefined;
  readonly #time: SteadyTime;
  readonly #timer: WakeTimer;
  readonly #core: LimiterCore;
  readonly #options: RateLimiterOptions;
  readonly #queue = new RequestQueue<Call>();
  readonly #history: LimiterHistory;
  readonly #inFlight: InFlight;
  #lastTicket = 0;
  #isServing = false;
  #reportedUntil = Number.NEGATIVE_INFINITY;
  #hasReportedLongWait = false;

  constructor(options: RateLimiterOptions) {
    // biome-ignore lint/plugin: the default of the option
    const { clock, random = Math.random, shared, onOutage, ...given } = options;
    const settings = { ...DEFAULT_LIMITER_SETTINGS, ...given };
    this.#options = options;
    this.#time = steadyTime(clock);
    this.#timer = new WakeTimer(clock, () => this.#serve());
    this.#history = new LimiterHistory(this.#time);
    this.#inFlight = new InFlight({ maxConcurrent: settings.maxConcurrent, random });
    const onChange = () => {
      this.#history.observe('store', this.#core, this.#inFlight.health);
      this.#serve();
    };
    this.shared = shared && new SharedCore({ settings, ...shared, clock, onChange, onOutage });
    this.#core = this.shared ?? new LimiterCore(settings);
  }

  /** The permit if the call need not wait: no other call waits, and a slot is free. */
  tryAcquire({ retryOf, deadlineAt = () => NEVER }: AcquireOptions = {}): Permit | undefined {
    const now = this.#time.now();
    if (this.#queue.size > 0 || this.#slotAt(now, 0) > now || deadlineAt() < now) return undefined;
    const { count, isProbe } = this.#core.grant(now, Math.min(1, this.#inFlight.room(now, this.#core.state)));
    if (count === 0) return undefined;
    return this.#permit({ sentAt: now, isProbe, ticket: retryOf?.ticket ?? ++this.#lastTicket, retryOf });
  }

  /**
   * Resolves when the call may be sent; report the result on the permit. Rejects with the signal's reason on abort, and
   * immediately with a LimitError if the earliest slot is after the deadline.
   */
  acquire(options: AcquireOptions = {}): Promise<Permit> {
    const { signal, retryOf, priority = 'normal', deadlineAt = () => NEVER, wait: waits = true } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const ahead = this.#queue.countAhead(priority, retryOf !== undefined);
    const rejection = this.#rejectionFor(ahead, waits, deadlineAt());
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
        priority,
        failures: retryOf?.failures ?? 0,
        retryOf,
        waits,
        deadlineAt,
        nodes: undefined,
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
  nextSlotCheck({ priority = 'normal', retryOf }: Pick<AcquireOptions, 'priority' | 'retryOf'> = {}): SlotCheck {
    const place = { priority, ticket: retryOf?.ticket ?? this.#lastTicket + 1 };
    return (deadlineAt) => {
      const isAfter = (ahead: number) => this.#slotAt(this.#time.now(), ahead) > deadlineAt;
      // To count the calls ahead takes long, and is rarely necessary.
      return isAfter(this.#queue.size) && isAfter(this.#queue.countBefore(place));
    };
  }

  /**
   * Estimated milliseconds until `calls` calls have a response, with at most `concurrency` of them in flight at once.
   * The limit or the service determines the time, whichever is slower. `calls` includes those in flight.
   */
  etaMs(calls: number, concurrency: number): number {
    const { state, aheadMs } = this.#core;
    const { health, maxConcurrent, roundTripMs, size } = this.#inFlight;
    const now = this.#time.now();
    const unsent = calls - size;
    const sentAt = unsent > 0 ? Math.max(lastSlotAt(state, now + aheadMs, unsent) - aheadMs, health.retryAt) : now;
    const byService = Math.ceil(calls / Math.min(maxConcurrent, concurrency)) * roundTripMs;
    return Math.ceil(Math.max(sentAt - now + roundTripMs, byService));
  }

  get isServiceDown(): boolean {
    return this.#inFlight.health.isDown;
  }

  /** The unit of a Retry-After of a response other than 429. */
  get retryAfterUnit(): RetryAfterUnit {
    return unitOf(this.#core.state.unit, this.#core.settings.retryAfterUnit);
  }

  /** Whether no call waits or is in flight. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && this.#inFlight.size === 0;
  }

  limits(): LimiterView {
    const waiting = this.#queue.size;
    const { health, size, maxConcurrent } = this.#inFlight;
    return {
      ...statusOf(this.#core, health, this.#time),
      ...{ waiting, inFlight: size, maxConcurrent },
      nextSlotAt: new Date(this.#time.toEpoch(this.#slotAt(this.#time.now(), this.#queue.countAhead('normal')))),
      history: [...this.#history.changes],
    };
  }

  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  #slotAt(now: number, ahead: number): number {
    const { state, aheadMs } = this.#core;
    const at = slotAt(state, now + aheadMs, { ahead, mayProbe: this.#core.settings.probe }) - aheadMs;
    return Math.max(now, at, this.#inFlight.health.retryAt);
  }

  #permit(fields: PermitFields): Permit {
    const permit = new Permit(this.#end, fields);
    this.#inFlight.add(permit);
    return permit;
  }

  /** In a microtask, by a promise that fake timers do not stop: a refused call that returns in the same turn is at the head before any call is served. */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    void Promise.resolve().then(() => {
      this.#isServing = false;
      this.#serve();
    });
  }

  #serve(): void {
    const now = this.#time.now();
    this.#rejectTooLate(now);
    const { isDown } = this.#inFlight.health;
    const wanted = Math.min(this.#queue.size, this.#inFlight.room(now, this.#core.state));
    const { count, isProbe, askAgainAt } = this.#core.grant(now, wanted);
    for (let served = 0; served < count; served += 1) {
      const call = isDown ? this.#queue.shiftLeastFailed() : this.#queue.shift();
      call?.grant(this.#permit({ sentAt: now, isProbe, ticket: call.ticket, retryOf: call.retryOf }));
    }
    if (!isDown && this.#core.asksForLimit(now, this.#queue.size)) this.#options.onLimitWanted?.();
    this.#reportLongWait(now);
    const wakeAt = wanted === 0 || isDown ? this.#inFlight.nextRoomAt(now) : askAgainAt;
    this.#wakeAt(now, wakeAt);
    // Calls that wait only for responses are sent soon.
    if (wakeAt !== undefined && (wanted > 0 || isDown)) this.#reportWait(now, wakeAt);
  }

  /** Why a call does not wait; `undefined` if it does. */
  #rejectionFor(ahead: number, waits: boolean, deadlineAt: number): LimitError | undefined {
    const now = this.#time.now();
    const tooLong = this.#tooLongWait(now);
    if (tooLong) return tooLong;
    const slotAt = this.#slotAt(now, ahead);
    if (slotAt > deadlineAt) return this.#limitError('deadline', slotAt);
    return !waits && slotAt > now ? this.#limitError('policy', slotAt) : undefined;
  }

  #rejectTooLate(now: number): void {
    const tooLong = this.#tooLongWait(now);
    for (let call = tooLong && this.#queue.shift(); call; call = this.#queue.shift()) call.reject(tooLong);
    const slotAt = this.#slotAt(now, 0);
    // A call whose response would be late must not use a slot that another waiting call can use.
    const neededBy = () => slotAt + (this.#queue.size > 1 ? this.#inFlight.roundTripMs : 0);
    for (let call = this.#queue.shiftDueBefore(neededBy()); call; call = this.#queue.shiftDueBefore(neededBy())) {
      call.reject(this.#limitError('deadline', slotAt));
    }
    if (slotAt <= now) return;
    for (let call = this.#queue.shiftNotWaiting(); call; call = this.#queue.shiftNotWaiting()) {
      call.reject(this.#limitError('policy', slotAt));
    }
  }

  /** The error if a longer quota than that of the window is used up, or the service is down for long. */
  #tooLongWait(now: number): LimitError | undefined {
    const { state, aheadMs, settings } = this.#core;
    const blockedUntil = state.blockedUntil - aheadMs;
    // Another process, with a smaller maximum, may have stored a time that this one waits for.
    if (blockedUntil - now > settings.maxRetryAfterMs) return this.#limitError('max_retry_after', blockedUntil);
    const { retryAt, downSince } = this.#inFlight.health;
    if (retryAt - now > settings.maxRetryAfterMs) return this.#limitError('max_retry_after', retryAt);
    const isOutageLong = retryAt > now && retryAt > downSince + LONGEST_OUTAGE_MS;
    return isOutageLong ? this.#limitError('outage', retryAt) : undefined;
  }

  #limitError(reason: LimitReason, retryAt: number): LimitError {
    const { health, lastFailure } = this.#inFlight;
    const isServiceDown = retryAt <= health.retryAt;
    const cause = isServiceDown ? { cause: lastFailure } : {};
    return new LimitError(reason, Math.ceil(this.#time.toEpoch(retryAt)), { isServiceDown, ...cause });
  }

  #wakeAt(now: number, at: number | undefined): void {
    const wakeAt = this.#queue.size > 0 ? Math.min(at ?? NEVER, this.#queue.earliestDeadline) : NEVER;
    if (wakeAt === NEVER) this.#timer.cancel();
    else this.#timer.set(now, Math.ceil(wakeAt - now));
  }

  /** With a shared limit, `askAgainAt` is often earlier than the next slot, so the later time is reported. */
  #reportWait(now: number, askAgainAt: number): void {
    if (this.#queue.size === 0) return;
    const until = Math.max(askAgainAt, this.#slotAt(now, 0));
    if (now < this.#reportedUntil || until - now < WAIT_WORTH_REPORTING_MS) return;
    this.#reportedUntil = until;
    const isRefused = closedUntil(this.#core.state) - this.#core.aheadMs > now;
    const reason = this.#inFlight.health.isDown ? 'service' : isRefused ? 'refused' : 'window';
    this.#options.onWait?.({ until: this.#time.toEpoch(until), waiting: this.#queue.size, reason });
  }

  #reportLongWait(now: number): void {
    const waiting = this.#queue.countAhead('normal');
    const { state, aheadMs } = this.#core;
    const isLimitKnown = hasConfiguredLimit(state) || (state.phase === 'known' && state.limit >= ENOUGH_CALLS);
    if (this.#hasReportedLongWait || waiting === 0 || state.phase === 'learning' || !isLimitKnown) return;
    const lastMs = lastSlotAt(state, now + aheadMs, waiting) - aheadMs - now;
    if (lastMs <= LONG_WAIT_MS) return;
    this.#hasReportedLongWait = true;
    this.#options.onLongWait?.({ waiting, perMinute: state.limit, lastMs });
  }

  readonly #end: OnEnd = (permit, end, details) => {
    const now = this.#time.now();
    const { sentAt, isProbe } = permit;
    const { date, retryAfter, mayHaveCounted, isTimeout, error } = details;
    if (end === 'failed') {
      const serverNowMs = this.#time.toEpoch(now);
      const hintMs = retryAfterMs(parseRetryAfter(retryAfter), { unit: this.retryAfterUnit, date, serverNowMs });
      this.#inFlight.failed(permit, now, { hintMs, isTimeout, error });
    } else if (end === 'accepted' || end === 'refused') this.#inFlight.responded(permit, now);
    else this.#inFlight.left(permit);
    const kind = end !== 'failed' ? end : mayHaveCounted ? 'lost' : 'unused';
    const reading = this.#core.report({ kind, now, sentAt, isProbe, date, retryAfter });
    this.#changed(end === 'refused' || end === 'failed' ? end : 'accepted');
    return reading;
  };

  #changed(event: LimiterEvent): void {
    this.#history.observe(event, this.#core, this.#inFlight.health);
    if (this.#queue.size > 0) this.#serveSoon();
  }
}
