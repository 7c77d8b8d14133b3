import type { CommandSpec } from '../command.ts';
import { topics } from '../commands/help/topics.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { exampleLines, paragraphs, section } from './page.ts';
import { twoColumns } from './two-columns.ts';

export const PROGRAM_SUMMARY = 'Exchange rates on the command line.';

const FIRST_STEPS = [
  { command: 'fxrates mock', comment: 'in one terminal: a local service, invented rates' },
  { command: 'fxrates quota', comment: 'in another, after the two export lines it prints' },
  { command: 'fxrates latest base=USD', comment: 'parameters are written name=value' },
];

/** What bare `fxrates` and `fxrates --help` print. */
export function programHelp(specs: readonly CommandSpec[], style: StreamStyle): string {
  const { columns, palette } = style;
  const commands = specs.map(({ name, summary }) => ({ term: name, text: summary }));
  const paintTerm = palette.command;
  const more = [
    { term: 'fxrates help <command>', text: 'examples and options of one command' },
    { term: 'fxrates help <topic>', text: Object.keys(topics).join(', ') },
  ];
  return paragraphs([
    [PROGRAM_SUMMARY],
    [`${palette.heading('Usage:')} fxrates <command> [options]`],
    section('Commands', twoColumns(commands, { columns, paintTerm }), style),
    section('First steps', exampleLines(FIRST_STEPS, style), style),
    section('More', twoColumns(more, { columns, paintTerm }), style),
  ]);
}
