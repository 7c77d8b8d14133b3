import { channel } from 'node:diagnostics_channel';
import type { QuotaData } from '../generated/types.ts';
import type { FxRatesError, FxRatesErrorKind } from './errors/fxrates-error.ts';
import type { ApiKey } from './keys/api-key.ts';
import type { KeyedRequest } from './request.ts';

/** One attempt ended, well or not. */
export interface RequestEvent {
  readonly operation: string;
  /** Path and query as sent, without the key. */
  readonly target: string;
  /** Masked. */
  readonly key: string;
  /** 1 for the first. */
  readonly attempt: number;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly durationMs: number;
}

/** A failed attempt will be repeated after `waitMs`. */
export interface RetryEvent {
  readonly operation: string;
  readonly target: string;
  readonly key: string;
  /** 1 for the first retry. */
  readonly retry: number;
  readonly kind: FxRatesErrorKind;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly waitMs: number;
}

/** The rate limit, or the pace, holds calls of a key back. Once per wait, however many calls wait. */
export interface WaitEvent {
  readonly key: string;
  /**
   * `'retry_after'`: the service refused a call; `'window'`: the calls the limit allows are used up; `'pace'`: the
   * monthly quota is spread.
   */
  readonly reason: 'retry_after' | 'window' | 'pace';
  /** Milliseconds until the next slot, as far as is known. */
  readonly waitMs: number;
  /** When that is. */
  readonly until: Date;
  /** Calls that wait. */
  readonly waiting: number;
}

/** The service told the state of the quota. */
export interface QuotaEvent {
  readonly key: string;
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

interface EndedAttempt {
  readonly request: KeyedRequest;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly durationMs: number;
}

interface PlannedRetry {
  readonly request: KeyedRequest;
  readonly error: FxRatesError;
  readonly waitMs: number;
  readonly retry: number;
}

/** Tells hooks and `diagnostics_channel` subscribers what happens. No event carries a key in full. */
export class ClientEvents {
  readonly #hooks: EventHooks;
  readonly #warned = new Set<string>();

  constructor(hooks: EventHooks) {
    this.#hooks = hooks;
  }

  request({ request, status, code, durationMs }: EndedAttempt): void {
    const { onRequest } = this.#hooks;
    if (onRequest === undefined && !CHANNELS.request.hasSubscribers) return;
    const attempt = request.log.attempts.length;
    this.#tell('request', onRequest, { ...about(request), attempt, status, code, durationMs });
  }

  retry({ request, error: { kind, status, code }, waitMs, retry }: PlannedRetry): void {
    this.#tell('retry', this.#hooks.onRetry, { ...about(request), retry, kind, status, code, waitMs });
  }

  wait(event: WaitEvent): void {
    this.#tell('wait', this.#hooks.onWait, event);
  }

  quota(key: ApiKey, quota: QuotaData): void {
    this.#tell('quota', this.#hooks.onQuota, { key: key.masked, quota });
  }

  /** Says each thing once per client. */
  warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    const { logger } = this.#hooks;
    if (logger === undefined) process.emitWarning(message, { type: 'FxRatesWarning' });
    else callHook((text) => logger.warn(text), message);
  }

  #tell<Event>(name: keyof typeof CHANNELS, hook: ((event: Event) => void) | undefined, event: Event): void {
    CHANNELS[name].publish(event);
    callHook(hook, event);
  }
}

/** A hook that throws must not fail the call it watches, and must not go unnoticed either. */
export function callHook<Event>(hook: ((event: Event) => void) | undefined, event: Event): void {
  try {
    hook?.(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function about({ endpoint, key }: KeyedRequest) {
  return { operation: endpoint.name, target: key.redact(endpoint.target), key: key.masked };
}
