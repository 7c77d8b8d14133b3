import type { Io } from '../io/io.ts';
import type { Screen } from '../terminal/screen.ts';
import type { CliSettings } from './settings.ts';
import type { ConfigFile } from './stored-files.ts';

/** A typed command: the parameter of its action. */
export interface Invocation<Options = object> {
  readonly io: Io;
  readonly screen: Screen;
  readonly settings: CliSettings;
  /** Without a value if the file cannot be used; only commands with --profile reject that. */
  readonly config: ConfigFile;
  /** Name of the command, such as `auth login`. */
  readonly command: string;
  /** Everything typed after `fxrates`. */
  readonly argv: readonly string[];
  readonly args: readonly string[];
  /** The command's own options, by commander's camelCase names. */
  readonly options: Options;
}

/** The parameters of a request; a repeated one is a list. */
export type QueryText = string | number | boolean;
export type Query = Readonly<Record<string, QueryText | readonly QueryText[]>>;
