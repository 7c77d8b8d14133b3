import { Argument } from 'commander';
import { nearestName } from '../../nearest-name.ts';
import { CliCommand } from '../command.ts';
import { usageError } from '../errors/cli-error.ts';
import { exitCodeMeanings, exitCodes } from '../exit-codes.ts';
import { type HelpEntry, helpText, optionGroups, paragraphs, twoColumns } from '../help.ts';
import { helpOption, sharedOptions } from '../options.ts';
import { CONFIG_SETTINGS } from '../settings/settings.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { commandLine, wrap } from '../terminal/text.ts';

/** A page of `fxrates help <topic>`. */
interface Topic {
  readonly intro: string;
  readonly entries: readonly HelpEntry[];
}

export const topics: Readonly<Record<string, Topic>> = {
  options: {
    intro:
      'Shared options can precede or follow the command. A command rejects options that do not apply to it, such as --timeout if it sends nothing.',
    entries: [], // in groups
  },
  'exit-codes': {
    intro: 'The numbers are stable. A new cause gets a new number.',
    entries: exitCodeMeanings.map(([code, name, meaning]) => ({
      term: `${String(code).padStart(3)}  ${name}`,
      text: meaning,
    })),
  },
  environment: {
    intro:
      'An option overrides its variable, a variable overrides config.json, and config.json overrides the default. An empty variable is ignored.',
    entries: [
      ...Object.entries(CONFIG_SETTINGS).flatMap(([name, { variable }]) =>
        variable === undefined ? [] : [{ term: `FXRATES_${name.toUpperCase()}`, text: variable }],
      ),
      { term: 'FXRATES_API_KEY', text: 'the API key; --key-stdin and --key-file come first' },
      { term: 'FXRATES_API_KEY_FILE', text: 'file with the API key, when FXRATES_API_KEY is not set' },
      { term: 'FXRATES_CONFIG_DIR', text: 'folder of config.json and credentials.json' },
      {
        term: 'XDG_CONFIG_HOME, XDG_CACHE_HOME',
        text: 'folders of fxrates/config.json and of cached responses; on Windows APPDATA, LOCALAPPDATA',
      },
      {
        term: 'XDG_STATE_HOME',
        text: 'folder of fxrates/limits, where commands share the limit; on Windows LOCALAPPDATA',
      },
      { term: 'FXRATES_MOCK_ADMIN_TOKEN', text: 'admin token of fxrates mock (default: random)' },
      { term: 'FXRATES_NO_INPUT, CI', text: '1: disable prompts (--no-input)' },
      { term: 'FXRATES_DEBUG', text: '1: same as -v, 2: same as -vv' },
      {
        term: 'HTTPS_PROXY, HTTP_PROXY, ALL_PROXY',
        text: 'proxy to use, except for hosts in NO_PROXY and for this machine',
      },
      { term: 'NODE_EXTRA_CA_CERTS', text: 'file with additional certificates to trust' },
      { term: 'NO_COLOR', text: 'not empty: no colour; overrides FORCE_COLOR' },
      {
        term: 'FORCE_COLOR, CLICOLOR_FORCE',
        text: 'colour in a pipe, except in data; --color always colours data, too',
      },
      { term: 'TZ', text: 'time zone of times for people; data is in UTC' },
    ],
  },
};

/** `commandNames`: those of the other commands. */
export function helpCommand(commandNames: readonly string[]): CliCommand {
  const command: CliCommand = new CliCommand('help')
    .about({
      summary: 'help about a command or a topic',
      description: 'Prints help about a command or a topic.',
      examples: [
        { command: 'fxrates help latest', comment: '' },
        { command: 'fxrates help exit-codes', comment: '' },
      ],
    })
    .takes(new Argument('[topic...]', 'a command or a topic'), [...commandNames, ...Object.keys(topics)])
    .runs(async ({ args, screen }) => {
      const program = command.parent ?? command;
      const text = pageOf(program, args, screen.help);
      if (text === undefined) throw unknownTopic(args, program);
      await screen.printText(text);
      return exitCodes.ok;
    });
  return command;
}

function pageOf(program: CliCommand, path: readonly string[], style: StreamStyle): string | undefined {
  const [name = '', ...rest] = path;
  const topic = Object.hasOwn(topics, name) && rest.length === 0 ? topics[name] : undefined;
  if (topic !== undefined) return topicText(topic, style);
  const command = program.find(path);
  return command && helpText(command, style);
}

function topicText({ intro, entries }: Topic, style: StreamStyle): string {
  const { columns, palette } = style;
  const blocks =
    entries.length === 0
      ? optionGroups([...sharedOptions(), helpOption()], style)
      : [twoColumns(entries, { columns, paintTerm: palette.command })];
  return paragraphs([wrap(intro, columns), ...blocks]);
}

function unknownTopic(path: readonly string[], program: CliCommand): Error {
  const names = (program.find(path.slice(0, -1))?.commands ?? []).map((command) => command.name());
  const known = path.length === 1 ? [...names, ...Object.keys(topics)] : names;
  const nearest = nearestName(path.at(-1) ?? '', known);
  const hints =
    nearest === undefined
      ? [`Topics: ${Object.keys(topics).join(', ')}`, 'Commands: fxrates --help']
      : [`Did you mean ${commandLine(['help', ...path.slice(0, -1), nearest])}?`];
  return usageError(`no help about '${path.join(' ')}'`, undefined, hints);
}
