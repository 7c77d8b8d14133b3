import type { Option } from 'commander';
import type { Io } from './io.ts';
import type { OutputFormat } from './settings/global-options.ts';
import type { CliSettings } from './settings/settings.ts';
import type { Screen } from './terminal/screen.ts';

/** A command: its help, its parameters and its function. Each command is a file in `commands/`. */
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
  /** Whether the command calls the service. It then accepts all global options, else only those about output. */
  readonly usesConnectionSettings?: boolean;
  readonly takesParameters?: boolean;
  /** Whether the command only sends a request, which --dry-run and --curl print instead. */
  readonly sendsRequest?: boolean;
  /** Whether the output is data, from which --get selects values. */
  readonly printsData?: boolean;
  /** The values of --output that it has; by default all. */
  readonly formats?: readonly OutputFormat[];
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
  /** Values of the first argument, for completion. Others are valid too. */
  readonly choices?: readonly string[];
}

export interface Example {
  readonly command: string;
  readonly comment: string;
}

/** A typed command: the parameter of its `run`. */
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
