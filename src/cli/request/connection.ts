import type { FetchLike } from '../../client/index.ts';
import { ACCEPTED_ENCODINGS } from '../../content-encoding.ts';
import { environmentProxy, proxyDispatcher } from '../../environment-proxy.ts';
import { CliError } from '../errors/cli-error.ts';
import { asResponse } from '../io/http-fetch.ts';
import type { Env, Io } from '../io/io.ts';

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
  const hints = ['e.g. http://proxy.example:3128'];
  throw new CliError(`${proxy.variable} ${proxy.problem}`, { code: 'unusable_proxy', hints });
}
