import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../generated/operations.ts';
import type {
  Attempt,
  ErrorDetails,
  FxRatesErrorKind,
  ResponseError,
  RetryAfter,
  SchemaIssue,
} from '../errors/errors.ts';
import type { ApiKey } from '../key/api-key.ts';
import type { CallSettings, QuotaReason } from '../options/call-options.ts';
import type { Cancellation } from '../time/abort.ts';
import type { HeaderList } from '../transport/transport.ts';

/** The endpoint of a call: an operation of the contract, or a path given to `get`. */
export interface Endpoint {
  /** `latest`, `quota`, …; for `get` the path. */
  readonly name: string;
  /** Path with query, as it is sent, without the key. */
  readonly target: string;
  /** Whether a successful request counts toward the monthly quota, by the contract. */
  readonly consumesQuota: boolean;
  /** `undefined` for a path that the contract does not have. */
  readonly operation: OperationId | undefined;
}

/** The data of a success, or the issues of its schema. */
export type ParsedEnvelope =
  | { readonly data: unknown; readonly issues?: undefined }
  | { readonly data?: undefined; readonly issues: readonly SchemaIssue[] };

export type OwnReason = Exclude<QuotaReason, 'call'>;

/** One call on its way through the steps. Several callers can share it. */
export class Call {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
  /** Another one after a rotation. */
  key: ApiKey;
  /** Aborts with the last caller. */
  readonly signal: Cancellation;
  /** Time of `SteadyTime` of the last caller's deadline; Infinity for none. A later caller can extend it. */
  deadlineAt: number;
  /** Why the client itself calls `quota()`; `undefined` for a call of the program. */
  readonly ownReason?: OwnReason | undefined;
  /** The attempts that have ended, in order. */
  readonly attempts: Attempt[] = [];
  /** The stored response that may replace an error. */
  fallback: StoredResponse | undefined;
  /** Replaced by the loop that makes the attempts (`steps/retry.ts`). */
  next: NextAttempt = FIRST;
  #id: string | undefined;

  constructor({ endpoint, settings, key, signal, deadlineAt, ownReason }: GivenFields) {
    this.endpoint = endpoint;
    this.settings = settings;
    this.key = key;
    this.signal = signal;
    this.deadlineAt = deadlineAt;
    this.ownReason = ownReason;
  }

  /** Of its events, its meta and its error. Few calls need it, and a waiting call would keep its many parts. */
  get id(): string {
    this.#id ??= randomUUID();
    return this.#id;
  }
}

type GivenFields = Omit<Call, 'id' | 'attempts' | 'fallback' | 'next'>;

/** The attempt of a call that has not ended, and the wait for it: for the limit, or before a retry. */
export interface NextAttempt extends Pick<Attempt, 'reason' | 'waitedMs'> {
  /** Time of `SteadyTime` at which the wait in progress began; `waitedMs` does not include it. */
  readonly waitsSince?: number | undefined;
  readonly hasBegun?: boolean;
}

export const FIRST: NextAttempt = { reason: 'first', waitedMs: 0 };

/** The attempts of a call so far. */
export type Progress = Pick<Call, 'attempts' | 'next'>;

/** Whether a call has made an attempt. */
export function wasTried({ attempts, next }: Progress): boolean {
  return attempts.length > 0 || next.hasBegun === true;
}

/** Milliseconds that a call has waited until `now`. */
export function waitedUntil(now: number, { attempts, next: { waitedMs, waitsSince = now } }: Progress): number {
  return attempts.reduce((sum, attempt) => sum + attempt.waitedMs, waitedMs + now - waitsSince);
}

/** Why a response is older than its maximum age: the kind of the error that it replaces, or because it is being renewed. */
export type StaleReason = FxRatesErrorKind | 'revalidate';

/** A success. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: HeaderList;
  readonly rawBody: string;
  readonly data: unknown;
  /** Set if a quota record does not match the contract. The client uses its other fields; for the program, it is an error. */
  readonly oddity?: ResponseError;
  /** Set if the response comes from a store. */
  readonly cached?: {
    readonly source: 'cache' | 'stale';
    readonly staleReason: StaleReason | undefined;
    readonly ageMs: number;
  };
}

export interface StoredResponse extends ApiResponse {
  /** Epoch milliseconds at which it arrived. */
  readonly storedAtMs: number;
  /** Milliseconds between the snapshots of the plan; only with `cache: 'snapshot'`. */
  readonly snapshotMs?: number | undefined;
}

export type Handler = (call: Call) => Promise<ApiResponse>;

/**
 * The service refused a request for the rate: 429, or the code `rate_limited`. It becomes an error only if the call does not
 * wait (`steps/limit.ts`), or if the quota is used up (`steps/quota-lookup.ts`).
 */
export interface Refusal extends Required<Pick<ErrorDetails, 'code' | 'status' | 'headers' | 'bodyExcerpt'>> {
  readonly kind: 'rate_limited';
  /** What the service said, with status and code: the end of a message. */
  readonly said: string;
  readonly retryAfter: RetryAfter | undefined;
}

/** Why an attempt has no response. */
export type AttemptFailure = Refusal | { readonly kind: 'failed'; readonly error: unknown };

export type AttemptOutcome = ApiResponse | AttemptFailure;
