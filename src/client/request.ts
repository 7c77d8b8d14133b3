import { randomUUID } from 'node:crypto';
import type { Attempt } from './attempt.ts';
import type { Cancellation } from './cancellation.ts';
import type { ApiKey } from './keys/api-key.ts';
import type { Permit } from './limits/in-flight.ts';
import type { SlotCheck } from './limits/rate-limiter.ts';
import type { Priority } from './limits/request-queue.ts';
import type { ResponseHeaders } from './transport/transport.ts';

/** The endpoint of a call: an operation of the contract, or a path given to `get`. */
export interface Endpoint {
  /** `latest`, `quota`, …; for `get` the path. */
  readonly name: string;
  /** Path with query, as it is sent, without the key. */
  readonly target: string;
  /** Whether a successful request counts toward the monthly quota, by the contract. */
  readonly consumesQuota: boolean;
  /** Why the client itself sends the request; `undefined` for a call of the program. */
  readonly purpose?: 'refusal' | 'refresh' | 'limit';
  /** Validates the body of a success; returns its data or its issues. */
  readonly parse: (body: unknown) => ParsedEnvelope;
}

/** A success body after its schema. */
export type ParsedEnvelope =
  | { readonly data: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path: readonly PropertyKey[] }[] };

/** The options of a call, validated and complete. */
export interface CallSettings {
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly onLimit: 'wait' | 'throw';
  readonly useReserve: boolean;
  /** Calls of a higher priority are sent before the others of their key. */
  readonly priority: Priority;
  /** In addition to the client's own headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether identical calls in flight share one request. */
  readonly coalesce: boolean;
  /** Maximum age of a cached response in milliseconds; `undefined`: that of the option `cache`. */
  readonly maxAgeMs: number | undefined;
}

/** One call in the pipeline. Several callers can share it. */
export interface ApiRequest {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
  /** Aborts with the last caller. */
  readonly signal: Cancellation;
  /** Time of `SteadyTime` of the last caller's deadline; Infinity for none. A later caller can extend it. */
  readonly deadlineAt: () => number;
  readonly log: AttemptLog;
}

/** A call whose key is known. */
export interface KeyedRequest extends ApiRequest {
  readonly key: ApiKey;
}

/** A success. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly rawBody: string;
  readonly data: unknown;
  /** Set if the response comes from a store. */
  readonly cached?: { readonly source: 'cache' | 'stale'; readonly ageMs: number };
}

export type Handler<Request = KeyedRequest> = (request: Request) => Promise<ApiResponse>;

/** Collects the attempts of a call, with the wait before each. */
export class AttemptLog {
  readonly attempts: Attempt[] = [];
  /** The permit of the last attempt: a call that is sent again keeps its place in the queue. */
  permit: Permit | undefined;
  /** Headers of the last response. */
  lastHeaders: ResponseHeaders | Headers | undefined;
  #callId: string | undefined;
  #waitedMs = 0;
  #reason: Attempt['reason'] = 'first';
  #isSlotAfter: SlotCheck | undefined;

  /** ID of the call, created at its first use. */
  get callId(): string {
    this.#callId ??= randomUUID();
    return this.#callId;
  }

  /** Whether the call waits for a slot after `deadlineAt` (time of `SteadyTime`), as far as is known. */
  isSlotAfter(deadlineAt: number): boolean {
    return this.#isSlotAfter?.(deadlineAt) ?? false;
  }

  /** Starts a wait for a slot, which `endWait` ends. */
  startWait(isSlotAfter: SlotCheck): void {
    this.#isSlotAfter = isSlotAfter;
  }

  /** Adds to the time spent waiting before the next attempt. */
  endWait(ms: number): void {
    this.#waitedMs += ms;
    this.#isSlotAfter = undefined;
  }

  nextAttemptBecause(reason: Attempt['reason']): void {
    this.#reason = reason;
  }

  recordAttempt(status: number | undefined, code: string | undefined): void {
    this.attempts.push({ status, code, waitedMs: Math.round(this.#waitedMs), reason: this.#reason });
    this.#waitedMs = 0;
  }
}

/** A response or an error. */
export type AttemptOutcome = ApiResponse | { readonly error: unknown };
