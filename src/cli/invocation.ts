import type { Io } from './io.ts';
import type { CliSettings } from './settings/settings.ts';
import type { Screen } from './terminal/screen.ts';

/** One command as typed: what its `run` gets. */
export interface Invocation {
  readonly io: Io;
  readonly screen: Screen;
  readonly settings: CliSettings;
  /** Everything typed after `fxrates`. */
  readonly argv: readonly string[];
  readonly args: readonly string[];
  /** The command's own options, by commander's camelCase names. */
  readonly options: Readonly<Record<string, unknown>>;
}
