import { type Clock, type SteadyTime, steadyTime } from '../time/clock.ts';
import { InFlight, type OnEnd, Permit, type RequestFailure } from './in-flight.ts';
import { type Limit, LocalLimit, rampSize, type SlotOptions } from './key-limit.ts';
import { LONGEST_BACKOFF_MS } from './limit-rules.ts';
import { closedUntil, type LimiterSettings, LONG_AGO, UNBOUNDED, WINDOW_MS, windowKind } from './limit-state.ts';
import { type AcquireOptions, type Priority, type QueuedCall, RequestQueue } from './request-queue.ts';
import { type RetryAfterUnit, unitOf } from './retry-after.ts';
import { SharedLimit, type Sharing } from './shared/shared-limit.ts';

/** Shorter waits are normal and are not reported. */
const WAIT_WORTH_REPORTING_MS = 1_000;

export interface RateLimiterOptions extends LimiterSettings {
  readonly clock: Clock;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** Called once per wait of the limiter, however many calls wait. */
  readonly onWait?: ((wait: Wait) => void) | undefined;
  /** Called once, when the last waiting call, except those of low priority, will be sent in more than a minute. */
  readonly onLongWait?: ((wait: LongWait) => void) | undefined;
  /** The store through which processes share the limit, and its name there. Default: this process does not share it. */
  readonly shared?: Sharing | undefined;
  /** Called once per outage of the store, when this process continues alone. */
  readonly onOutage?: ((reason: string, outage: number) => void) | undefined;
}

/** One wait of the calls of a key, however many there are. */
export interface Wait {
  /**
   * Why they wait. `'retry_after'`: the service refused a call. `'window'`: the limit is used up. `'service'`: the service
   * is down (see `KeyLimits`).
   */
  readonly reason: 'retry_after' | 'window' | 'service';
  /** Estimated milliseconds until the next slot. */
  readonly waitMs: number;
  /** Estimated time of the next slot. */
  readonly until: Date;
  /** Number of waiting calls. */
  readonly waiting: number;
}

/** Calls that wait for more than a minute. */
export interface LongWait {
  readonly waiting: number;
  readonly perMinute: number;
  /** Whether `perMinute` is only the part of this process, because the store of the limit failed. */
  readonly isPart: boolean;
  /** Milliseconds until the last of them is sent, as far as is known. */
  readonly lastMs: number;
}

/** Why a call is not sent, instead of its permit: waiting would not help, or the call does not wait. */
export interface NotSent {
  readonly reason: 'deadline' | 'max_retry_after' | 'policy' | 'outage' | 'in_flight';
  /** Milliseconds until the call could have been sent, at the earliest. */
  readonly waitMs: number;
  /** The last failure if the service is down; `undefined` if the limit is used up. */
  readonly failure?: unknown;
}

/** The permit of a call, or the reason why it is not sent. */
export type Admission = Permit | NotSent;

/** The state of a key's limit, from `fx.limits()`. */
export interface KeyLimits {
  /** `'open'`, or the time until which a refusal holds back all calls. */
  readonly gate: 'open' | { readonly until: Date };
  /** `'up'`, or the time of the next attempt while it is down: after three failures in a row, or one with Retry-After. */
  readonly service: 'up' | { readonly downUntil: Date };
  /** How the service counts requests, as far as its refusals have shown; `'token-bucket'`: requests are sent evenly. */
  readonly window: 'unknown' | 'sliding' | 'fixed' | 'token-bucket';
  /** Requests per minute that the limiter sends at most, configured or learned; `undefined` while unknown. */
  readonly perMinute: number | undefined;
  /** Number of calls in the queue. */
  readonly waiting: number;
  /** Number of requests without a response yet. */
  readonly inFlight: number;
  /** Number of requests that may be in flight now: fewer after a refusal, a timeout or an outage. */
  readonly maxConcurrent: number;
  /** Earliest time at which a call made now can be sent. */
  readonly nextSlotAt: Date;
  /**
   * Why a call made now would wait. `'retry_after'`: the service refused a call. `'service'`: the service is down. `'window'`:
   * the limit is used up. `'in_flight'`: requests in flight must end first. `undefined`: it would not wait.
   */
  readonly reason: 'retry_after' | 'service' | 'window' | 'in_flight' | undefined;
}

