import { ConfigError } from '../errors/errors.ts';
import { type FetchLike, fetchTransport } from './fetch-transport.ts';
import type { Transport } from './transport.ts';
import { undiciTransport } from './undici-transport.ts';

/** The parts of a runtime that decide. Tests pass another one. */
export interface Runtime {
  /** Whether undici, which needs the sockets of Node, works here. */
  readonly hasNodeSockets: boolean;
  readonly fetch: FetchLike | undefined;
  readonly loadUndici: () => Promise<Pick<typeof import('undici'), 'getGlobalDispatcher'>>;
}

/**
 * Sends over undici's global dispatcher where undici works, else with the runtime's own `fetch`: on Bun, Deno and
 * workerd, and in bundles that break undici. Chosen by the first request, so a program that passes a `fetch` never
 * loads undici. The dispatcher and the `fetch` are looked up for each request: a program may replace them at any time.
 */
export function defaultTransport(runtime: Runtime = thisRuntime): Transport {
  let transport: Transport | undefined;
  return async (request) => {
    transport ??= await chooseTransport(runtime);
    return transport(request);
  };
}

async function chooseTransport(runtime: Runtime): Promise<Transport> {
  const undici = runtime.hasNodeSockets ? await loadUndici(runtime) : new Error('not on this runtime');
  if (!(undici instanceof Error)) return undiciTransport(() => undici.getGlobalDispatcher());
  if (runtime.fetch === undefined) {
    throw new ConfigError(
      `fetch: undici cannot be loaded (${undici.message}), and there is no global fetch; pass fetch`,
    );
  }
  return fetchTransport(runtime.fetch);
}

/** undici, or why it cannot be used. A bundler may give something else in its place. */
async function loadUndici({ loadUndici: load }: Runtime) {
  try {
    const undici = await load();
    if (typeof undici.getGlobalDispatcher().dispatch === 'function') return undici;
    return new Error('its dispatcher has no dispatch method');
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

const thisRuntime: Runtime = {
  get hasNodeSockets() {
    const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
    return !('Bun' in globalThis || 'Deno' in globalThis || navigator?.userAgent === 'Cloudflare-Workers');
  },
  get fetch(): FetchLike | undefined {
    // Called as a method: workerd refuses its fetch otherwise.
    return typeof globalThis.fetch === 'function' ? (url, init) => globalThis.fetch(url, init) : undefined;
  },
  loadUndici: () => import('undici'),
};
