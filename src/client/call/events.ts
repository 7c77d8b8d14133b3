import { processState } from '../../process-state.ts';
import { maskKeysIn } from '../../redactor.ts';
import { oneLine } from '../../text.ts';
import { type Attempt, FxRatesError, requestIdOf } from '../errors/errors.ts';
import { callHook } from '../errors/program-values.ts';
import type { KeyLimits, Wait } from '../limits/rate-limiter.ts';
import type {
  CallEvent,
  EventHooks,
  KeyEvent,
  Logger,
  QuotaEvent,
  RequestEvent,
  RetryEvent,
  WaitEvent,
  Warning,
} from '../options/hooks.ts';
import { headerIn } from '../transport/transport.ts';
import type { AttemptOutcome, Call } from './call.ts';

/** The key that an event is about. */
export interface EventSubject {
  readonly key: string;
  limits(): KeyLimits | undefined;
}

interface PlannedRetry extends Pick<RetryEvent, 'retry' | 'waitMs'> {
  readonly call: Call;
  /** Why the attempt failed. */
  readonly failure: Pick<RetryEvent, 'kind' | 'status' | 'code'>;
}

interface ReportedAttempt {
  readonly attempt: Attempt;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
}

const LEVELS = ['warn', 'info', 'debug'] as const;

interface LogEntry {
  readonly message: string;
  readonly fields: object;
}
type Log = (entry: LogEntry) => unknown;

interface Receivers<Event> {
  readonly hook: ((event: Event) => unknown) | undefined;
  readonly level: (typeof LEVELS)[number];
  /** The line of the log. */
  readonly lineOf: (event: Event) => string;
}

/** Calls the hooks and the logger. No event contains the full key. */
export class ClientEvents {
  readonly #hooks: EventHooks;
  readonly #warned: Map<string, number>;
  /** The methods of the logger up to its level. */
  readonly #log: { readonly [Level in (typeof LEVELS)[number]]?: Log };
  /** Whether `call()` and `request()` have an effect: most clients do without their events. */
  readonly reportsCalls: boolean;
  readonly reportsRequests: boolean;

  constructor(hooks: EventHooks, warned: Map<string, number>) {
    const { logLevel, logger = logLevel && consoleLogger() } = hooks;
    const levels = LEVELS.slice(0, 1 + LEVELS.indexOf(logLevel ?? 'warn'));
    this.#hooks = hooks;
    this.#warned = warned;
    this.#log = Object.fromEntries(levels.map((level) => [level, logOf(logger, level)]));
    this.reportsCalls = hooks.onCall !== undefined || this.#log.debug !== undefined;
    this.reportsRequests = hooks.onRequest !== undefined || this.#log.debug !== undefined;
  }

  /** Reports a call that has ended. */
  call(event: CallEvent): void {
    this.#emit(event, { hook: this.#hooks.onCall, level: 'debug', lineOf: callLine });
  }

  /** Reports an attempt of the call, which has ended. */
  request(subject: EventSubject, call: Call, { attempt, durationMs, outcome }: ReportedAttempt): void {
    const requestId = requestIdIn(outcome);
    const event: RequestEvent = {
      ...about(subject),
      ...callOf(call),
      attempt: call.attempts.length + 1,
      ...attempt,
      requestId: requestId && call.key.redact(requestId),
      durationMs,
    };
    this.#emit(event, { hook: this.#hooks.onRequest, level: 'debug', lineOf: requestLine });
  }

  retry(subject: EventSubject, { call, failure: { kind, status, code }, ...plan }: PlannedRetry): void {
    const event = { ...about(subject), ...callOf(call), kind, status, code, ...plan };
    this.#emit(event, { hook: this.#hooks.onRetry, level: 'info', lineOf: retryLine });
  }

  wait(subject: EventSubject, wait: Wait): void {
    const event = { ...about(subject), ...wait };
    this.#emit(event, { hook: this.#hooks.onWait, level: 'info', lineOf: waitLine });
  }

