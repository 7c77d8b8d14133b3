/** Type of `createCaller`, the export of each file in `contenders/`; it returns the function that makes one call. */
export type CreateCaller = (options: CallerOptions) => Call | Promise<Call>;

/** Resolves when call number `n` was served; rejects with the error that a user of the package gets. */
export type Call = (n: number) => Promise<unknown>;

export interface CallerOptions {
  readonly origin: string;
  readonly apiKey: string;
  /** The limit to keep; `undefined` if the contender must learn it. */
  readonly perMinute: number | undefined;
  /** Attempts after the first one; `undefined` for the package's default. */
  readonly retries: number | undefined;
}

/** The limit that each process is given: none, the whole limit, or an equal share. */
export type Told = 'nothing' | 'limit' | 'share';

/** One row of the table. */
export interface Contender {
  readonly name: string;
  /** File name in `contenders/`; an .mjs file needs the packages of bench/package.json. */
  readonly file: string;
  readonly told: Told;
  readonly retries?: number;
  /** Numbers of processes to run with. Default: all. */
  readonly processes?: readonly number[];
}

/** Name for `--only`: the file name without its extension. */
export function idOf({ file }: Contender): string {
  return file.replace(/\.\w+$/, '');
}

export function needsPackages({ file }: Contender): boolean {
  return file.endsWith('.mjs');
}
