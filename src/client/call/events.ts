import type { QuotaData } from '../../generated/types.ts';
import { processState } from '../../process-state.ts';
import { oneLine } from '../../text.ts';
import { type Attempt, FxRatesError, type FxRatesErrorKind, requestIdOf } from '../errors/errors.ts';
import { callHook } from '../errors/program-values.ts';
import type { KeyLimits, Wait } from '../limits/rate-limiter.ts';
import { headersOf } from '../transport/transport.ts';
import type { AttemptOutcome, KeyedCall, QuotaReason } from './call.ts';

/** The fields of every event. */
export interface KeyEvent {
  /**
   * The masked key.
   *
   * @example 'fx_live_…9c2d'
   */
  readonly key: string;
  /** The result of `fx.limits()` at this moment; `undefined` with `rateLimit: false`. */
  readonly limits: KeyLimits | undefined;
}

/** The fields of every event about one call. */
export interface CallEvent extends KeyEvent {
  /** The operation, such as `latest`; for `get()` with another path, the path. */
  readonly operation: string;
  /**
   * Path and query as sent, without the key.
   *
   * @example '/api/v1/latest?base=EUR'
   */
  readonly target: string;
  /** ID of the call. It is also in the `meta` or the error of the call. */
  readonly callId: string;
}

/** Event of `onRequest`: an attempt has succeeded or failed. */
export interface RequestEvent extends CallEvent, Attempt {
  /** Number of the attempt; 1 for the first. */
  readonly attempt: number;
  /** ID of the response: `x-request-id` or a header like it. */
  readonly requestId: string | undefined;
  /** Duration of the attempt in milliseconds. */
  readonly durationMs: number;
}

/** Event of `onRetry`: a failed attempt will be retried. */
export interface RetryEvent extends CallEvent {
  /** Number of the retry; 1 for the first. */
  readonly retry: number;
  /** Kind of the error with which the attempt failed. */
  readonly kind: FxRatesErrorKind;
  /** HTTP status of the failed attempt; `undefined` if no response arrived. */
  readonly status: number | undefined;
  /** Error code of the service or of the system, such as `ECONNRESET`. */
  readonly code: string | undefined;
  /** Estimated milliseconds until the retry; in an outage, until the next attempt that tests the service. */
  readonly waitMs: number;
}

/**
 * Event of `onWait`: calls of a key wait for one second or longer. Shorter waits, such as between two calls of a burst, are
 * not reported. Each wait is reported once, for any number of calls.
 */
export interface WaitEvent extends KeyEvent, Wait {}

/** Event of `onQuota`: a response of `quota()` has arrived. */
export interface QuotaEvent extends KeyEvent {
  /**
   * Why `quota()` was called: by the program (`'call'`), or by the client to explain a refused request (`'refusal'`), to
   * update its estimate (`'refresh'`) or to learn the per-minute limit (`'limit'`).
   */
  readonly reason: QuotaReason;
  /** The quota record of the service. */
  readonly quota: QuotaData;
}

/** A logger such as `console`, pino or winston. */
export interface Logger {
  /** Receives warnings. */
  warn(message: string): void;
  /** Receives waits and retries with their reasons. */
  info?(message: string): void;
  /** Receives each attempt with its result. */
  debug?(message: string): void;
}

/**
 * Hooks and log of one client. If a hook throws or rejects, its first error becomes a process warning, and the call
 * continues.
 */
export interface EventHooks {
  /**
   * Called after each attempt, whether it succeeded or failed.
   *
   * @default undefined
   * @example ({ operation, status, durationMs }) => metrics.record(operation, status, durationMs)
   */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
  /**
   * Called before the wait for a retry.
   *
   * @default undefined
   * @example ({ retry, kind, waitMs }) => console.log(`retry ${retry} in ${waitMs} ms (${kind})`)
   */
  readonly onRetry?: ((event: RetryEvent) => void) | undefined;
  /**
   * Called if calls wait for one second or longer, once per wait.
   *
   * @default undefined
   * @example ({ waiting, until }) => console.log(`${waiting} calls wait until ${until.toISOString()}`)
   */
  readonly onWait?: ((event: WaitEvent) => void) | undefined;
  /**
   * Called after each response of `quota()`, including calls by the client itself.
   *
   * @default undefined
   * @example ({ quota }) => console.log(quota.monthly_used)
   */
  readonly onQuota?: ((event: QuotaEvent) => void) | undefined;
  /**
   * Receives log messages; none contains the full key. If omitted, it is `console` if `logLevel` is set; otherwise, warnings
   * become process warnings of the type `FxRatesWarning`.
   *
   * @default undefined
   * @example console
   */
  readonly logger?: Logger | undefined;
  /**
   * Lowest level that `logger` receives: warnings, also waits and retries (`'info'`), or also each attempt (`'debug'`).
   *
   * @default 'warn'
   */
  readonly logLevel?: 'warn' | 'info' | 'debug' | undefined;
}

/** The key that an event is about. */
export interface EventSubject {
  readonly key: string;
  limits(): KeyLimits | undefined;
}

interface PlannedRetry extends Pick<RetryEvent, 'retry' | 'waitMs'> {
  readonly call: KeyedCall;
  readonly error: FxRatesError;
}

