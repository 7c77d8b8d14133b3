import type { Pool } from 'undici';
import type { FetchLike } from '../../client/index.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../io.ts';
import { isLoopback } from '../settings/base-url.ts';

/** A fetch for one service. `close` ends its connections, which would keep the process running. */
export interface Connection {
  readonly fetch: FetchLike;
  readonly close: () => Promise<void>;
}

/**
 * A fetch for `baseUrl`: the one of `Io`, or undici's through the proxy of the environment. undici is loaded
 * for a proxy only, and its own fetch is used because the built-in one belongs to another version.
 */
export async function openConnection({ env, fetch }: Pick<Io, 'env' | 'fetch'>, baseUrl: string): Promise<Connection> {
  if (proxyFor(env, baseUrl) === undefined) return { fetch, close: async () => undefined };
  const { noProxy, ...typed } = variables(env);
  const allProxy = checkedProxy('ALL_PROXY', typed.allProxy);
  const httpProxy = checkedProxy('HTTP_PROXY', typed.httpProxy) ?? allProxy;
  const httpsProxy = checkedProxy('HTTPS_PROXY', typed.httpsProxy) ?? httpProxy ?? allProxy;
  const undici = await import('undici');
  const dispatcher = new undici.EnvHttpProxyAgent({
    noProxy,
    ...(httpProxy ? { httpProxy } : {}),
    ...(httpsProxy ? { httpsProxy } : {}),
    factory: (origin, options: Pool.Options) => new undici.Pool(origin, { ...options, ...connectOnce(options) }),
  });
  return {
    // The two Response types describe the same class of the standard.
    fetch: (target, init) => undici.fetch(target, { ...init, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}

/** If a proxy closes the connection, undici connects again and again without a pause. This makes it a failure. */
function connectOnce({ connect }: Pool.Options): Pick<Pool.Options, 'connect'> {
  if (typeof connect !== 'function') return {};
  const once: typeof connect = (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) return callback(null, socket);
      const isHangUp = 'code' in error && error.code === 'UND_ERR_SOCKET';
      const failure = isHangUp
        ? Object.assign(new Error(error.message, { cause: error }), { code: 'ECONNRESET' })
        : error;
      return callback(failure, null);
    });
  return { connect: once };
}

type ProxyVariable = 'HTTPS_PROXY' | 'HTTP_PROXY' | 'ALL_PROXY';

/**
 * The name of the variable whose proxy `baseUrl` may go through; NO_PROXY is left to undici. A loopback address never
 * goes through a proxy, so that `fxrates mock` works everywhere.
 */
export function proxyFor(env: Io['env'], baseUrl: string): ProxyVariable | undefined {
  const { httpProxy, httpsProxy, allProxy } = variables(env);
  const url = new URL(baseUrl);
  if (isLoopback(url)) return undefined;
  if (url.protocol === 'https:' && httpsProxy) return 'HTTPS_PROXY';
  if (httpProxy) return 'HTTP_PROXY';
  return allProxy ? 'ALL_PROXY' : undefined;
}

/** What a variable says: the host of the proxy, without user and password, or why it cannot be used. */
export function proxyHost(
  env: Io['env'],
  variable: ProxyVariable,
): { readonly host: string } | { readonly problem: string } {
  const { httpProxy = '', httpsProxy = '', allProxy = '' } = variables(env);
  const text = { HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy, ALL_PROXY: allProxy }[variable];
  const problem = proxyProblem(text);
  return problem === undefined ? { host: new URL(proxyUrl(text)).host } : { problem };
}

/** The URL to give to undici. Never repeats what it refuses, which may hold a password. */
function checkedProxy(name: string, text: string | undefined): string | undefined {
  if (!text) return undefined;
  const problem = proxyProblem(text);
  if (problem === undefined) return proxyUrl(text);
  throw usageError(`${name} ${problem}`, undefined, ['e.g. http://proxy.example:3128']);
}

/** `host:port` means http, as in curl. */
function proxyUrl(text: string): string {
  return /^([^/@\s]+@)?[\w.-]+:\d+\/?$/.test(text) ? `http://${text}` : text;
}

function proxyProblem(text: string): string | undefined {
  const url = URL.canParse(proxyUrl(text)) ? new URL(proxyUrl(text)) : undefined;
  if (url === undefined || url.host === '') return 'is not the URL of a proxy';
  if (!/^https?:$/.test(url.protocol))
    return `names a ${url.protocol.slice(0, -1)} proxy; http and https are supported`;
  try {
    decodeURIComponent(url.username + url.password);
    return undefined;
  } catch {
    return 'has a % in its user or password; write it %25';
  }
}

/** The lower-case name comes first, as in curl. */
function variables(env: Io['env']) {
  return {
    httpProxy: env['http_proxy'] || env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] || env['HTTPS_PROXY'],
    allProxy: env['all_proxy'] || env['ALL_PROXY'],
    noProxy: env['no_proxy'] || env['NO_PROXY'] || '',
  };
}
