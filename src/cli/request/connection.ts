import type { Pool } from 'undici';
import type { FetchLike } from '../../client/index.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../io.ts';
import { isLoopback } from '../settings/base-url.ts';

/** A fetch for one service, and what ends the connections behind it, so that the process can end. */
export interface Connection {
  readonly fetch: FetchLike;
  readonly close: () => Promise<void>;
}

/**
 * A fetch for `baseUrl`: the built-in one, or undici's through the proxy of the environment. undici is loaded
 * for a proxy only, and its own fetch is used because the built-in one belongs to another version.
 */
export async function openConnection({ env, fetch }: Pick<Io, 'env' | 'fetch'>, baseUrl: string): Promise<Connection> {
  if (proxyFor(env, baseUrl) === undefined) return { fetch, close: async () => undefined };
  const { httpProxy, httpsProxy, noProxy } = variables(env);
  checkProxy('HTTP_PROXY', httpProxy);
  checkProxy('HTTPS_PROXY', httpsProxy);
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

/** undici takes a proxy that hangs up for a lost connection, and would connect again and again without a pause. */
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

/**
 * The name of the variable whose proxy `baseUrl` may go through; NO_PROXY is left to undici. A loopback address never
 * goes through a proxy, so that `fxrates mock` works everywhere.
 */
export function proxyFor(env: Io['env'], baseUrl: string): 'HTTPS_PROXY' | 'HTTP_PROXY' | undefined {
  const { httpProxy, httpsProxy } = variables(env);
  const url = new URL(baseUrl);
  if (isLoopback(url)) return undefined;
  if (url.protocol === 'https:' && httpsProxy) return 'HTTPS_PROXY';
  return httpProxy ? 'HTTP_PROXY' : undefined;
}

/** The proxy without user and password; `undefined` when the variable holds no URL. */
export function proxyHost(env: Io['env'], variable: 'HTTPS_PROXY' | 'HTTP_PROXY'): string | undefined {
  const { httpProxy = '', httpsProxy = '' } = variables(env);
  const url = variable === 'HTTPS_PROXY' ? httpsProxy : httpProxy;
  return isProxyUrl(url) ? new URL(url).host : undefined;
}

/** Never repeats the URL, which may hold a password. */
function checkProxy(name: string, url: string | undefined): void {
  if (!url || isProxyUrl(url)) return;
  throw usageError(`${name} is not the URL of a proxy`, undefined, ['e.g. http://proxy.example:3128']);
}

function isProxyUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** The lower-case name comes first, as in curl. */
function variables(env: Io['env']) {
  return {
    httpProxy: env['http_proxy'] || env['HTTP_PROXY'],
    httpsProxy: env['https_proxy'] || env['HTTPS_PROXY'],
    noProxy: env['no_proxy'] || env['NO_PROXY'] || '',
  };
}