interface EndedAttempt {
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
}

const LEVELS = ['warn', 'info', 'debug'] as const;
type Log = (message: string) => unknown;

/** Calls the hooks and the logger. No event contains the full key. */
export class ClientEvents {
  readonly #hooks: EventHooks;
  readonly #warned: Set<string>;
  /** The methods of the logger up to its level. */
  readonly #log: { readonly [Level in (typeof LEVELS)[number]]?: Log };

  constructor(hooks: EventHooks, warned = new Set<string>()) {
    const { logLevel, logger = logLevel && consoleLogger() } = hooks;
    const levels = LEVELS.slice(0, 1 + LEVELS.indexOf(logLevel ?? 'warn'));
    this.#hooks = hooks;
    this.#warned = warned;
    this.#log = Object.fromEntries(levels.map((level) => [level, logger?.[level]?.bind(logger)]));
  }

  /** Reports the last attempt of the call, which has ended. */
  request(subject: EventSubject, call: KeyedCall, { durationMs, outcome }: EndedAttempt): void {
    const hook = this.#hooks.onRequest;
    const log = this.#log.debug;
    if (hook === undefined && log === undefined) return; // for most calls
    const { attempts } = call;
    const requestId = requestIdIn(outcome);
    const ended = attempts[attempts.length - 1] as Attempt; // it was added already
    const event: RequestEvent = {
      ...about(subject),
      ...callOf(call),
      attempt: attempts.length,
      ...ended,
      requestId: requestId && call.key.redact(requestId),
      durationMs,
    };
    callHook(hook, event);
    if (log !== undefined) callHook(log, requestLine(event));
  }

  retry(subject: EventSubject, { call, error: { kind, status, code }, ...plan }: PlannedRetry): void {
    const event = { ...about(subject), ...callOf(call), kind, status, code, ...plan };
    callHook(this.#hooks.onRetry, event);
    callHook(this.#log.info, retryLine(event));
  }

  wait(subject: EventSubject, wait: Wait): void {
    const event = { ...about(subject), ...wait };
    callHook(this.#hooks.onWait, event);
    callHook(this.#log.info, waitLine(event));
  }

  quota(subject: EventSubject, { reason, quota }: Pick<QuotaEvent, 'reason' | 'quota'>): void {
    const hook = this.#hooks.onQuota;
    if (hook !== undefined) callHook(hook, { ...about(subject), reason, quota });
  }

  /** Sends each warning once per client; with a `code`, once per code, and without a logger once per process. */
  warnOnce(text: string, code?: string): void {
    const message = oneLine(text); // it can contain text of the service
    const name = code ?? message;
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    if (this.#log.warn !== undefined) callHook(this.#log.warn, message);
    else if (code === undefined) process.emitWarning(message, { type: 'FxRatesWarning' });
    else warnProcessOnce(message, code);
  }
}

function warnProcessOnce(message: string, code: string): void {
  const codes = processState('warned-codes.1', () => new Set<string>());
  if (codes.has(code)) return;
  codes.add(code);
  process.emitWarning(message, { type: 'FxRatesWarning', code });
}

function requestIdIn(outcome: AttemptOutcome): string | undefined {
  if ('rawBody' in outcome) return requestIdOf(headersOf(outcome.headers));
  return outcome.error instanceof FxRatesError ? outcome.error.requestId : undefined;
}

function about(subject: EventSubject): KeyEvent {
  return { key: subject.key, limits: subject.limits() };
}

function callOf({ endpoint, key, id }: KeyedCall) {
  return { operation: key.redact(endpoint.name), target: key.redact(endpoint.target), callId: id };
}

/** The console, whose lines come from many sources. */
function consoleLogger({ console } = globalThis): Logger {
  const write = (level: keyof Logger) => (message: string) => console[level](`fxrates: ${message}`);
  return { warn: write('warn'), info: write('info'), debug: write('debug') };
}

function requestLine({ target, key, attempt, reason, waitedMs, status, code, durationMs }: RequestEvent): string {
  const result = [status, code].filter((part) => part !== undefined).join(' ');
  const again = reason === 'first' ? '' : `, attempt ${attempt} (${reason})`;
  const waited = waitedMs < 1 ? '' : `, waited ${Math.round(waitedMs)} ms`;
  return `GET ${target} with ${key}: ${result} in ${Math.round(durationMs)} ms${again}${waited}`;
}

function retryLine({ target, retry, kind, status, code, waitMs }: RetryEvent): string {
  return `GET ${target} failed (${status ?? code ?? kind}): retry ${retry} in ${Math.round(waitMs)} ms`;
}

const WAIT_REASONS: Readonly<Record<WaitEvent['reason'], string>> = {
  retry_after: 'the service refused a request (429)',
  window: 'the per-minute limit is used up',
  service: 'the service is down',
};

function waitLine({ key, reason, waiting, waitMs }: WaitEvent): string {
  const calls = waiting === 1 ? `1 call of ${key} waits` : `${waiting} calls of ${key} wait`;
  return `${calls} ${Math.round(waitMs)} ms: ${WAIT_REASONS[reason]}`;
}
