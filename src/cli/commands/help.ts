import type { CommandSpec } from '../command-spec.ts';
import type { CommandNode } from '../command-tree.ts';
import { usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { helpJson } from '../help/help-json.ts';
import { paragraphs } from '../help/page.ts';
import { type Topic, topicOf, topics } from '../help/topics.ts';
import { twoColumns } from '../help/two-columns.ts';
import { readEarlyFlags } from '../settings/early-flags.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { wrap } from '../terminal/wrap.ts';

export interface HelpSource {
  /** Help of the program, or of the command with that path; `undefined` when there is none. */
  readonly render: (path: readonly string[]) => string | undefined;
  readonly tree: () => CommandNode;
  readonly commandNames: readonly string[];
}

export function helpCommand({ render, tree, commandNames }: HelpSource): CommandSpec {
  return {
    name: 'help',
    summary: 'help about a command or a topic',
    description: 'Prints help about a command or a topic.',
    argument: {
      syntax: '[topic...]',
      description: 'a command or a topic',
      choices: [...commandNames, ...Object.keys(topics)],
    },
    examples: [
      { command: 'fxrates help latest', comment: '' },
      { command: 'fxrates help exit-codes', comment: '' },
      { command: 'fxrates help --json', comment: 'every command, option, topic and exit code, for programs' },
    ],
    callsService: false,
    run: async ({ args, argv, screen }) => {
      // As typed: whoever likes JSON answers, and set FXRATES_OUTPUT, still reads help.
      const isJson = readEarlyFlags(argv, {}).output === 'json';
      const [name] = args;
      const topic = topicOf(name ?? '');
      const page = () => (topic === undefined ? render(args) : topicText(topic, screen.help));
      const text = isJson ? helpJson(tree(), args) : page();
      if (text === undefined) throw unknownTopic(args.join(' '));
      await (isJson ? screen.print(`${text}\n`) : screen.printText(text));
      return exitCodes.ok;
    },
  };
}

function topicText({ intro, entries }: Topic, { columns, palette }: StreamStyle): string {
  return paragraphs([wrap(intro, columns), twoColumns(entries, { columns, paintTerm: palette.command })]);
}

function unknownTopic(name: string): Error {
  return usageError(`no help about '${name}'`, undefined, [
    `Topics: ${Object.keys(topics).join(', ')}`,
    'Commands: fxrates --help',
  ]);
}
