/** What a file in `contenders/` exports as `createCaller`: it gives the function that makes one call. */
export type CreateCaller = (options: CallerOptions) => Call | Promise<Call>;

/** Resolves when call number `n` was served; rejects when the caller gets an error. */
export type Call = (n: number) => Promise<unknown>;

export interface CallerOptions {
  readonly origin: string;
  readonly apiKey: string;
  /** The limit to keep; `undefined` if it is not told. */
  readonly perMinute: number | undefined;
  /** Attempts after the first; `undefined`: the package's own default. */
  readonly retries: number | undefined;
}

/** How much of the limit each process is told: nothing, all of it, or its equal share. */
export type Told = 'nothing' | 'limit' | 'share';

/** One row of the table. */
export interface Contender {
  readonly name: string;
  /** In `contenders/`; an .mjs file needs the packages of bench/package.json. */
  readonly file: string;
  readonly told: Told;
  readonly retries?: number;
  /** Numbers of processes it is tried with. Default: all. */
  readonly processes?: readonly number[];
}

/** What `--only` calls it: its file without the ending. */
export function idOf({ file }: Contender): string {
  return file.replace(/\.\w+$/, '');
}

export function needsPackages({ file }: Contender): boolean {
  return file.endsWith('.mjs');
}
