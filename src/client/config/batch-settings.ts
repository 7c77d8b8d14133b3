import { operations } from '../../generated/operations.ts';
import type { CallOptions } from '../api-call.ts';
import type { BatchOperation, BatchOptions, BatchParts } from '../batch.ts';
import { LARGEST_CONCURRENCY } from '../limits/concurrency.ts';
import { CALL_OPTION_NAMES, resolveCall } from './call-settings.ts';
import { namesOf, refuse, requireCount, requireFunction, requireKnownNames, requireOneOf } from './checks.ts';
import type { ClientSettings } from './settings.ts';

const BATCH_OPTION_NAMES = namesOf<Exclude<keyof BatchOptions, keyof CallOptions>>({
  concurrency: true,
  operation: true,
  onProgress: true,
});
/** Without a queue, that many refused calls would soon use up the retry budget of the key. */
const CONCURRENCY_WITHOUT_QUEUE = 16;

interface BatchSettings extends Pick<BatchParts<unknown>, 'signal' | 'concurrency' | 'onProgress'> {
  readonly operation: BatchOperation;
  /** For each call. */
  readonly options: CallOptions;
}

/** The options of a batch, checked and complete. @throws ConfigError, also for queries that are none */
export function resolveBatch(queries: unknown, options: BatchOptions, client: ClientSettings): BatchSettings {
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
    refuse('batch', queries, 'a list or another iterable of queries');
  }
  const withQuery = Object.values(operations).filter(({ query }) => query !== 'none');
  requireOneOf('operation', operation, withQuery.map(({ id }) => id) as readonly BatchOperation[]); // no others are left
  if (onProgress !== undefined) requireFunction('onProgress', onProgress);
  const call: CallOptions = { ...rest, deadlineMs, onLimit };
  resolveCall(signal === undefined ? call : { ...call, signal }, client); // now, not with the first call
  const most = client.rateLimit === false ? CONCURRENCY_WITHOUT_QUEUE : LARGEST_CONCURRENCY;
  return {
    signal,
    operation,
    onProgress,
    concurrency: concurrency === undefined ? most : requireCount('concurrency', concurrency, { from: 1 }),
    options: call,
  };
}
