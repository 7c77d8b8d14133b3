import type { Command } from 'commander';
import type { CommandSpec } from '../command.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { wrap } from '../terminal/text.ts';
import { exampleLines, optionSections, paragraphs, section } from './page.ts';
import { twoColumns } from './two-columns.ts';
import { usefulOptions } from './useful-options.ts';

/** What `fxrates <command> --help` prints: what it does, examples, its own options, and where the others are. */
export function commandHelp(spec: CommandSpec, command: Command, style: StreamStyle): string {
  const { palette, columns } = style;
  const subcommands = (spec.commands ?? []).map(({ name, summary }) => ({ term: name, text: summary }));
  return paragraphs([
    wrap(spec.description, columns),
    section('Examples', exampleLines(spec.examples ?? [], style), style),
    usageLines(spec, pathOf(command)).map((usage, index) => {
      return `${index === 0 ? palette.heading('Usage:') : '      '} ${usage}`;
    }),
    section('Commands', twoColumns(subcommands, { columns, paintTerm: palette.command }), style),
    ...(spec.notes ?? []).map((note) => wrap(note, columns)),
    ...optionSections(command.options, style),
    wrap(`More options (${groupsOfMore(spec, command).join(', ')}):  fxrates help options`, columns),
  ]);
}

/** What the options are about that it shares with other commands. */
function groupsOfMore(spec: CommandSpec, command: Command): readonly string[] {
  const shared = usefulOptions(command, spec).filter((option) => !command.options.includes(option));
  return [...new Set(shared.map(({ helpGroupHeading = 'Options' }) => helpGroupHeading.toLowerCase()))];
}

/** What it does itself, then that it has subcommands. */
function usageLines({ argument, commands, run }: CommandSpec, path: string): string[] {
  const { syntax = '' } = argument ?? {};
  // After `--` an option would belong to the program that is run.
  const words = syntax.startsWith('[--') ? [path, '[options]', syntax] : [path, syntax, '[options]'];
  return [
    ...(run === undefined ? [] : [words.filter((word) => word !== '').join(' ')]),
    ...(commands === undefined ? [] : [`${path} <command> [options]`]),
  ];
}

/** `fxrates auth login`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
