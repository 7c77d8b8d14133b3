import type { CallOptions, SchemaCallOptions } from '../api-call.ts';
import { ConfigError } from '../errors/errors.ts';
import type { Numbers, NumbersOption } from '../numbers.ts';
import type { CallSettings } from '../request.ts';
import type { StandardSchema } from '../standard-schema.ts';
import {
  namesOf,
  refuse,
  requireBoolean,
  requireCount,
  requireDeadline,
  requireKnownNames,
  requireMs,
  requireNumbers,
  requireOneOf,
  requirePositiveMs,
} from './checks.ts';
import { type RequestHeaders, resolveHeaders } from './request-headers.ts';
import type { OpenSettings } from './settings.ts';

export const CALL_OPTION_NAMES = namesOf<keyof SchemaCallOptions<StandardSchema>>({
  signal: true,
  timeoutMs: true,
  deadlineMs: true,
  maxRetries: true,
  onLimit: true,
  maxAgeMs: true,
  useReserve: true,
  priority: true,
  headers: true,
  coalesce: true,
  numbers: true,
  schema: true,
});

interface CallerSettings extends CallSettings {
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
  readonly numbers: Numbers;
}

/** The settings of one call: its own options over the client's. @throws ConfigError */
export function resolveCall(options: CallOptions & NumbersOption, client: OpenSettings): CallerSettings {
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
    numbers = client.numbers,
  } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) refuse('signal', signal, 'an AbortSignal');
  requireSchema('schema' in options ? options.schema : undefined);
  if (maxAgeMs !== undefined && client.cache === undefined) {
    throw new ConfigError('maxAgeMs: this client has no cache; create it with the option cache');
  }
  return {
    signal,
    timeoutMs: timeoutMs === undefined ? client.timeoutMs : requirePositiveMs('timeoutMs', timeoutMs),
    deadlineMs: deadlineMs === undefined ? client.deadlineMs : requireDeadline('deadlineMs', deadlineMs),
    maxRetries: maxRetries === undefined ? client.maxRetries : requireCount('maxRetries', maxRetries, { from: 0 }),
    onLimit: onLimit === undefined ? client.onLimit : requireOneOf('onLimit', onLimit, ['wait', 'throw']),
    maxAgeMs: maxAgeMs === undefined ? undefined : requireMs('maxAgeMs', maxAgeMs),
    useReserve: requireBoolean('useReserve', useReserve),
    coalesce: requireBoolean('coalesce', coalesce),
    numbers: requireNumbers(numbers),
    priority: requireOneOf('priority', priority, ['high', 'normal']),
    headers: headersOf(options, client),
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
