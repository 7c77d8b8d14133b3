import type { Fetch, Io } from '../io.ts';
import { isLoopback } from '../settings/base-url.ts';

/**
 * The fetch to use for `baseUrl`: the built-in one, or undici's through the proxy of HTTPS_PROXY, HTTP_PROXY and
 * NO_PROXY. undici is loaded for a proxy only, and its own fetch is used because the built-in one is another version.
 * A loopback address never goes through a proxy, so that `fxrates mock` works everywhere.
 */
export async function proxiedFetch({ env, fetch }: Io, baseUrl: string): Promise<Fetch> {
  const httpsProxy = env['https_proxy'] || env['HTTPS_PROXY'];
  const httpProxy = env['http_proxy'] || env['HTTP_PROXY'];
  const url = new URL(baseUrl);
  const proxy = url.protocol === 'https:' ? (httpsProxy ?? httpProxy) : httpProxy;
  if (!proxy || isLoopback(url)) return fetch;
  const undici = await import('undici');
  const noProxy = env['no_proxy'] || env['NO_PROXY'] || '';
  const dispatcher = new undici.EnvHttpProxyAgent({
    noProxy,
    ...(httpProxy ? { httpProxy } : {}),
    ...(httpsProxy ? { httpsProxy } : {}),
  });
  // The two Response types describe the same class of the standard.
  return (target, init) => undici.fetch(target, { ...init, dispatcher }) as unknown as Promise<Response>;
}
