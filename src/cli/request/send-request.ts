import { ACCEPTED_ENCODINGS } from '../../body-bytes.ts';
import type {
  ApiCall,
  CacheOptions,
  CallOptions,
  FetchLike,
  FxRates,
  FxRatesOptions,
  LimitStore,
  Logger,
  QuotaData,
  ResponseMeta,
} from '../../client/index.ts';
import { environmentProxy, isLoopback, proxyDispatcher } from '../../environment-proxy.ts';
import { operations } from '../../generated/operations.ts';
import type { Operation } from '../../operation.ts';
import { CliError, relatedCommand } from '../errors/cli-error.ts';
import { asResponse } from '../io/http-fetch.ts';
import type { Env, Io } from '../io/io.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { pathIn, stateFolder } from '../settings/folders.ts';
import { type KeyInUse, requireKey } from '../settings/resolve-key.ts';
import type { CliSettings, Invocation, Query } from '../settings/settings.ts';
import { quoteForShell } from '../terminal/text.ts';
import { explainClientError, warningOf } from './explain-error.ts';
import { HttpTrace } from './http-trace.ts';
import { WaitReporter } from './wait-reporter.ts';

/** A request for an operation of the contract, or for any path. */
export type ServiceRequest = OperationRequest | PathRequest;

export interface OperationRequest {
  readonly operation: Operation;
  readonly query: Query;
}

export interface PathRequest {
  readonly path: string;
  readonly query: Query;
}

export interface ServiceResponse extends Pick<ResponseMeta, 'rawBody' | 'status' | 'durationMs' | 'source' | 'ageMs'> {
  readonly data: unknown;
  /** Epoch milliseconds of the last response, by the service's clock if it sends the `date` header. Not for a cached one. */
  readonly receivedAt: number;
  readonly key: KeyInUse;
}

interface ClientOverrides {
  readonly trace?: HttpTrace;
  /** Default: the key of the settings. */
  readonly key?: KeyInUse;
  /** Default: a connection to the service. */
  readonly connection?: ServiceConnection;
  readonly cache?: CacheOptions | undefined;
  /** Default: one that reports every wait. */
  readonly reporter?: CallReporter;
  /** Default: that of `--max-wait`, but at least as long as an outage. */
  readonly maxRetryAfterMs?: number;
}

/** The hooks of the client, and the signal that ends its calls. */
export interface CallReporter {
  readonly hooks: Pick<FxRatesOptions, 'onRequest' | 'onRetry' | 'onWait'>;
  readonly signal: AbortSignal;
  /** The next request is sent, or the call has ended. */
  readonly end: () => void;
}

type Method = (...parameters: unknown[]) => ApiCall<unknown>;

interface ClientResult {
  readonly data: unknown;
  readonly meta: ResponseMeta;
}

/** A client with the settings of the command line, with functions that convert its results and errors. */
export interface OpenClient {
  readonly fx: FxRates;
  readonly reporter: CallReporter;
  readonly responseOf: (result: ClientResult) => ServiceResponse;
  /** A `CliError` in the user's words for an error of the client. */
  readonly explained: (error: unknown) => unknown;
}

/** Sends `request` with the client and gives the whole response. @throws CliError in the user's words */
export async function sendRequest(
  request: ServiceRequest,
  invocation: Invocation,
  options: ClientOverrides = {},
): Promise<ServiceResponse> {
  return withClient(invocation, options, async ({ fx, reporter: { signal }, responseOf }) =>
    responseOf(await callClient(fx, request, { signal }).withMeta()),
  );
}

/** Sends one `quota` request, which is free. @throws CliError in the user's words */
export async function sendQuotaRequest(
  invocation: Invocation,
  options: ClientOverrides,
): Promise<ServiceResponse & { readonly data: QuotaData }> {
  const response = await sendRequest({ operation: operations.quota, query: {} }, invocation, options);
  return { ...response, data: response.data as QuotaData }; // parsed with the schema by the client
}