/** The calls to estimate: how many of them are in flight at once, and their priority. */
interface Eta {
  readonly concurrency: number;
  readonly priority?: Priority | undefined;
}

type Admitted = Pick<AcquireOptions, 'retryOf'>;

interface WaitingCall extends QueuedCall, Admitted {
  readonly settle: (admitted: Admission) => void;
}

/**
 * The queue of calls in front of a limit: sends the next call, rejects calls that may not wait, and sleeps until
 * something changes. It makes no decision about the limit: the smaller number of `Limit` and `InFlight` applies. Its times
 * are dated times of `SteadyTime`, except the deadlines of the calls.
 */
export class RateLimiter {
  /** `undefined` if this process does not share the limit. */
  readonly shared: SharedLimit | undefined;
  readonly #options: RateLimiterOptions;
  readonly #time: SteadyTime;
  readonly #limit: Limit;
  readonly #inFlight: InFlight;
  readonly #queue = new RequestQueue<WaitingCall>();
  #lastTicket = 0;
  #isServing = false;
  #wake: { readonly at: number; readonly cancel: () => void } | undefined;
  #reportedUntil = LONG_AGO;
  #hasReportedLongWait = false;
  #calledAt = LONG_AGO;

  constructor(options: RateLimiterOptions) {
    const { clock, random, maxConcurrent, shared, onOutage } = options;
    this.#options = options;
    this.#time = steadyTime(clock);
    this.#inFlight = new InFlight({ maxConcurrent, random });
    this.shared = shared && new SharedLimit(options, { ...shared, clock, onOutage, onChange: () => this.#serve() });
    this.#limit = this.shared ?? new LocalLimit(options);
  }

  /**
   * Returns the permit of a call that need not wait, or the reason why it is not sent. If it waits, returns a promise of
   * these, which rejects with the signal's reason on abort. Report the result of the request on the permit.
   */
  acquire(options: AcquireOptions): Admission | Promise<Admission> {
    const { signal, due, priority, waits, isOwn, retryOf } = options;
    const now = this.#time.datedNow();
    this.#sawCall(now, options);
    const admission = this.#permitNow(now, options) ?? this.#whyNotSent(now, options);
    if (admission !== undefined) return admission;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#queue.remove(call);
        this.#serveSoon();
        reject(signal.reason);
      };
      const settle = (admitted: Admission) => {
        signal.unlisten(onAbort);
        resolve(admitted);
      };
      // A `quota()` of the client is sent first: after the calls that wait, nothing needs it.
      const { ticket = isOwn ? 0 : ++this.#lastTicket, failures = 0 } = retryOf ?? {};
      // Not spread: V8 would keep a shape of its own for each call.
      const call = { ticket, failures, settle, due, priority, waits, retryOf, nodes: undefined };
      this.#queue.add(call);
      this.#serveSoon();
      signal.listen(onAbort);
    });
  }

