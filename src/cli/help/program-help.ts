import type { CommandNode } from '../command-tree.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { exampleLines, paragraphs, section } from './page.ts';
import { twoColumns } from './two-columns.ts';

const FIRST_STEPS = [
  { command: 'fxrates mock', comment: 'in one terminal: a local service, invented rates' },
  { command: 'fxrates quota', comment: 'in another, after the two export lines it prints' },
  { command: 'fxrates latest base=USD', comment: 'parameters are written name=value' },
];

/** What bare `fxrates` and `fxrates --help` print. */
export function programHelp({ summary, commands: nodes }: CommandNode, style: StreamStyle): string {
  const { columns, palette } = style;
  const commands = nodes.map(({ path, summary: text }) => ({ term: path.at(-1) ?? '', text }));
  // `help` knows the topics besides the commands.
  const topics = nodes.flatMap(({ path: [name], argument }) => (name === 'help' ? (argument?.choices ?? []) : []));
  const paintTerm = palette.command;
  const more = [
    { term: 'fxrates help <command>', text: 'examples and options of one command' },
    {
      term: 'fxrates help <topic>',
      text: topics.filter((topic) => !commands.some(({ term }) => term === topic)).join(', '),
    },
  ];
  return paragraphs([
    [summary],
    [`${palette.heading('Usage:')} fxrates <command> [options]`],
    section('Commands', twoColumns(commands, { columns, paintTerm }), style),
    section('First steps', exampleLines(FIRST_STEPS, style), style),
    section('More', twoColumns(more, { columns, paintTerm }), style),
  ]);
}