/** Runs `use` with a client, and closes that. @throws CliError in the user's words for an error of the client */
export async function withClient<Result>(
  invocation: Invocation,
  options: ClientOverrides,
  use: (client: OpenClient) => Promise<Result>,
): Promise<Result> {
  const {
    trace = new HttpTrace(invocation),
    reporter = new WaitReporter(invocation),
    cache,
    maxRetryAfterMs,
  } = options;
  const { settings, io, screen } = invocation;
  const baseUrl = requireBaseUrl(settings);
  const key = options.key ?? (await requireKey(invocation));
  const { FxRates, FxRatesError } = await import('../../client/index.ts');
  const connection = options.connection ?? (await openConnection(io, baseUrl));
  const explained = (error: unknown) => {
    if (reporter.signal.aborted) return reporter.signal.reason;
    return FxRatesError.is(error) ? explainClientError(error, { invocation, key, baseUrl }) : error;
  };
  try {
    const fetch = trace.wrap(connection.fetch, baseUrl, () => reporter.end());
    const own = { baseUrl, apiKey: key.secret, fetch, cache, clock: io.clock };
    const store = options.connection === undefined ? await openStore(invocation, baseUrl) : undefined; // without a request, no slot is needed
    const warn = (message: string) => void screen.warn(message);
    const logger: Logger = { warn, warnOf: (warning) => warn(warningOf(warning)) };
    const limits = {
      ...limitsOf(settings),
      ...(maxRetryAfterMs && { maxRetryAfterMs }),
      rateLimit: store && { store },
    };
    const fx = new FxRates({ ...limits, ...own, ...reporter.hooks, logger });
    const responseOf = (result: ClientResult) => serviceResponse(result, { key, trace, io });
    // Closed, because a `quota()` of the client for the limit may still wait for a slot.
    return await use({ fx, reporter, explained, responseOf }).finally(() => fx.close());
  } catch (error) {
    throw explained(error);
  } finally {
    reporter.end();
    await connection.close();
  }
}

interface ReceivedBy {
  readonly key: KeyInUse;
  readonly trace: HttpTrace;
  readonly io: Pick<Io, 'clock'>;
}

function serviceResponse({ data, meta }: ClientResult, { key, trace, io }: ReceivedBy): ServiceResponse {
  const { rawBody, status, durationMs, source, ageMs } = meta;
  // Not `meta.headers`, whose first use loads the fetch of Node.js, which takes 20 ms.
  const at = Date.parse(trace.lastDate ?? '');
  const receivedAt = Number.isNaN(at) ? io.clock.now() : at;
  return { data, rawBody, status, durationMs, source, ageMs, receivedAt, key };
}

/** Calls the client's own method of the operation, which knows the schema of its response. */
function callClient(client: FxRates, request: ServiceRequest, options: CallOptions): ApiCall<unknown> {
  const { query } = request;
  if ('path' in request) return client.get(request.path, { ...options, query });
  const { operation } = request;
  const method = (client as unknown as Readonly<Record<string, Method>>)[operation.id]; // generated from the same table
  if (method === undefined) throw new Error(`the client has no method ${operation.id}`);
  return operation.query === 'none' ? method.call(client, options) : method.call(client, query, options);
}

/**
 * `--max-wait` and `--no-wait` are about the limit. A service that fails is tried again with each of them, if its Retry-After
 * is no longer than the client waits for the end of an outage.
 */
function limitsOf({ timeoutMs, retries, maxWaitMs, insecureHttp }: CliSettings): FxRatesOptions {
  return {
    timeoutMs,
    maxRetries: retries,
    allowInsecureHttp: insecureHttp,
    deadlineMs: maxWaitMs + (retries + 1) * (timeoutMs + LONGEST_OUTAGE_MS),
    maxRetryAfterMs: Math.max(maxWaitMs, LONGEST_OUTAGE_MS),
    onLimit: maxWaitMs === 0 ? 'throw' : 'wait',
  };
}

/** As in client/limits/in-flight.ts. */
export const LONGEST_OUTAGE_MS = 90_000;

interface SentRequest {
  readonly url: string;
  readonly accept: string | undefined;
}

