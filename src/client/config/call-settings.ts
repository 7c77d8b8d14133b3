import { type Operation, type OperationId, operations } from '../../generated/operations.ts';
import type { CallOptions } from '../api-call.ts';
import type { BatchOptions, BatchParts, QueryOperation } from '../batch.ts';
import type { CallSettings } from '../call.ts';
import { ConfigError } from '../errors/errors.ts';
import type { PollOptions, PollParts } from '../poll.ts';
import { oneOf, refuse } from './checks.ts';
import { readOptions } from './option-table.ts';
import { deadlineOf, type OpenSettings } from './settings.ts';

/** The options of one caller; several callers share a call only if their `settings` are equal. */
interface CallerSettings {
  readonly settings: CallSettings;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

/** The settings of one call: its own options over the client's. @throws ConfigError */
export function resolveCall(options: CallOptions, client: OpenSettings): CallerSettings {
  const given = readOptions('call', options);
  const { signal, maxAgeMs, priority = 'normal', headers } = given;
  if (maxAgeMs !== undefined && client.cache === undefined) {
    throw new ConfigError('maxAgeMs: this client has no cache; create it with the option cache');
  }
  const settings = {
    timeoutMs: given.timeoutMs ?? client.timeoutMs,
    maxRetries: given.maxRetries ?? client.maxRetries,
    onLimit: given.onLimit ?? client.onLimit,
    coalesce: given.coalesce ?? client.coalesce,
    headers: headers === undefined ? client.headers : { ...client.headers, ...headers },
    maxAgeMs,
    priority,
  };
  const deadlineMs = given.deadlineMs === undefined ? client.deadlineMs : deadlineOf(given.deadlineMs);
  return { settings, signal, deadlineMs };
}

/** Calls that wait in the queue cost little memory, and are sent as soon as the limit allows. */
const CONCURRENCY = 256;
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
  const { concurrency, operation, onProgress, signal, ...given } = readOptions('batch', options);
  const isList = typeof queries === 'object' && queries !== null;
  if (!isList || !(Symbol.iterator in queries || Symbol.asyncIterator in queries)) {
    refuse('batch', queries, 'an iterable of queries, such as an array');
  }
  const call: CallOptions = { deadlineMs: false, onLimit: 'wait', priority: 'low', ...given };
  resolveCall(call, client); // throws before the first call
  const most = client.rateLimit === false ? CONCURRENCY_WITHOUT_QUEUE : CONCURRENCY;
  return {
    signal,
    operation: oneOf(...queryOperations())('operation', operation ?? 'latest'),
    onProgress,
    concurrency: concurrency ?? most,
    options: call,
  };
}

function queryOperations(): readonly QueryOperation[] {
  const withQuery = Object.values<Operation>(operations).filter(({ query }) => query !== 'none');
  return withQuery.map(({ id }) => id) as QueryOperation[]; // those that take a query
}

interface PollSettings extends Pick<PollParts, 'every' | 'onError' | 'reserve'> {
  readonly signal: AbortSignal | undefined;
  readonly operation: OperationId;
  /** For each call. */
  readonly options: CallOptions;
}

/** The options of a poll, checked and complete. @throws ConfigError */
export function resolvePoll(options: PollOptions, client: OpenSettings): PollSettings {
  const { every = 'quota', operation = 'latest', onError, ...given } = readOptions('poll', options);
  const isFromCache = client.cache === undefined || given.maxAgeMs !== undefined;
  const call: CallOptions = isFromCache ? given : { ...given, maxAgeMs: 0 };
  resolveCall(call, client); // throws before the first call
  const reserve = given.priority === 'high' ? 0 : (client.quotaGuard?.reserve ?? 0);
  return { every, operation, onError, signal: given.signal, reserve, options: call };
}
