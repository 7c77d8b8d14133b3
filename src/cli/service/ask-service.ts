import type { ApiCall, CacheOptions, CallOptions, FxRates, FxRatesOptions, ResponseMeta } from '../../client/index.ts';
import type { Operation } from '../../generated/operations.ts';
import type { Invocation } from '../invocation.ts';
import { type Connection, openConnection } from '../request/connection.ts';
import { HttpTrace } from '../request/http-trace.ts';
import { type KeyInUse, requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import type { Settings } from '../settings/settings.ts';
import { explainClientError } from './explain-client-error.ts';
import { Waiting } from './waiting.ts';

/** What a command asks for: an operation of the contract, or just a path. */
export interface ServiceRequest {
  readonly operation?: Operation;
  readonly path: string;
  readonly query: Query;
}

export type QueryValue = string | number | boolean;
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;

export interface Answer {
  readonly data: unknown;
  /** The body exactly as it came. */
  readonly rawBody: string;
  readonly status: number;
  readonly durationMs: number;
  /** Epoch milliseconds of the answer, by the service's clock where it tells. */
  readonly at: number;
  readonly key: KeyInUse;
  /** Whether it came from the service just now. */
  readonly source: ResponseMeta['source'];
  /** Milliseconds since the service gave it. */
  readonly ageMs: number;
}

interface AskOptions {
  readonly trace?: HttpTrace;
  /** Instead of the one of the settings. */
  readonly key?: KeyInUse;
  /** Instead of the network. */
  readonly connection?: Connection;
  readonly cache?: CacheOptions;
}

type Method = (...parameters: unknown[]) => ApiCall<unknown>;

/** Sends `request` with the client and gives the whole answer. @throws CliError in the user's words */
export async function askService(
  request: ServiceRequest,
  invocation: Invocation,
  { trace = new HttpTrace(invocation), key: given, connection: givenConnection, cache }: AskOptions = {},
): Promise<Answer> {
  const { settings, io } = invocation;
  const baseUrl = requireBaseUrl(settings);
  const key = given ?? (await requireKey(settings, io));
  await welcome(key, invocation);
  const { FxRates, FxRatesError } = await import('../../client/index.ts');
  const waiting = new Waiting(invocation);
  const connection = givenConnection ?? (await openConnection(io, baseUrl));
  const fetch = trace.around(connection.fetch, () => waiting.end());
  try {
    const own = { baseUrl, apiKey: key.secret, fetch, cache, clock: io.clock };
    const options = { ...limitsOf(settings), ...own, ...waiting.hooks };
    const { data, meta } = await start(new FxRates(options), request, { signal: waiting.signal }).withMeta();
    const at = Date.parse(meta.headers.get('date') ?? '');
    return { ...meta, data, at: Number.isNaN(at) ? io.clock.now() : at, key };
  } catch (error) {
    if (waiting.signal.aborted) throw waiting.signal.reason;
    throw FxRatesError.is(error) ? explainClientError(error, { invocation, key, baseUrl }) : error;
  } finally {
    waiting.end();
    await connection.close();
  }
}

/** Before anything is written: from now on the key does not show. */
async function welcome({ secret, warning }: KeyInUse, { screen }: Invocation): Promise<void> {
  screen.secrets.protect(secret);
  if (warning !== undefined) await screen.warn(warning);
}

/** Calls the client's own method of the operation, which knows the schema of its answer. */
export function start(
  client: FxRates,
  { operation, path, query }: ServiceRequest,
  options: CallOptions,
): ApiCall<unknown> {
  if (operation === undefined) return client.get(path, { ...options, query });
  const method = (client as unknown as Readonly<Record<string, Method>>)[operation.id]; // generated from the same table
  if (method === undefined) throw new Error(`the client has no method ${operation.id}`);
  return operation.query === 'none' ? method.call(client, options) : method.call(client, query, options);
}

/** The call may take its attempts and, besides, one `--max-wait` of waiting. */
function limitsOf({ timeoutMs, retries, maxWaitMs, insecureHttp }: Settings): FxRatesOptions {
  const deadlineMs = maxWaitMs + (retries + 1) * (timeoutMs + LONGEST_BACKOFF_MS);
  return {
    timeoutMs,
    maxRetries: retries,
    allowInsecureHttp: insecureHttp,
    deadlineMs: Number.isFinite(deadlineMs) ? deadlineMs : false,
    maxRetryAfterMs: Math.min(Math.max(maxWaitMs, 1), Number.MAX_SAFE_INTEGER),
    onLimit: maxWaitMs === 0 ? 'throw' : 'wait',
  };
}

/** The client's backoff is capped there. */
const LONGEST_BACKOFF_MS = 8_000;
