import {
  type ApiResponse,
  type AttemptFailure,
  type Call,
  type Handler,
  type NextAttempt,
  type Refusal,
  wasTried,
} from '../call/call.ts';
import {
  AbortError,
  AuthenticationError,
  FxRatesError,
  NetworkError,
  QuotaExhaustedError,
  RateLimitError,
  RequestError,
  ServerError,
  TimeoutError,
} from '../errors/errors.ts';
import { isPermanent } from '../errors/network-failure.ts';
import type { ApiKey } from '../key/api-key.ts';
import { LONGEST_OUTAGE_MS, type Permit, type RequestEnd } from '../limits/in-flight.ts';
import type { Admission, NotSent } from '../limits/rate-limiter.ts';
import type { AcquireOptions } from '../limits/request-queue.ts';
import { retryAfterMs } from '../limits/retry-after.ts';
import type { KeyState } from '../state/key-state.ts';
import { Cancellation } from '../time/abort.ts';
import { backoffMs, equalJitter } from '../time/clock.ts';
import { limitedError, notSentError } from './limit.ts';
import { QuotaGuard } from './quota-guard.ts';
import { explainFailure, lookUpLimit, usedUpError } from './quota-lookup.ts';
import { type EndedAttempt, endOf, type Send, type StepContext, send } from './send.ts';

/** From 520 on: those of Cloudflare and of overloaded services that pass, so not 525 and 526, which are about certificates. */
const RETRYABLE_STATUSES: readonly (number | undefined)[] = [
  ...[408, 500, 502, 503, 504],
  ...[520, 521, 522, 523, 524, 527, 529, 530],
];
/** With equal jitter, because full jitter can be close to zero, and all retries could then fall into one outage. */
const RETRY_BACKOFF = { firstMs: 500, longestMs: 8_000 };
/** At the head of the queue, a `quota()` of the client that is always refused would block all calls. */
const MOST_OWN_ATTEMPTS = 2;
/** Others can be in flight during each, so that its record is not exact. */
const MOST_UPDATES = 5;

/**
 * Sends a call until it succeeds or may not be sent again, which is safe because every operation is a GET. It is sent
 * again with another key if the key cannot be used, when the limiter admits it again if it was refused (429), and after a
 * backoff if the connection or the service failed.
 */
export function retry(context: StepContext): Handler {
  const { quotaGuard } = context.settings;
  const guard = quotaGuard && new QuotaGuard(context, quotaGuard);
  const parts = { ...context, guard, send: send(context) };
  return (call) => new Attempts(call, parts).run();
}

interface AttemptsParts extends StepContext {
  /** `undefined` without the option `quotaGuard`. */
  readonly guard: QuotaGuard | undefined;
  /** Sends one attempt. */
  readonly send: Send;
}

/** Sends a `quota()` of the client itself once, without the queue. */
async function sendDirectly(call: Call, state: KeyState, send: Send): Promise<ApiResponse> {
  const { outcome } = await send(call, state);
  if ('rawBody' in outcome) return outcome;
  throw outcome.kind === 'failed'
    ? outcome.error
    : limitedError(call, { state, reason: 'policy', waitMs: undefined, refusal: outcome });
}

interface WaitParts {
  readonly wait: Cancellation;
  /** The waits that another call can end. */
  readonly ends: readonly Set<Cancellation>[];
}

const ACCEPTED: RequestEnd = { kind: 'accepted' };
const UNUSED: RequestEnd = { kind: 'unused' };
const RETRY: NextAttempt = { reason: 'retry', waitedMs: 0 };

/** The attempts of one call. */
class Attempts {
  readonly #call: Call;
  readonly #parts: AttemptsParts;
  /** The state in which the guard has admitted the call. */
  #admittedBy: KeyState | undefined;
  /** How often the guard may still update its record after a wait of this call. */
  #updatesLeft = MOST_UPDATES;
  #permit: Permit | undefined;
  /** The last one. */
  #refusal: Refusal | undefined;
  #retries = 0;
  #hasNewKey = false;
  /** A `quota()` of the client itself is about one key. */
  readonly #isForCaller: boolean;

