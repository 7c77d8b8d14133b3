import { type Operation, type OperationId, operations } from '../../generated/operations.ts';
import { CALL_OPTION_NAMES, type CallOptions } from '../api-call.ts';
import type { BatchOptions, BatchParts } from '../batch.ts';
import type { QueryOperation } from '../endpoints.ts';
import { ConfigError } from '../errors/errors.ts';
import { LARGEST_CONCURRENCY } from '../limits/concurrency.ts';
import type { PollOptions, PollParts } from '../poll.ts';
import type { CallSettings } from '../request.ts';
import type { StandardSchema } from '../standard-schema.ts';
import {
  namesOf,
  refuse,
  requireBoolean,
  requireCount,
  requireDeadline,
  requireFunction,
  requireKnownNames,
  requireMs,
  requireOneOf,
  requirePositiveMs,
} from './checks.ts';
import { type RequestHeaders, resolveHeaders } from './request-headers.ts';
import type { OpenSettings } from './settings.ts';

/** The options of one caller; several callers share a call only if their `settings` are equal. */
interface CallerSettings {
  readonly settings: CallSettings;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The settings of one call: its own options over the client's. @throws ConfigError */
export function resolveCall(options: CallOptions, client: OpenSettings): CallerSettings {
  requireKnownNames(options, CALL_OPTION_NAMES, 'call options');
  const {
    signal,
    timeoutMs,
    deadlineMs,
    maxRetries,
    onLimit,
    maxAgeMs,
    useReserve = false,
    priority = 'normal',
    coalesce = true,
  } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal', signal, 'an AbortSignal');
  requireSchema('schema' in options ? options.schema : undefined);
  if (maxAgeMs !== undefined && client.cache === undefined) {
    throw new ConfigError('maxAgeMs: this client has no cache; create it with the option cache');
  }
  const settings = {
    timeoutMs: timeoutMs === undefined ? client.timeoutMs : requirePositiveMs('timeoutMs', timeoutMs),
    maxRetries: maxRetries === undefined ? client.maxRetries : requireCount('maxRetries', maxRetries, { from: 0 }),
    onLimit: onLimit === undefined ? client.onLimit : requireOneOf('onLimit', onLimit, ['wait', 'throw']),
    maxAgeMs: maxAgeMs === undefined ? undefined : requireMs('maxAgeMs', maxAgeMs),
    useReserve: requireBoolean('useReserve', useReserve),
    coalesce: requireBoolean('coalesce', coalesce),
    priority: requireOneOf('priority', priority, ['high', 'normal', 'low']),
    headers: headersOf(options, client),
  };
  return {
    settings,
    signal,
    deadlineMs: deadlineMs === undefined ? client.deadlineMs : requireDeadline('deadlineMs', deadlineMs),
  };
}

function headersOf({ headers }: CallOptions, client: OpenSettings): RequestHeaders {
  return headers === undefined ? client.headers : { ...client.headers, ...resolveHeaders(headers) };
}

function requireSchema(schema: unknown): void {
  const standard = (schema as Partial<StandardSchema> | null | undefined)?.['~standard'];
  if (schema === undefined || typeof standard?.validate === 'function') return;
  refuse('schema', schema, 'a Standard Schema (zod 4, valibot, arktype, …)');
}

const BATCH_OPTION_NAMES = namesOf<Exclude<keyof BatchOptions, keyof CallOptions>>({
  concurrency: true,
  operation: true,
  onProgress: true,
});
/** Without a queue, that many refused calls would soon use up the retry budget of the key. */
const CONCURRENCY_WITHOUT_QUEUE = 16;

interface BatchSettings extends Pick<BatchParts<unknown>, 'concurrency' | 'onProgress'> {
  readonly signal: AbortSignal | undefined;
  readonly operation: QueryOperation;
  /** For each call. */
  readonly options: CallOptions;
}

/** The options of a batch, checked and complete. @throws ConfigError, also if `queries` is not iterable */
export function resolveBatch(queries: unknown, options: BatchOptions, client: OpenSettings): BatchSettings {
  requireKnownNames(options, [...CALL_OPTION_NAMES, ...BATCH_OPTION_NAMES], 'batch options');
  const {
    concurrency,
    operation = 'latest',
    onProgress,
    signal,
    deadlineMs = false,
    onLimit = 'wait',
    priority = 'low',
    ...rest
  } = options;
  const isList = typeof queries === 'object' && queries !== null;
  if (!isList || !(Symbol.iterator in queries || Symbol.asyncIterator in queries)) {
    refuse('batch', queries, 'an iterable of queries, such as an array');
  }
  const withQuery = Object.values<Operation>(operations).filter(({ query }) => query !== 'none');
  requireOneOf('operation', operation, withQuery.map(({ id }) => id) as readonly QueryOperation[]); // nothing else passes
  if (onProgress !== undefined) requireFunction('onProgress', onProgress);
  const call: CallOptions = { ...rest, deadlineMs, onLimit, priority };
  resolveCall({ ...call, signal }, client); // throws before the first call
  const most = client.rateLimit === false ? CONCURRENCY_WITHOUT_QUEUE : LARGEST_CONCURRENCY;
  return {
    signal,
    operation,
    onProgress,
    concurrency: concurrency === undefined ? most : requireCount('concurrency', concurrency, { from: 1 }),
    options: call,
  };
}

const POLL_OPTION_NAMES = namesOf<Exclude<keyof PollOptions, keyof CallOptions>>({
  every: true,
  operation: true,
  onError: true,
});

interface PollSettings extends Pick<PollParts, 'every' | 'onError' | 'reserve'> {
  readonly signal: AbortSignal | undefined;
  readonly operation: OperationId;
  /** For each call. */
  readonly options: CallOptions;
}

/** The options of a poll, checked and complete. @throws ConfigError */
export function resolvePoll(options: PollOptions, client: OpenSettings): PollSettings {
  requireKnownNames(options, [...CALL_OPTION_NAMES, ...POLL_OPTION_NAMES], 'poll options');
  const { every = 'quota', operation = 'latest', onError, ...given } = options;
  const isFromCache = client.cache === undefined || given.maxAgeMs !== undefined;
  const call = (isFromCache ? given : { ...given, maxAgeMs: 0 }) as CallOptions; // `undefined` is the same as absent
  if (onError !== undefined) requireFunction('onError', onError);
  resolveCall(call, client); // throws before the first call
  return {
    every: typeof every === 'number' ? requirePositiveMs('every', every) : requireEvery(every),
    operation: requireOneOf('operation', operation, Object.keys(operations) as OperationId[]), // the keys of the record
    onError,
    signal: options.signal,
    reserve: options.useReserve ? 0 : (client.quotaGuard?.reserve ?? 0),
    options: call,
  };
}

function requireEvery(every: unknown): 'quota' | 'snapshot' {
  if (every === 'quota' || every === 'snapshot') return every;
  return refuse('every', every, "'quota', 'snapshot' or a positive number of milliseconds");
}
