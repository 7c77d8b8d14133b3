import { type Argument, Command, type CommanderError, type Option } from 'commander';
import { usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../io/exit-codes.ts';
import { CliOption, type SharedOptions } from '../settings/options.ts';
import type { Invocation } from '../settings/settings.ts';

export interface Example {
  readonly command: string;
  readonly comment: string;
}

type Run<Options> = (invocation: Invocation<Options>) => Promise<void> | Promise<number>;

/** A line of help in two columns. */
export interface HelpEntry {
  readonly term: string;
  readonly text: string;
}

interface HelpTexts {
  readonly summary: string;
  readonly description: string;
  readonly examples?: readonly Example[];
  /** Parameters that the contract names. */
  readonly parameters?: readonly HelpEntry[];
  /** Paragraphs after the usage. */
  readonly notes?: readonly string[];
}

interface Traits {
  /** Whether --profile can name a profile that does not exist. */
  readonly createsProfile?: boolean;
  /** Whether it runs if config.json cannot be used, as if the file were empty, to report that. */
  readonly survivesBrokenConfig?: boolean;
}

/** The command that a line names. `end`: why commander does not run it, which is an error, the help or the version. */
export interface ParsedLine {
  readonly command: CliCommand;
  readonly end?: CommanderError;
}

/** commander's command, with examples and notes for its help, and an action that receives an `Invocation`. */
export class CliCommand extends Command {
  declare readonly commands: readonly CliCommand[];
  declare readonly parent: CliCommand | null;
  examples: readonly Example[] = [];
  parameters: readonly HelpEntry[] = [];
  notes: readonly string[] = [];
  traits: Traits = {};
  /** Returns the exit code. `undefined`: the command only has subcommands. */
  run: ((invocation: Invocation) => Promise<number>) | undefined;
  /** Of the program, after `parse`. */
  line: ParsedLine = { command: this };
  readonly #steps: (() => void)[] = [];

  /** A text that is left out stays as it is. */
  about({ summary = this.summary(), description = this.description(), ...texts }: Partial<HelpTexts>): this {
    Object.assign(this, texts);
    return this.summary(summary).description(description);
  }

  /** `options` is called at the first use: declaring those of all commands takes a quarter of the time of `--help`. */
  with(options: () => readonly Option[]): this {
    return this.whenUsed(() => {
      for (const option of options()) this.addOption(option);
    });
  }

  whenUsed(step: () => void): this {
    this.#steps.push(step);
    return this;
  }

  /** Declares what the command has, before it is parsed or described. */
  ready(): this {
    for (const step of this.#steps.splice(0)) step();
    return this;
  }

  /** `choices` are for completion and help: other values are valid too. */
  takes(argument: Argument, choices: readonly string[] = []): this {
    if (choices.length > 0) argument.argChoices = [...choices];
    return this.addArgument(argument);
  }

  /** `Options` are the values that the parsers of the own options return. A `run` without an exit code ends with 0. */
  runs<Options extends object>(run: Run<Options>, traits: Traits = {}): this {
    this.traits = traits;
    this.run = async (invocation) =>
      (await run({ ...invocation, options: invocation.options as Options & SharedOptions })) ?? exitCodes.ok;
    return this;
  }

  /** `main` prints help itself. commander would open the streams to ask for colours and widths. */
  override outputHelp(): void {}

  /** The options that were typed, before the command or behind it, as texts, by commander's camelCase names. */
  get typed(): Readonly<Record<string, unknown>> {
    const values = Object.entries(this.opts());
    return Object.fromEntries(values.filter(([name]) => this.getOptionValueSource(name) === 'cli'));
  }

  /** The values of the options, with those that commander presets. @throws CliError for a wrong one */
  values(): Readonly<Record<string, unknown>> {
    const { typed } = this;
    const values = this.opts();
    for (const option of this.options) {
      const name = option.attributeName();
      const text = typed[name];
      if (text === undefined || !(option instanceof CliOption)) continue;
      const { parse, needed } = option;
      if (needed !== undefined && !(needed in typed)) throw usageError(`${option.long} requires --${needed}`);
      if (parse !== undefined && typeof text === 'string') values[name] = parse(text, `${option.long}`);
    }
    return values;
  }

  /** `['auth', 'login']`; empty for fxrates itself. */
  get path(): readonly string[] {
    return this.parent === null ? [] : [...this.parent.path, this.name()];
  }

  /** `fxrates auth login`. */
  get fullName(): string {
    return ['fxrates', ...this.path].join(' ');
  }

  /** Whether the words after `--` are a program with its own options. */
  get runsProgram(): boolean {
    return this.registeredArguments.some((argument) => argument.name().startsWith('--'));
  }

  get takesParameters(): boolean {
    return this.registeredArguments.some((argument) => argument.name() === 'name=value');
  }

  /** `<name> <value>`. */
  get syntax(): string {
    return this.registeredArguments.map(argumentText).join(' ');
  }

  /** The options that only this command has. Those of several commands are in a group. */
  get ownOptions(): readonly Option[] {
    return this.#visible().filter(({ helpGroupHeading }) => helpGroupHeading === undefined);
  }

  get sharedOptions(): readonly Option[] {
    return this.#visible().filter(({ helpGroupHeading }) => helpGroupHeading !== undefined);
  }

  /** With that of help. */
  #visible(): readonly Option[] {
    return this.createHelp().visibleOptions(this);
  }

  has(long: string): boolean {
    return this.options.some((option) => option.long === long && !option.hidden);
  }

  /** The subcommand at that path; `undefined` if it does not exist. */
  find(path: readonly string[]): CliCommand | undefined {
    const [name, ...rest] = path;
    return name === undefined ? this.ready() : this.commands.find((child) => child.name() === name)?.find(rest);
  }

  all(): readonly CliCommand[] {
    return [this.ready(), ...this.commands.flatMap((child) => child.all())];
  }
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}
