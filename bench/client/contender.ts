/** Type of `createCaller`, the export of each file in `contenders/`. */
export type CreateCaller = (options: CallerOptions) => Call | Promise<Call>;

/** Calls `latest` once with the parameter `n`; resolves with the parsed response, or with the client's own result. */
export type Call = (n: number) => Promise<unknown>;

export interface CallerOptions {
  readonly origin: string;
  readonly apiKey: string;
}

export interface Contender {
  readonly name: string;
  /** File name in `contenders/`; an .mjs file needs the packages of bench/package.json. */
  readonly file: string;
}

/** All other contenders are compared with the first one. */
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
