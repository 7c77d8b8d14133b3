import { request } from 'undici';
import type { FxRatesOptions } from '../../src/client/index.ts';
import { builtClient } from '../built.ts';

/** Calls `latest` once with the parameter `n`; resolves with the parsed response, or with the client's own result. */
export type Call = (n: number) => Promise<unknown>;

interface Target {
  readonly origin: string;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Loads a client and returns its call. */
export type CreateCaller = (target: Target) => Call | Promise<Call>;

/** A limit that is never reached: the bench measures the work per call. */
const rateLimit = { perMinute: 100_000_000 };

/** All other contenders are compared with the first one. The value is the name for `--only`. */
export const CONTENDERS: Readonly<Record<string, { readonly title: string; readonly createCaller: CreateCaller }>> = {
  'undici-request': { title: 'undici.request + JSON.parse', createCaller: callUndici },
  fxrates: { title: 'fxrates', createCaller: ours({ rateLimit }, (fx) => (n) => fx.latest({ n })) },
  'fxrates-unlimited': {
    title: 'fxrates, no limiter',
    createCaller: ours({ rateLimit: false }, (fx) => (n) => fx.latest({ n })),
  },
  'fxrates-cached': {
    title: 'fxrates, from its cache',
    createCaller: ours({ cache: { maxAgeMs: 3_600_000 } }, (fx) => () => fx.latest({ n: 'always the same' })),
  },
  fetch: { title: 'fetch', createCaller: callFetch },
  ...Object.fromEntries(
    ['openapi-fetch', 'hey-api', 'ofetch', 'ky', 'axios', 'got'].map((name) => [
      name,
      { title: name, createCaller: peer(name) },
    ]),
  ),
};

type Client = InstanceType<Awaited<ReturnType<typeof builtClient>>['FxRates']>;

function ours(options: FxRatesOptions, call: (fx: Client) => Call): CreateCaller {
  return async ({ origin, apiKey }) => {
    const { FxRates } = await builtClient();
    return call(new FxRates({ baseUrl: origin, apiKey, ...options }));
  };
}

function peer(name: string): CreateCaller {
  return async (target) => {
    const file: string = './peers.mjs'; // no types: it needs the packages of bench/package.json
    const { peers } = (await import(file)) as { readonly peers: Readonly<Record<string, CreateCaller>> };
    const createCaller = peers[name];
    if (createCaller === undefined) throw new Error(`peers.mjs has no ${name}`);
    return createCaller(target);
  };
}

function callUndici({ origin, headers }: Target): Call {
  return async (n) => {
    const { body } = await request(`${origin}/api/v1/latest?n=${n}`, { headers });
    return JSON.parse(await body.text());
  };
}

function callFetch({ origin, headers }: Target): Call {
  return async (n) => (await fetch(`${origin}/api/v1/latest?n=${n}`, { headers })).json();
}