  quota(subject: EventSubject, { reason, quota }: Pick<QuotaEvent, 'reason' | 'quota'>): void {
    const hook = this.#hooks.onQuota;
    if (hook !== undefined) callHook(hook, { ...about(subject), reason, quota });
  }

  /**
   * Sends each warning once per client; with a `code`, once per code, and without a logger once per process. With an
   * `occasion`, also again if that is another one than the last; with a `topic`, whatever the text, once per topic.
   */
  warnOnce(warning: string | Warning, { code, occasion = 0, topic = code }: WarnOptions = {}): void {
    const fields: Warning = typeof warning === 'string' ? { summary: warning } : warning;
    const { summary, advice, ...cause } = fields;
    const shown = maskKeysIn(oneLine(summary)); // it can contain text of the service
    const message = advice === undefined ? shown : `${shown}; ${oneLine(advice)}`;
    const name = topic ?? message;
    if (this.#warned.get(name) === occasion) return;
    this.#warned.set(name, occasion);
    const warnOf = this.#hooks.logger?.warnOf;
    if (warnOf !== undefined) callHook(warnOf, { summary: shown, ...cause });
    else if (this.#log.warn !== undefined) callHook(this.#log.warn, { message, fields: { ...fields, summary: shown } });
    else if (code === undefined) process.emitWarning(message, { type: 'FxRatesWarning' });
    else warnProcessOnce(message, code);
  }

  #emit<Event extends object>(event: Event, { hook, level, lineOf }: Receivers<Event>): void {
    callHook(hook, event);
    const log = this.#log[level];
    if (log !== undefined) callHook(log, { message: lineOf(event), fields: event });
  }
}

export interface WarnOptions {
  /** That of the process warning. */
  readonly code?: string | undefined;
  /** The number of an outage. */
  readonly occasion?: number | undefined;
  /** What a text with changing values is about. */
  readonly topic?: string | undefined;
}

function warnProcessOnce(message: string, code: string): void {
  const codes = processState('warned-codes.1', () => new Set<string>());
  if (codes.has(code)) return;
  codes.add(code);
  process.emitWarning(message, { type: 'FxRatesWarning', code });
}

function requestIdIn(outcome: AttemptOutcome): string | undefined {
  if ('rawBody' in outcome) return requestIdOf((name) => headerIn(outcome.headers, name));
  if (outcome.kind === 'rate_limited') return requestIdOf((name) => outcome.headers?.get(name));
  return outcome.error instanceof FxRatesError ? outcome.error.requestId : undefined;
}

function about(subject: EventSubject): KeyEvent {
  return { key: subject.key, limits: subject.limits() };
}

function callOf({ endpoint, key, id }: Call) {
  return { operation: key.redact(endpoint.name), target: key.redact(endpoint.target), callId: id };
}

/** The method of a level; `undefined` if the logger does not have it. */
function logOf(logger: Logger | undefined, level: (typeof LEVELS)[number]): Log | undefined {
  const method: unknown = logger?.[level];
  if (logger === undefined || typeof method !== 'function') return undefined;
  const log = method.bind(logger);
  const isConsole = logger === globalThis.console; // it would print the fields over many lines
  return ({ message, fields }) => (isConsole ? log(message) : log(message, fields));
}

/** The console, whose lines come from many sources. */
function consoleLogger({ console } = globalThis): Logger {
  const write = (level: (typeof LEVELS)[number]) => (message: string) => console[level](`fxrates: ${message}`);
  return { warn: write('warn'), info: write('info'), debug: write('debug') };
}

function callLine({ operation, source, durationMs, waitedMs, error }: CallEvent): string {
  const result = error === undefined ? source : `failed (${FxRatesError.is(error) ? error.kind : 'error'})`;
  const waited = waitedMs < 1 ? '' : `, of which it waited ${Math.round(waitedMs)} ms`;
  return `${operation}: ${result} in ${Math.round(durationMs)} ms${waited}`;
}

function requestLine({ target, key, attempt, reason, waitedMs, status, code, durationMs }: RequestEvent): string {
  const result = [status, code].filter((part) => part !== undefined).join(' ') || 'failed';
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