  /** The limit of the plan became known, for example from `quota()`. */
  configure(perMinute: number): void {
    this.#limit.report({ kind: 'configured', perMinute, now: this.#time.datedNow() });
    if (this.#queue.size > 0) this.#serveSoon();
  }

  /** Whether to call `quota()`, and `configure()` with the limit of the plan. */
  get isLimitWanted(): boolean {
    return !this.#inFlight.health.isDown && this.#limit.isWanted(this.#time.datedNow(), this.#queue.size);
  }

  /**
   * Estimated milliseconds until `calls` calls have a response, with at most `concurrency` of them in flight at once.
   * The limit or the service determines the time, whichever is slower. `calls` includes those in flight.
   */
  etaMs(calls: number, { concurrency, priority }: Eta): number {
    const { maxConcurrent, roundTripMs, size } = this.#inFlight;
    const now = this.#time.datedNow();
    const sentAt = calls > size ? this.#slotAt(now, calls - size - 1, { estimate: 'expected', priority }) : now;
    const byService = Math.ceil(calls / Math.min(maxConcurrent, concurrency)) * roundTripMs;
    return Math.ceil(Math.max(sentAt - now + roundTripMs, byService));
  }

  /** The unit of a Retry-After of a response other than 429. */
  get retryAfterUnit(): RetryAfterUnit {
    return unitOf(this.#limit.state.unit, this.#options.retryAfterUnit);
  }

  /** Milliseconds until a call of this priority that is made now can be sent, at the earliest. */
  waitMs(priority: Priority): number {
    const now = this.#time.datedNow();
    return this.#slotAt(now, this.#queue.countAhead(priority), { priority }) - now;
  }

  limits(): KeyLimits {
    const { state } = this.#limit;
    const gateOpensAt = closedUntil(state);
    const now = this.#time.datedNow();
    const health = this.#inFlight.healthAt(now);
    const dateOf = (at: number) => new Date(this.#time.toEpoch(at));
    return {
      gate: gateOpensAt > now ? { until: dateOf(gateOpensAt) } : 'open',
      service: health.isDown ? { downUntil: dateOf(health.retryAt) } : 'up',
      window: windowKind(state),
      perMinute: Number.isFinite(state.limit) ? state.limit : undefined,
      waiting: this.#queue.size,
      inFlight: this.#inFlight.size,
      maxConcurrent: this.#maxConcurrent,
      nextSlotAt: dateOf(now + this.waitMs('normal')),
      reason: this.#whyWait(now),
    };
  }

  #whyWait(now: number): KeyLimits['reason'] {
    if (this.#inFlight.health.isDown && this.#inFlight.room(now) === 0) return 'service';
    if (closedUntil(this.#limit.state) > now) return 'retry_after';
    if (this.#slotAt(now, this.#queue.countAhead('normal')) > now) return 'window';
    return this.#queue.size > 0 || this.#inFlight.size >= this.#maxConcurrent ? 'in_flight' : undefined;
  }

  /** Number of requests that may be in flight now. */
  get #maxConcurrent(): number {
    return Math.min(this.#inFlight.maxConcurrent, rampSize(this.#limit.state));
  }

  /** The permit if no other call waits, and a slot is free. */
  #permitNow(now: number, options: AcquireOptions): Permit | undefined {
    const { priority, due } = options;
    const deadlineAt = due.deadlineAt + this.#time.skippedMs;
    if (this.shared || deadlineAt < now || this.#queue.size > 0) return undefined; // a store responds later
    if (this.#inFlight.room(now) === 0) return undefined;
    const { count } = this.#limit.grant(now, { wanted: 1, low: priority === 'low' ? 1 : 0, queued: 1, deadlineAt });
    return count === 0 ? undefined : this.#permit(now, options);
  }

  /**
   * Reports that a call of normal or high priority has arrived, for which those of low priority leave slots free. At most once
   * a second, because it takes a write to the store, also for a call that does not wait.
   */
  #sawCall(now: number, { priority, retryOf, isFree }: AcquireOptions): void {
    if (priority === 'low' || retryOf !== undefined || isFree || now - this.#calledAt < 1_000) return;
    this.#calledAt = now;
    this.#limit.report({ kind: 'called', now });
    this.#serveSoon();
  }

  /** The earliest time at which a call with `ahead` others before it can be sent, as far as is known. */
  #slotAt(now: number, ahead: number, options: SlotOptions = {}): number {
    return Math.max(now, this.#limit.slotAt(now, ahead, options), this.#inFlight.health.retryAt);
  }

  /** `waited`: the ticket of a call that has waited. A call that is sent again keeps its ticket. */
  #permit(now: number, { retryOf, ticket: waited }: Admitted & { readonly ticket?: number }): Permit {
    const ticket = waited ?? retryOf?.ticket ?? ++this.#lastTicket;
    const { skippedMs } = this.#time;
    const permit = new Permit(this.#end, { sentAt: now, skippedMs, ticket, retryOf });
    this.#inFlight.add(permit);
    return permit;
  }

  /**
   * In a microtask, by a promise that fake timers do not stop: a refused call that returns in the same turn is at the
   * head before any call is served.
   */
  #serveSoon(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    void Promise.resolve().then(() => {
      this.#isServing = false;
      this.#serve();
    });
  }

  #serve(): void {
    const now = this.#time.datedNow();
    this.#rejectTooLate(now);
    const { mayBeDown } = this.#inFlight;
    const wanted = Math.min(this.#queue.size, this.#inFlight.room(now));
    const { count, askAgainAt } = this.#limit.grant(now, {
      wanted,
      low: Math.max(0, wanted - this.#queue.countAhead('normal')),
      queued: this.#queue.size,
      deadlineAt: this.#queue.earliestDeadline + this.#time.skippedMs,
    });
    for (let served = 0; served < count; served += 1) {
      const call = mayBeDown ? this.#queue.shiftLeastFailed() : this.#queue.shift();
      call?.settle(this.#permit(now, call));
    }
    const wakeAt = wanted === 0 ? this.#inFlight.nextRoomAt : askAgainAt;
    this.#wakeAt(now, wakeAt);
    // Calls that wait only for responses are sent soon.
    if (wakeAt < UNBOUNDED && this.#queue.size > 0) this.#reportWait(now, wakeAt);
  }

  /** Why a call does not wait; `undefined` if it does. */
  #whyNotSent(now: number, { retryOf, waits, due, priority }: AcquireOptions): NotSent | undefined {
    const tooLong = this.#tooLongWait(now);
    if (tooLong) return tooLong;
    const ahead = this.#queue.countAhead(priority, retryOf !== undefined);
    const slotAt = this.#slotAt(now, ahead, { priority, estimate: 'certain' });
    const neededBy = slotAt > now ? slotAt + this.#inFlight.responseMs() : now;
    if (neededBy > due.deadlineAt + this.#time.skippedMs) return this.#tooLate(now, slotAt);
    return !waits && slotAt > now ? this.#notSent('policy', slotAt) : undefined;
  }

  #rejectTooLate(now: number): void {
    const tooLong = this.#tooLongWait(now);
    if (tooLong) this.#settleAll(() => this.#queue.shift(), tooLong);
    const isLow = this.#queue.countAhead('normal') === 0;
    const slotAt = this.#slotAt(now, 0, { priority: isLow ? 'low' : 'normal', estimate: 'certain' });
    // A call whose response would be late must not use a slot.
    const neededBy = () => slotAt - this.#time.skippedMs + this.#inFlight.responseMs(this.#queue.size > 1);
    this.#settleAll(() => this.#queue.shiftDueBefore(neededBy()), this.#tooLate(now, slotAt));
    if (slotAt > now) this.#settleAll(() => this.#queue.shiftNotWaiting(), this.#notSent('policy', slotAt));
  }

  #settleAll(shift: () => WaitingCall | undefined, why: NotSent): void {
    for (let call = shift(); call; call = shift()) call.settle(why);
  }

  /** The reason if a longer quota than that of the window is used up, or the service is down for long. */
  #tooLongWait(now: number): NotSent | undefined {
    const { maxRetryAfterMs } = this.#options;
    const { blockedUntil, gate } = this.#limit.state;
    const { retryAt } = this.#inFlight.health;
    // Another process, with another maximum, may block for a time that this one waits for, or close the gate for longer.
    const isGateLong = gate.opensAt - now > Math.max(maxRetryAfterMs, LONGEST_BACKOFF_MS);
    const freeAt = Math.max(blockedUntil, retryAt, isGateLong ? gate.opensAt : LONG_AGO);
    if (freeAt - now > maxRetryAfterMs) return this.#notSent('max_retry_after', freeAt);
    return this.#inFlight.isDownForLong(now) ? this.#notSent('outage', retryAt) : undefined;
  }

  /** The deadline of a call is too early for the next slot; if a slot is free, for requests in flight or its response. */
  #tooLate(now: number, slotAt: number): NotSent {
    return this.#notSent(slotAt > now ? 'deadline' : 'in_flight', slotAt);
  }

  #notSent(reason: NotSent['reason'], retryAt: number): NotSent {
    const { health, lastFailure } = this.#inFlight;
    const failure = health.isDown && retryAt <= health.retryAt ? lastFailure : undefined;
    return { reason, waitMs: retryAt - this.#time.datedNow(), failure };
  }

  #wakeAt(now: number, at: number): void {
    const wakeAt = this.#queue.size > 0 ? Math.min(at, this.#queue.earliestDeadline + this.#time.skippedMs) : UNBOUNDED;
    if (this.#wake?.at === wakeAt) return;
    this.#wake?.cancel();
    this.#wake = undefined;
    if (wakeAt === UNBOUNDED) return;
    const wake = () => {
      this.#wake = undefined;
      this.#serve();
    };
    // A shorter sleep could end in the millisecond in which it began, and repeat without an end.
    const endsAt = Math.max(now + 1, Math.ceil(wakeAt));
    this.#wake = { at: wakeAt, cancel: this.#time.atDate(endsAt, wake) };
  }

  /** With a shared limit, `askAgainAt` is often earlier than the next slot, so the later time is reported. */
  #reportWait(now: number, askAgainAt: number): void {
    this.#reportLongWait(now);
    const until = Math.max(askAgainAt, this.#slotAt(now, 0));
    if (now < this.#reportedUntil || until - now < WAIT_WORTH_REPORTING_MS) return;
    this.#reportedUntil = until;
    const why = this.#whyWait(now);
    const reason = why === 'service' || why === 'retry_after' ? why : 'window';
    const { size: waiting } = this.#queue;
    const date = new Date(this.#time.toEpoch(until));
    this.#options.onWait?.({ reason, waitMs: Math.ceil(until - now), until: date, waiting });
  }

  #reportLongWait(now: number): void {
    const waiting = this.#queue.countAhead('normal');
    if (this.#hasReportedLongWait || waiting === 0) return;
    const lastMs = this.#slotAt(now, waiting - 1, { estimate: 'expected' }) - now;
    if (lastMs <= WINDOW_MS) return;
    this.#hasReportedLongWait = true;
    const isPart = this.shared?.isPart === true;
    this.#options.onLongWait?.({ waiting, perMinute: this.#limit.state.limit, isPart, lastMs });
  }

  readonly #end: OnEnd = (permit, end, arrivedAt) => {
    const now = arrivedAt ?? this.#time.datedNow();
    const { sentAt } = permit;
    const tookMs = Math.max(0, now - sentAt - (this.#time.skippedMs - permit.skippedMs));
    if (end.kind === 'failed') this.#inFlight.failed(permit, now, { ...end, tookMs });
    else if (end.kind === 'accepted' || end.kind === 'refused') this.#inFlight.responded(permit, tookMs);
    else this.#inFlight.left(permit);
    const result = end.kind === 'failed' ? { kind: this.#kindOf(end) } : end;
    const reading = this.#limit.report({ sentAt, now, ...result });
    if (this.#queue.size > 0) this.#serveSoon();
    return reading;
  };

  /** A cap counts all requests, even those that the service did not. */
  #kindOf({ mayHaveUsedSlot, wasSent }: RequestFailure): 'lost' | 'unused' {
    return mayHaveUsedSlot || (wasSent && this.#limit.state.isCap) ? 'lost' : 'unused';
  }
}
