import { channel } from 'node:diagnostics_channel';
import type { QuotaData } from '../generated/types.ts';
import type { Attempt } from './attempt.ts';
import type { FxRatesError, FxRatesErrorKind } from './errors/errors.ts';
import type { KeyedRequest } from './request.ts';
import { requestIdOf } from './request-id.ts';
import type { KeyLimits } from './state/key-limits.ts';
import type { UnitBelief } from './state/retry-after-unit-tracker.ts';

/** What every event says beside its own. */
export interface KeyEvent {
  /** The key, masked. */
  readonly key: string;
  /** What `fx.limits()` says at this moment: who waits, why, and the next slot. */
  readonly limits: KeyLimits | undefined;
}

/** An event of one call. */
export interface CallEvent extends KeyEvent {
  readonly operation: string;
  /** Path and query as sent, without the key. */
  readonly target: string;
  /** The same for all events of one call, and in its meta or error. */
  readonly callId: string;
}

/** One attempt ended, well or not. */
export interface RequestEvent extends CallEvent {
  /** 1 for the first. */
  readonly attempt: number;
  /** Why there was this attempt. */
  readonly reason: Attempt['reason'];
  /** Milliseconds waited before it was sent. */
  readonly waitedMs: number;
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** What the service calls its answer: `x-request-id` or a header like it. */
  readonly requestId: string | undefined;
  readonly durationMs: number;
}

/** A failed attempt will be repeated after `waitMs`; `kind`, `status` and `code` say how it failed. */
export interface RetryEvent extends CallEvent {
  /** 1 for the first retry. */
  readonly retry: number;
  readonly kind: FxRatesErrorKind;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly waitMs: number;
  /** When that is over. */
  readonly until: Date;
  /** How the key's Retry-After is read; `undefined` before the first whole number in one. */
  readonly retryAfterUnit: UnitBelief | undefined;
}

/**
 * The rate limit holds calls of a key back, for a second or longer; shorter waits, as between two calls of a burst, are not
 * reported. Once per wait, however many calls wait.
 */
export interface WaitEvent extends KeyEvent {
  /**
   * `'retry_after'`: the service refused a call; `'window'`: the calls the limit allows are used up; `'service'`: the
   * service failed several times in a row.
   */
  readonly reason: 'retry_after' | 'window' | 'service';
  /** Milliseconds until the next slot, as far as is known. */
  readonly waitMs: number;
  /** When that is. */
  readonly until: Date;
  /** Calls that wait. */
  readonly waiting: number;
  /** How the key's Retry-After is read; `undefined` before the first whole number in one. */
  readonly retryAfterUnit: UnitBelief | undefined;
}

/** The service told the state of the quota. */
export interface QuotaEvent extends KeyEvent {
  /**
   * Who asked: the program (`'call'`), or the client: to explain a `'refusal'`, to `'refresh'` its estimate, or to learn
   * the per-minute `'limit'`.
   */
  readonly reason: 'call' | 'refusal' | 'refresh' | 'limit';
  readonly quota: QuotaData;
}

/** Where warnings go; without one they become process warnings of the type `FxRatesWarning`. */
export interface Logger {
  warn(message: string): void;
}

export interface EventHooks {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
  readonly onQuota?: ((event: QuotaEvent) => void) | undefined;
  readonly logger?: Logger | undefined;
}

const CHANNELS = {
  request: channel('fxrates:request'),
  retry: channel('fxrates:retry'),
  wait: channel('fxrates:wait'),
  quota: channel('fxrates:quota'),
};

/** The key that an event is about. */
export interface EventSubject {
  readonly key: string;
  readonly unitTracker: { readonly belief: UnitBelief | undefined };
  limits(): KeyLimits | undefined;
}

interface PlannedRetry extends Pick<RetryEvent, 'retry' | 'waitMs' | 'until'> {
  readonly request: KeyedRequest;
  readonly error: FxRatesError;
}

/** Tells hooks and `diagnostics_channel` subscribers what happens. No event carries a key in full. */
export class ClientEvents {
  readonly #hooks: EventHooks;
  readonly #warned = new Set<string>();

  constructor(hooks: EventHooks) {
    this.#hooks = hooks;
  }

  readonly #warn = (message: string) => this.#hooks.logger?.warn(message);

  /** The last attempt in the request's log ended. */
  request(subject: EventSubject, request: KeyedRequest, durationMs: number): void {
    this.#tell('request', this.#hooks.onRequest, () => {
      const { attempts, lastHeaders } = request.log;
      const requestId = requestIdOf(lastHeaders);
      const ended = attempts[attempts.length - 1] as Attempt; // told after it was noted
      return {
        ...about(subject),
        ...callOf(request),
        attempt: attempts.length,
        ...ended,
        requestId: requestId && request.key.redact(requestId),
        durationMs,
      };
    });
  }

  retry(subject: EventSubject, { request, error: { kind, status, code }, ...plan }: PlannedRetry): void {
    const { belief } = subject.unitTracker;
    this.#tell('retry', this.#hooks.onRetry, () => ({
      ...about(subject),
      ...callOf(request),
      ...{ kind, status, code, ...plan, retryAfterUnit: belief },
    }));
  }

  wait(subject: EventSubject, wait: Omit<WaitEvent, keyof KeyEvent | 'retryAfterUnit'>): void {
    const { belief } = subject.unitTracker;
    this.#tell('wait', this.#hooks.onWait, () => ({ ...about(subject), ...wait, retryAfterUnit: belief }));
  }

  quota(subject: EventSubject, { reason, quota }: Pick<QuotaEvent, 'reason' | 'quota'>): void {
    this.#tell('quota', this.#hooks.onQuota, () => ({ ...about(subject), reason, quota }));
  }

  /** Says each thing once per client. */
  warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const { logger } = this.#hooks;
    if (logger === undefined) process.emitWarning(message, { type: 'FxRatesWarning' });
    else callHook(this.#warn, message);
  }

  /** `describe` costs nothing where nobody listens. */
  #tell<Event>(name: keyof typeof CHANNELS, hook: ((event: Event) => void) | undefined, describe: () => Event): void {
    if (hook === undefined && !CHANNELS[name].hasSubscribers) return;
    const event = describe();
    CHANNELS[name].publish(event);
    callHook(hook, event);
  }
}

const warnedOf = new WeakSet<(event: never) => void>();

/** A hook that throws fails neither the call that it watches nor the process. Its first error becomes a process warning. */
export function callHook<Event>(hook: ((event: Event) => void) | undefined, event: Event): void {
  try {
    hook?.(event);
  } catch (error) {
    if (hook === undefined || warnedOf.has(hook)) return;
    warnedOf.add(hook);
    const detail = error instanceof Error ? error.stack : String(error);
    const type = 'FxRatesWarning';
    process.emitWarning('a hook or logger threw; the call goes on', detail === undefined ? { type } : { type, detail });
  }
}

function about(subject: EventSubject): KeyEvent {
  return { key: subject.key, limits: subject.limits() };
}

function callOf({ endpoint, key, log }: KeyedRequest) {
  return { operation: endpoint.name, target: key.redact(endpoint.target), callId: log.callId };
}
