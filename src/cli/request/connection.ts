import type { FetchLike } from '../../client/index.ts';
import { environmentProxy, proxyDispatcher } from '../../environment-proxy.ts';
import { usageError } from '../errors/cli-error.ts';
import type { Io } from '../io.ts';

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
  const proxy = environmentProxy(env, baseUrl);
  if (proxy === undefined) return { fetch, close: async () => undefined };
  const { variable, problem } = proxy;
  if (problem !== undefined) throw usageError(`${variable} ${problem}`, undefined, ['e.g. http://proxy.example:3128']);
  const undici = await import('undici');
  const dispatcher = proxyDispatcher(undici, proxy);
  return {
    // The two Response types describe the same class of the standard.
    fetch: (target, init) => undici.fetch(target, { ...init, dispatcher }) as unknown as Promise<Response>,
    close: () => dispatcher.destroy(),
  };
}
