import { type Operation, type OperationId, operations } from '../../generated/operations.ts';
import type { CallOptions } from '../api-call.ts';
import type { BatchOptions, BatchParts } from '../batch.ts';
import { LARGEST_CONCURRENCY } from '../limits/concurrency.ts';
import type { QueryOperation } from '../operation-types.ts';
import type { PollOptions, PollParts } from '../poll.ts';
import { CALL_OPTION_NAMES, resolveCall } from './call-settings.ts';
import {
  namesOf,
  refuse,
  requireCount,
  requireFunction,
  requireKnownNames,
  requireOneOf,
  requirePositiveMs,
} from './checks.ts';
import type { OpenSettings } from './settings.ts';

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

/** The options of a batch, checked and complete. @throws ConfigError, also for queries that are none */
export function resolveBatch(queries: unknown, options: BatchOptions, client: OpenSettings): BatchSettings {
  requireKnownNames(options, [...CALL_OPTION_NAMES, ...BATCH_OPTION_NAMES], 'batch options');
  const {
    concurrency,
    operation = 'latest',
    onProgress,
    signal,
    deadlineMs = false,
    onLimit = 'wait',
    ...rest
  } = options;
  const isList = typeof queries === 'object' && queries !== null;
  if (!isList || !(Symbol.iterator in queries || Symbol.asyncIterator in queries)) {
    refuse('batch', queries, 'an iterable of queries, such as an array');
  }
  const withQuery = Object.values<Operation>(operations).filter(({ query }) => query !== 'none');
  requireOneOf('operation', operation, withQuery.map(({ id }) => id) as readonly QueryOperation[]); // no others are left
  if (onProgress !== undefined) requireFunction('onProgress', onProgress);
  const call: CallOptions = { ...rest, deadlineMs, onLimit };
  resolveCall({ ...call, signal }, client); // now, not with the first call
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
  const call = (isFromCache ? given : { ...given, maxAgeMs: 0 }) as CallOptions; // `undefined` counts as left out
  if (onError !== undefined) requireFunction('onError', onError);
  resolveCall(call, client); // now, not with the first call
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
