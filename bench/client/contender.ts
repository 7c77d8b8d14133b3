/** What a file in `contenders/` exports as `createCaller`. */
export type CreateCaller = (options: CallerOptions) => Call | Promise<Call>;

/** One call of `latest` with the parameter `n`: gives the parsed answer, or what the client makes of it. */
export type Call = (n: number) => Promise<unknown>;

export interface CallerOptions {
  readonly origin: string;
  readonly apiKey: string;
}

export interface Contender {
  readonly name: string;
  /** In `contenders/`; an .mjs file needs the packages of bench/package.json. */
  readonly file: string;
}

/** The first one is what all others are measured against. */
export const CONTENDERS: readonly Contender[] = [
  { name: 'undici.request + JSON.parse', file: 'undici-request.ts' },
  { name: 'fxrates', file: 'fxrates.ts' },
  { name: 'fxrates, payload checked by zod', file: 'fxrates-schema.ts' },
  { name: 'fxrates, no limiter', file: 'fxrates-unlimited.ts' },
  { name: 'fxrates, from its cache', file: 'fxrates-cached.ts' },
  { name: 'fetch', file: 'fetch.ts' },
  { name: 'openapi-fetch', file: 'openapi-fetch.mjs' },
  { name: 'hey-api', file: 'hey-api.mjs' },
  { name: 'ofetch', file: 'ofetch.mjs' },
  { name: 'ky', file: 'ky.mjs' },
  { name: 'axios', file: 'axios.mjs' },
  { name: 'got', file: 'got.mjs' },
];
