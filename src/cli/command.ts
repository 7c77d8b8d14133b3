import type { Option } from 'commander';
import type { Io } from './io.ts';
import type { CliSettings } from './settings/settings.ts';
import type { Screen } from './terminal/screen.ts';

/** One command: what help says of it, what it takes and what it does. A command is one file in `commands/`. */
export interface CommandSpec {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  readonly description: string;
  readonly argument?: CommandArgument;
  /** Called once per program, because commander keeps state in options. */
  readonly options?: () => readonly Option[];
  readonly examples?: readonly Example[];
  /** Paragraphs for the end of its help. */
  readonly notes?: readonly string[];
  /** Commands that call the service take all global options; the others only those about output. Default: false. */
  readonly callsService?: boolean;
  readonly takesParameters?: boolean;
  /** Whether all it does is to send a request, which --dry-run and --curl print instead. */
  readonly sendsRequest?: boolean;
  /** Whether what it prints is data, from which --get chooses. */
  readonly printsData?: boolean;
  /** Shared options that do not apply to it, with the reason and the command to use instead. */
  readonly refused?: Readonly<Record<string, { readonly why?: string; readonly instead?: string }>>;
  /** Its subcommands; a command without `run` only shows its help. */
  readonly commands?: readonly CommandSpec[];
  /** Whether it uses the stored settings of a profile, without sending a request. */
  readonly usesConfig?: boolean;
  /** Whether --profile can name a profile that does not exist. */
  readonly createsProfile?: boolean;
  /** Whether it runs if config.json cannot be used, as if the file were empty, to report that. */
  readonly survivesBrokenConfig?: boolean;
  /** Returns the exit code. */
  run?(invocation: Invocation): Promise<number>;
}

export interface CommandArgument {
  readonly syntax: string;
  readonly description: string;
  /** Words that the first one can be, for completion; it may be others, too. */
  readonly choices?: readonly string[];
}

export interface Example {
  readonly command: string;
  readonly comment: string;
}

/** One command as typed: what its `run` gets. */
export interface Invocation {
  readonly io: Io;
  readonly screen: Screen;
  readonly settings: CliSettings;
  /** Name of the command, such as `auth login`. */
  readonly command: string;
  /** Everything typed after `fxrates`. */
  readonly argv: readonly string[];
  readonly args: readonly string[];
  /** The command's own options, by commander's camelCase names. */
  readonly options: Readonly<Record<string, unknown>>;
}
