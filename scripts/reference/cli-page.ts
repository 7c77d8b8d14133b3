import { allCommands, type CommandNode, type OptionNode } from '../../src/cli/command-tree.ts';
import { topics } from '../../src/cli/commands/help/topics.ts';
import { exitCodeMeanings } from '../../src/cli/exit-codes.ts';
import type { Entry } from '../../src/cli/help/page.ts';
import { programTree } from '../../src/cli/program.ts';
import { CONFIG_SETTINGS, resolveSettings } from '../../src/cli/settings/settings.ts';
import { anchorOf, blocks } from './write-declarations.ts';

/** Commands and their options from the tree that `fxrates help --json` prints, followed by the topics of the help. */
export function cliPage(): string {
  const tree = programTree();
  const [, ...commands] = allCommands(tree);
  const { options, 'exit-codes': exitCodes, environment, ...others } = topics;
  return blocks([
    '# Command line: reference',
    INTRO,
    `Commands: ${commands.map((command) => `[${command.path.join(' ')}](#${anchorOf(titleOf(command))})`).join(', ')}.`,
    '## Commands',
    ...commands.map((command) => writeCommand(command, tree)),
    '## Shared options',
    options?.intro ?? '',
    ...groupsOf(tree.options).map(([group, grouped]) => blocks([`### ${group}`, optionList(grouped)])),
    '## Settings',
    SETTINGS_INTRO,
    settingsTable(tree),
    '## Environment variables',
    environment?.intro ?? '',
    termList(environment?.entries ?? []),
    '## Exit codes',
    exitCodes?.intro ?? '',
    ['| code | name | meaning |', '|---|---|---|', ...exitCodeMeanings.map((row) => `| ${row.join(' | ')} |`)].join(
      '\n',
    ),
    ...Object.values(others).map(({ title, intro, entries }) =>
      blocks([`## ${title.charAt(0).toUpperCase()}${title.slice(1)}`, intro, termList(entries)]),
    ),
  ]);
}

const INTRO = `Every command, option, setting, variable and exit code of \`fxrates\`; \`fxrates help --json\` prints them as JSON. For
their use, see [cli.md](../cli.md).`;

const SETTINGS_INTRO = `\`fxrates config set <name> <value>\` stores a setting in config.json. The option comes first, then the variable, the
setting of the profile, the setting for all profiles, and the default.`;

function titleOf({ path, argument }: CommandNode): string {
  return `\`${['fxrates', ...path, ...(argument ? [argument.syntax] : [])].join(' ')}\``;
}

function writeCommand(command: CommandNode, tree: CommandNode): string {
  const { description, argument, options, examples, notes, commands } = command;
  const shared = new Set(tree.options.map(longName));
  const own = options.filter((option) => !shared.has(longName(option)));
  const names = options.map(longName).filter((name) => shared.has(name) && !EVERYWHERE.includes(name));
  const subcommands = commands.map(({ path }) => `\`${path.at(-1)}\``);
  return blocks([
    `### ${titleOf(command)}`,
    description,
    ...notes,
    argument === undefined ? '' : `\`${argument.syntax}\`: ${argument.description}.`,
    optionList(own),
    names.length === 0 ? '' : `[Shared options](#shared-options): ${names.map((name) => `\`${name}\``).join(', ')}.`,
    subcommands.length === 0 ? '' : `Subcommands: ${subcommands.join(', ')}.`,
    examples.length === 0 ? '' : `\`\`\`sh\n${examples.map(exampleLine).join('\n')}\n\`\`\``,
  ]);
}

/** Options of every command, which the page does not repeat. */
const EVERYWHERE = ['--help', '--version'];

function exampleLine({ command, comment }: CommandNode['examples'][number]): string {
  return comment === '' ? command : `${command}  # ${comment}`;
}

function optionList(options: readonly OptionNode[]): string {
  return options.map((option) => `- ${optionText(option)}`).join('\n');
}

function optionText({ names, value, isValueOptional, choices, description }: OptionNode): string {
  const argument = value === undefined ? '' : isValueOptional ? ` [${value}]` : ` <${value}>`;
  const isListed = choices.every((choice) => description.includes(choice));
  const values = isListed ? '' : ` Values: ${choices.map((choice) => `\`${choice}\``).join(', ')}.`;
  return `\`${names.join(', ')}${argument}\`: ${description}.${values}`;
}

function groupsOf(options: readonly OptionNode[]): (readonly [string, readonly OptionNode[]])[] {
  const groups = new Set(options.map(({ group }) => group));
  return Array.from(groups, (group) => [group, options.filter((option) => option.group === group)] as const);
}

/** A setting is an option in snake case. A setting without an option appears only in the topic of variables. */
function settingsTable(tree: CommandNode): string {
  const variables = new Map(topics['environment']?.entries.map(({ term, text }) => [term, text]));
  const defaults = defaultSettings();
  const rows = Object.keys(CONFIG_SETTINGS).map((name) => {
    const option = tree.options.find((known) => longName(known) === `--${name.replaceAll('_', '-')}`);
    const variable = `FXRATES_${name.toUpperCase()}`;
    const text = variables.get(variable)?.replace(/ \(--[\w-]+\)$/, '') ?? option?.description ?? '';
    const cells = [
      `\`${name}\``,
      option === undefined ? 'none' : `\`${longName(option)}\``,
      variables.has(variable) ? `\`${variable}\`` : 'none',
      defaults[name] === undefined ? 'none' : `\`${defaults[name]}\``,
      text,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| setting | option | variable | default | what it is |', '|---|---|---|---|---|', ...rows].join('\n');
}

/** The value of each setting without options, variables and files, written like a setting. */
function defaultSettings(): Readonly<Record<string, string | undefined>> {
  const { output, profile, timeoutMs, retries, maxWaitMs, shareLimit, color } = resolveSettings(
    { wait: true, input: true },
    {},
  );
  const times = { timeout: `${timeoutMs / 1000}s`, max_wait: `${maxWaitMs / 1000}s` };
  return { output, profile, ...times, retries: String(retries), share_limit: shareLimit ? 'on' : 'off', color };
}

/** Options, commands and variables as code. Some terms of the topics are ordinary words. */
function termList(entries: readonly Entry[]): string {
  return entries
    .map(
      ({ term, text }) => `- ${/^-|^fxrates |^[A-Z]| --|:\/\//.test(term) ? `\`${term}\`` : `**${term}**`}: ${text}.`,
    )
    .join('\n');
}

function longName({ names }: OptionNode): string {
  return names.at(-1) ?? '';
}
