import type { Command } from 'commander';
import type { CommandSpec } from '../command.ts';
import { topics } from '../commands/help/topics.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { exampleLines, optionSections, paragraphs, section } from './page.ts';
import { twoColumns } from './two-columns.ts';
import { helpOption } from './useful-options.ts';

export const PROGRAM_SUMMARY = 'Exchange rates on the command line.';

const FIRST_STEPS = [
  { command: 'fxrates mock', comment: 'in one terminal: a local service, invented rates' },
  { command: 'fxrates quota', comment: 'in another, after the two export lines it prints' },
  { command: 'fxrates latest base=USD', comment: 'parameters are written name=value' },
];

/** What bare `fxrates` and `fxrates --help` print. */
export function programHelp(specs: readonly CommandSpec[], program: Command, style: StreamStyle): string {
  const { columns, palette } = style;
  const commands = specs.map(({ name, summary }) => ({ term: name, text: summary }));
  const paintTerm = palette.command;
  const topicEntries = Object.entries(topics).map(([name, { title }]) => ({
    term: `fxrates help ${name}`,
    text: title,
  }));
  return paragraphs([
    [PROGRAM_SUMMARY],
    [`${palette.heading('Usage:')} fxrates <command> [options]`],
    section('Commands', twoColumns(commands, { columns, paintTerm }), style),
    section('First steps', exampleLines(FIRST_STEPS, style), style),
    ...optionSections([...program.options, helpOption()], style),
    section(
      'More',
      twoColumns([{ term: 'fxrates help <command>', text: 'examples and options of one command' }, ...topicEntries], {
        columns,
        paintTerm,
      }),
      style,
    ),
  ]);
}
