/** The package has no types. */
declare module 'write-good' {
  export interface Suggestion {
    readonly index: number;
    readonly offset: number;
    readonly reason: string;
  }

  export interface Options {
    readonly whitelist?: readonly string[];
    readonly [check: string]: boolean | readonly string[] | undefined;
  }

  // biome-ignore lint/style/noDefaultExport: the package is CommonJS and exports one function
  export default function writeGood(text: string, options?: Options): readonly Suggestion[];
}
