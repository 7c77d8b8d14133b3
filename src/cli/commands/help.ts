import type { CommandSpec } from '../command-spec.ts';
import { usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { paragraphs } from '../help/command-help.ts';
import { type Topic, topics } from '../help/topics.ts';
import { twoColumns } from '../help/two-columns.ts';
import type { Face } from '../terminal/screen.ts';
import { wrap } from '../terminal/wrap.ts';

/** Help of the program, or of the command with that path; `undefined` when there is none. */
export type RenderHelp = (path: readonly string[]) => string | undefined;

export function helpCommand(render: RenderHelp): CommandSpec {
  return {
    name: 'help',
    summary: 'help about a command or a topic',
    description: 'Prints help about a command or a topic.',
    argument: { syntax: '[topic...]', description: 'a command or a topic' },
    examples: [
      { command: 'fxrates help latest', comment: '' },
      { command: 'fxrates help exit-codes', comment: '' },
    ],
    asksService: false,
    run: async ({ args, screen }) => {
      const [name] = args;
      const topic = topics[name ?? ''];
      const text = topic === undefined ? render(args) : topicText(topic, screen.help);
      if (text === undefined) throw unknownTopic(args.join(' '));
      await screen.tell(text);
      return exitCodes.ok;
    },
  };
}

function topicText({ intro, entries }: Topic, { columns, palette }: Face): string {
  return paragraphs([wrap(intro, columns), twoColumns(entries, { columns, paintTerm: palette.command })]);
}

function unknownTopic(name: string): Error {
  return usageError(`no help about '${name}'`, undefined, [
    `Topics: ${Object.keys(topics).join(', ')}`,
    'Commands: fxrates --help',
  ]);
}