  constructor(call: Call, parts: AttemptsParts) {
    this.#call = call;
    this.#parts = parts;
    this.#isForCaller = call.ownReason === undefined;
  }

  async run(): Promise<ApiResponse> {
    try {
      for (;;) {
        const state = await this.#admit();
        if (state === undefined) continue;
        const { outcome, wasTransmitted } = await this.#attempt(state);
        if ('rawBody' in outcome) {
          this.#permit?.end(wasTransmitted ? ACCEPTED : UNUSED);
          return outcome;
        }
        await this.#prepareNext(await this.#report(outcome, state, wasTransmitted), state);
      }
    } finally {
      if (this.#admittedBy !== undefined) this.#leaveGuard();
    }
  }

  /**
   * Passes the guard and, if there is a limiter, waits for a slot. Returns the state of the key; `undefined` if the call must
   * be admitted again, because a wait has ended early or the key was replaced.
   */
  async #admit(): Promise<KeyState | undefined> {
    const { guard } = this.#parts;
    const { signal } = this.#call;
    if (signal.aborted) throw signal.reason; // while the key was found
    try {
      const state = this.#currentState();
      if (guard !== undefined) await this.#enterGuard(guard, state);
      this.#requireQuota(state);
      const wait = new Cancellation();
      const admission = state.limiter?.acquire(this.#slotOptions(wait));
      const isFree = admission === undefined || 'end' in admission; // an `await` takes time also for a free slot
      if (isFree) this.#permit = admission;
      else if (!(await this.#waitForSlot(admission, wait, state))) return undefined;
      return guard === undefined || (await this.#passGuard(guard, state)) ? state : undefined;
    } catch (error) {
      this.#permit?.end(UNUSED); // unless it has ended
      // Not sent, because the call may not wait: a retry would not be sent either.
      if (await this.#replaceKey(error)) return undefined;
      throw error;
    }
  }

  /** The state of the key of the call: the key that its source has returned meanwhile, or its own. */
  #currentState(): KeyState {
    const { keys, states } = this.#parts;
    const { key } = this.#call;
    const known = keys.known();
    if (known !== undefined && known.hash !== key.hash && this.#isForCaller) this.#use(known);
    return states.of(this.#call.key);
  }

  /** For a `quota()` of the client itself. */
  #lookup(state: KeyState) {
    return { call: this.#call, state, send: (own: Call) => new Attempts(own, this.#parts).run() };
  }

  async #enterGuard(guard: QuotaGuard, state: KeyState): Promise<void> {
    if (this.#admittedBy === state) return;
    this.#admittedBy = state;
    if (!(await guard.admit(this.#lookup(state)))) this.#updatesLeft = 0;
  }

  #slotOptions(signal: Cancellation): AcquireOptions {
    const call = this.#call;
    const { onLimit, priority } = call.settings;
    return {
      signal,
      due: call,
      waits: onLimit === 'wait',
      priority,
      isOwn: !this.#isForCaller,
      isFree: !call.endpoint.consumesQuota,
      retryOf: this.#permit, // a call that is sent again keeps its place in the queue
    };
  }

  /** `false` if the wait has ended early. @throws an error with the reason if the call may not wait */
  async #waitForSlot(admission: NotSent | Promise<Admission>, wait: Cancellation, state: KeyState): Promise<boolean> {
    const { keys, events } = this.#parts;
    const ends = [...this.#endsByQuota(state), ...(this.#isForCaller ? [keys.waits] : [])];
    const admitted = async () => {
      state.join(events);
      try {
        this.#learnLimit(state);
        const sent = await admission;
        this.#learnLimit(state);
        // Not instanceof: another copy of the package may have created the limiter.
        if ('reason' in sent) throw notSentError(this.#call, sent, { state, refusal: this.#refusal });
        return sent;
      } finally {
        state.leave(events);
      }
    };
    const permit = await this.#waited(admitted, { wait, ends });
    if (permit === undefined) return false;
    this.#permit = permit;
    this.#requireQuota(state); // another call may have been refused in the same moment
    return true;
  }

  #learnLimit(state: KeyState): void {
    if (this.#isForCaller && state.limiter?.isLimitWanted) lookUpLimit(this.#lookup(state));
  }

  /** `false` if the call has to wait for a slot again, because the guard needed a newer quota record. */
  async #passGuard(guard: QuotaGuard, state: KeyState): Promise<boolean> {
    const lookup = this.#lookup(state);
    if (this.#updatesLeft === 0 || guard.checkRecord(lookup)) {
      guard.pass(lookup);
      return true;
    }
    this.#permit?.end(UNUSED); // `quota()` may need the slot
    this.#updatesLeft = (await guard.update(lookup)) ? this.#updatesLeft - 1 : 0;
    return false;
  }

  /** @throws QuotaExhaustedError if the quota is used up */
  #requireQuota({ quota: { usedUp } }: KeyState): void {
    if (usedUp === undefined || !this.#call.endpoint.consumesQuota) return;
    throw usedUpError(usedUp);
  }

  #endsByQuota({ waits }: KeyState): readonly Set<Cancellation>[] {
    return this.#call.endpoint.consumesQuota ? [waits] : [];
  }

  /** Measures a wait of the call, whose signal is `wait`. `undefined` if the quota is used up or the key replaced before. */
  async #waited<T>(work: () => Promise<T>, { wait, ends }: WaitParts): Promise<T | undefined> {
    const { time } = this.#parts.settings;
    const call = this.#call;
    const { next, signal } = call;
    const waitsSince = time.now();
    call.next = { reason: next.reason, waitedMs: next.waitedMs, waitsSince };
    const abort = () => wait.cancel(signal.reason);
    signal.listen(abort);
    for (const waits of ends) waits.add(wait);
    try {
      return await work();
    } catch (error) {
      if (!wait.aborted || signal.aborted) throw error;
      return undefined;
    } finally {
      for (const waits of ends) waits.delete(wait);
      signal.unlisten(abort);
      call.next = { ...next, waitedMs: next.waitedMs + time.now() - waitsSince };
    }
  }

  async #attempt(state: KeyState): Promise<EndedAttempt> {
    const call = this.#call;
    const { reason, waitedMs } = call.next;
    call.next = { reason, waitedMs, hasBegun: true }; // V8 adds a field to a spread object slowly
    const ended = await this.#parts.send(call, state);
    if (ended.attempt !== undefined) call.attempts.push(ended.attempt);
    call.next = RETRY;
    return ended;
  }

  /**
   * Reports the end of a failed attempt to the limiter, and returns the failure. If a refusal can be about the quota, `quota()`
   * explains it first. A call that is aborted meanwhile has still been refused.
   */
  async #report(failure: AttemptFailure, state: KeyState, wasTransmitted: boolean): Promise<AttemptFailure> {
    const { send, events } = this.#parts;
    const call = this.#call;
    const arrivedAt = state.time.datedNow(); // a hint counts from its response
    const lookup = { call, state, send: (own: Call) => sendDirectly(own, state, send) };
    const explained = await explainFailure(failure, lookup).catch(
      (error: unknown) => ({ kind: 'failed', error }) as const,
    );
    const isAborted = explained.kind === 'failed' && explained.error instanceof AbortError;
    if (explained.kind === 'rate_limited') state.lastRefusal = explained;
    const end = endOf(isAborted ? failure : explained, { wasTransmitted, unit: state.retryAfterUnit });
    const reading = this.#permit?.end(end, arrivedAt);
    if (explained.kind === 'rate_limited') {
      state.sawRefusal(reading, explained.retryAfter, events);
      this.#refusal = explained;
    }
    return explained;
  }

  /** Decides whether the call is sent again, and waits for a backoff. @throws the error of the call if it is not */
  async #prepareNext(failure: AttemptFailure, state: KeyState): Promise<void> {
    if (failure.kind === 'failed') {
      const { error } = failure;
      if (await this.#replaceKey(error)) return;
      if (!isRetryable(error)) throw error;
      return this.#backOff(error, state);
    }
    this.#requireWait(failure, state);
    this.#call.next = { ...this.#call.next, reason: 'rate_limited' };
    if (state.limiter === undefined) await this.#backOff(failure, state);
  }

  async #backOff(failure: RetryableError | Refusal, state: KeyState): Promise<void> {
    const call = this.#call;
    if (call.signal.aborted) throw call.signal.reason;
    const { time } = this.#parts.settings;
    const waitMs = this.#waitBeforeRetry(failure, state);
    this.#retries += 1;
    // In an outage, its probe can be later than the backoff.
    const slotMs = state.limiter?.waitMs(call.settings.priority) ?? 0;
    this.#parts.events.retry(state, { call, failure, waitMs: Math.max(waitMs, slotMs), retry: this.#retries });
    const wait = new Cancellation();
    await this.#waited(() => time.sleep(waitMs, wait), { wait, ends: this.#endsByQuota(state) });
  }

  /** Milliseconds. @throws the error of the call if it is not retried */
  #waitBeforeRetry(failure: RetryableError | Refusal, state: KeyState): number {
    const { time, random, maxRetryAfterMs } = this.#parts.settings;
    const { settings, deadlineAt } = this.#call;
    const isError = failure instanceof FxRatesError;
    const hintMs = retryAfterMs(failure.retryAfter, state.retryAfterUnit);
    const waitMs = Math.max(hintMs ?? 0, equalJitter(backoffMs(this.#retries, RETRY_BACKOFF), random));
    const isTooLong = (hintMs ?? 0) > (isError ? Math.min(maxRetryAfterMs, LONGEST_OUTAGE_MS) : maxRetryAfterMs);
    const isLate = time.now() + waitMs >= deadlineAt;
    if (!isTooLong && !isLate && this.#retries < settings.maxRetries) return waitMs;
    if (isError) throw failure;
    const reason = isTooLong ? 'max_retry_after' : isLate ? 'deadline' : 'retries';
    throw limitedError(this.#call, { state, reason, waitMs: hintMs, refusal: failure });
  }

  /** Once per call: if the key cannot be used, its source is called again (docs/facts.md, States and transitions). */
  async #replaceKey(error: unknown): Promise<boolean> {
    const call = this.#call;
    if (this.#hasNewKey || !this.#isForCaller || !makesKeyUnusable(error)) return false;
    const key = await this.#parts.keys.replacementFor(call.key, call.signal);
    if (key === undefined) return false;
    this.#hasNewKey = true;
    this.#use(key);
    return true;
  }

  #use(key: ApiKey): void {
    const call = this.#call;
    this.#leaveGuard();
    this.#permit = undefined;
    this.#refusal = undefined;
    call.key = key;
    if (wasTried(call)) call.next = { ...call.next, reason: 'key_rotated' };
  }

  #leaveGuard(): void {
    if (this.#admittedBy !== undefined) this.#parts.guard?.leave(this.#call, this.#admittedBy);
    this.#admittedBy = undefined;
  }

  /** @throws RateLimitError if a refused call is not sent again */
  #requireWait(refusal: Refusal, state: KeyState): void {
    const { attempts, settings } = this.#call;
    const isSpent = !this.#isForCaller && attempts.length >= MOST_OWN_ATTEMPTS;
    if (settings.onLimit === 'wait' && !isSpent) return;
    const waitMs = state.limiter?.waitMs(settings.priority) ?? retryAfterMs(refusal.retryAfter, state.retryAfterUnit);
    throw limitedError(this.#call, { state, reason: 'policy', waitMs, refusal });
  }
}

/**
 * Whether all calls with the key have this error, for longer than a call waits. This includes a Retry-After that is too long:
 * no request is sent until it has elapsed, so no 401 would show that the key was replaced.
 */
function makesKeyUnusable(error: unknown): boolean {
  if (error instanceof RateLimitError) return error.reason === 'max_retry_after';
  return error instanceof AuthenticationError || error instanceof QuotaExhaustedError;
}

type RetryableError = NetworkError | RequestError | ServerError | TimeoutError;

function isRetryable(error: unknown): error is RetryableError {
  if (error instanceof NetworkError) return !isPermanent(error);
  if (error instanceof TimeoutError) return error.scope === 'attempt';
  return (error instanceof ServerError || error instanceof RequestError) && RETRYABLE_STATUSES.includes(error.status);
}
