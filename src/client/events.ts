import type { QuotaData } from '../generated/types.ts';
import type { Attempt } from './attempt.ts';
import type { FxRatesError, FxRatesErrorKind } from './errors/errors.ts';
import type { KeyedRequest } from './request.ts';
import { requestIdOf } from './request-id.ts';
import type { KeyLimits } from './state/key-limits.ts';
import type { UnitBelief } from './state/retry-after-unit-tracker.ts';

/** The fields of every event. */
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
  /** ID of the response: `x-request-id` or a header like it. */
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

/** Such as `console`, pino or winston. Without one, warnings become process warnings of the type `FxRatesWarning`. */
export interface Logger {
  warn(message: string): void;
  /** Waits and retries, with their reason. */
  info?(message: string): void;
  /** Each attempt with its result. */
  debug?(message: string): void;
}

export interface EventHooks {
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
  readonly onQuota?: ((event: QuotaEvent) => void) | undefined;
  readonly logger?: Logger | undefined;
  /** The least level that `logger` gets; a message has no key in full. Default: `'warn'`. */
  readonly logLevel?: 'warn' | 'info' | 'debug' | undefined;
}

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

/** Calls the hooks and the logger. No event has a key in full. */
export class ClientEvents {
  readonly #hooks: EventHooks;
  readonly #warned: Set<string>;

  constructor(hooks: EventHooks, warned = new Set<string>()) {
    this.#hooks = withLogger(hooks);
    this.#warned = warned;
  }

  readonly #warn = (message: string) => this.#hooks.logger?.warn(message);

  /** The last attempt in the request's log ended. */
  request(subject: EventSubject, request: KeyedRequest, durationMs: number): void {
    this.#tell(this.#hooks.onRequest, () => {
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
    this.#tell(this.#hooks.onRetry, () => ({
      ...about(subject),
      ...callOf(request),
      ...{ kind, status, code, ...plan, retryAfterUnit: belief },
    }));
  }

  wait(subject: EventSubject, wait: Omit<WaitEvent, keyof KeyEvent | 'retryAfterUnit'>): void {
    const { belief } = subject.unitTracker;
    this.#tell(this.#hooks.onWait, () => ({ ...about(subject), ...wait, retryAfterUnit: belief }));
  }

  quota(subject: EventSubject, { reason, quota }: Pick<QuotaEvent, 'reason' | 'quota'>): void {
    this.#tell(this.#hooks.onQuota, () => ({ ...about(subject), reason, quota }));
  }

  /** Says each thing once per client. */
  warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const { logger } = this.#hooks;
    if (logger === undefined) process.emitWarning(message, { type: 'FxRatesWarning' });
    else callHook(this.#warn, message);
  }

  /** Without a hook, `describe` is not called. */
  #tell<Event>(hook: ((event: Event) => void) | undefined, describe: () => Event): void {
    if (hook !== undefined) callHook(hook, describe());
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
  return { operation: key.redact(endpoint.name), target: key.redact(endpoint.target), callId: log.callId };
}

/** `hooks`, which also write to the logger what its level asks for. */
function withLogger(hooks: EventHooks): EventHooks {
  const { logger, logLevel = 'warn', onRequest, onRetry, onWait } = hooks;
  const info = logLevel === 'warn' ? undefined : logger?.info?.bind(logger);
  const debug = logLevel === 'debug' ? logger?.debug?.bind(logger) : undefined;
  return {
    ...hooks,
    onRequest: debug ? both(onRequest, (event) => debug(requestLine(event))) : onRequest,
    onRetry: info ? both(onRetry, (event) => info(retryLine(event))) : onRetry,
    onWait: info ? both(onWait, (event) => info(waitLine(event))) : onWait,
  };
}

/** Both are called, also if the first throws. */
function both<Event>(hook: ((event: Event) => void) | undefined, log: (event: Event) => void): (event: Event) => void {
  return (event) => {
    callHook(hook, event);
    log(event);
  };
}

function requestLine({ target, key, attempt, reason, waitedMs, status, code, durationMs }: RequestEvent): string {
  const result = [status, code].filter((part) => part !== undefined).join(' ');
  const why = reason === 'first' ? '' : `, ${reason}`;
  return `GET ${target} with ${key}: ${result} in ${Math.round(durationMs)} ms (attempt ${attempt}${why}, waited ${Math.round(waitedMs)} ms)`;
}

function retryLine({ target, retry, kind, status, code, waitMs }: RetryEvent): string {
  return `GET ${target} failed (${status ?? code ?? kind}): retry ${retry} in ${Math.round(waitMs)} ms`;
}

const WAIT_REASONS: Readonly<Record<WaitEvent['reason'], string>> = {
  retry_after: 'the service refused a call (429)',
  window: 'the calls that the limit allows are used up',
  service: 'the service failed several times in a row',
};

function waitLine({ key, reason, waiting, waitMs }: WaitEvent): string {
  return `${waiting} ${waiting === 1 ? 'call' : 'calls'} of ${key} wait ${Math.round(waitMs)} ms: ${WAIT_REASONS[reason]}`;
}