/** Prints the request that the client would send as a curl command. Nothing is sent. */
export async function printCurl(request: ServiceRequest, { settings, ...others }: Invocation): Promise<void> {
  const invocation = { ...others, settings: { ...settings, retries: 0, verbose: 0 } };
  let sent: SentRequest | undefined;
  const fetch: FetchLike = async (url, { headers }) => {
    sent = { url, accept: headers['accept'] };
    throw new Error('nothing is sent');
  };
  const connection = { fetch, close: async () => undefined };
  const failure = await sendRequest(request, invocation, { connection, key: NO_KEY }).catch((error: unknown) => error);
  if (sent === undefined) throw failure;
  await others.screen.print(`${curlCommand(sent)}\n`);
  if (others.io.env['FXRATES_API_KEY'] && settings.keyFile === undefined && !settings.keyStdin) return;
  const { insecureHttp: _, ...options } = others.options; // which auth token does not have
  const token = relatedCommand(['auth', 'token'], options);
  const command = `export FXRATES_API_KEY=$(${token})`;
  await others.screen.remark(`the command sends the key in FXRATES_API_KEY; to set it:\n  ${command}`);
}

/** `--curl` does not read the key. This one has the documented form, so the client does not warn. */
const NO_KEY: KeyInUse = { secret: `fx_live_${'0'.repeat(48)}`, source: '--curl', shadowed: [] };

/** The header is piped: other users see the command line of curl. `printf` is part of each shell. `-g`: no [ranges] and {lists} in the URL. */
function curlCommand({ url, accept }: SentRequest): string {
  const parts = ['printf \'Authorization: Bearer %s\' "$FXRATES_API_KEY" | curl -g --fail-with-body -H @-'];
  if (accept !== undefined) parts.push(`-H ${quoteForShell(`Accept: ${accept}`)}`);
  return [...parts, `'${url.replaceAll("'", '%27')}'`].join(' ');
}

/**
 * The store in which the commands of a user share the limit of a key: `xargs -P 20 fxrates latest` sends no more requests
 * than one process. `undefined` without a home folder, and by default for a service on this machine: a mock that is started
 * again has the same keys, but not the limits of the last one.
 */
async function openStore(
  { io: { env, clock }, settings: { shareLimit } }: Invocation,
  baseUrl: string,
): Promise<LimitStore | undefined> {
  const folder = pathIn(stateFolder(env), 'limits');
  const isShared = shareLimit === undefined ? !isLoopback(new URL(baseUrl)) : shareLimit === 'on';
  if (folder === undefined || !isShared) return undefined;
  const { fileStore } = await import('../../client/file-store/index.ts');
  return fileStore(folder, { clock });
}

/** A fetch for one service. `close` ends its connections, which would keep the process running. */
export interface ServiceConnection {
  readonly fetch: FetchLike;
  readonly close: () => Promise<void>;
}

/**
 * A fetch for `baseUrl`: the one of `Io`, or through the proxy of the environment. undici is loaded for a proxy only. Its
 * `fetch` is not used, because it rejects a 407 of the service without a reason.
 */
export async function openConnection(
  { env, fetch }: Pick<Io, 'env' | 'fetch'>,
  baseUrl: string,
): Promise<ServiceConnection> {
  const proxy = proxyFor(baseUrl, env);
  if (proxy === undefined) return { fetch, close: async () => undefined };
  const undici = await import('undici');
  const dispatcher = proxyDispatcher(undici, proxy);
  return {
    fetch: async (url, { method, headers, signal }) => {
      const { statusCode: status, ...received } = await undici.request(url, {
        dispatcher,
        method,
        headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
        signal,
      });
      return asResponse({ status, ...received });
    },
    close: () => dispatcher.destroy(),
  };
}

/** The proxy of the environment. @throws CliError if it cannot be used */
export function proxyFor(baseUrl: string, env: Env): ReturnType<typeof environmentProxy> {
  const proxy = environmentProxy(env, baseUrl);
  if (proxy?.problem === undefined) return proxy;
  const hints = [`e.g. export ${proxy.variable}=http://proxy.example:3128`];
  throw new CliError(`${proxy.variable} ${proxy.problem}`, { code: 'unusable_proxy', hints });
}
