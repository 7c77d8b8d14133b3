import type { Command, Option } from 'commander';
import type { CommandSpec, Example } from '../command-spec.ts';
import type { Face } from '../terminal/screen.ts';
import { wrap } from '../terminal/wrap.ts';
import { type Entry, twoColumns, widestTerm } from './two-columns.ts';
import { usefulOptions } from './useful-options.ts';

/** What `fxrates <command> --help` prints: what it does, examples, then every option by its purpose. */
export function commandHelp(spec: CommandSpec, command: Command, face: Face): string {
  const { palette, columns } = face;
  const subcommands = (spec.commands ?? []).map(({ name, summary }) => ({ term: name, text: summary }));
  return paragraphs([
    wrap(spec.description, columns),
    section('Examples', exampleLines(spec.examples ?? [], face), face),
    usageLines(spec, pathOf(command)).map((usage, index) => {
      return `${index === 0 ? palette.heading('Usage:') : '      '} ${usage}`;
    }),
    section('Commands', twoColumns(subcommands, { columns, paintTerm: palette.command }), face),
    ...(spec.notes ?? []).map((note) => wrap(note, columns)),
    ...optionSections(usefulOptions(command, spec), face),
    section(
      'More',
      wrap('fxrates help exit-codes · fxrates help environment · fxrates help formatting', columns - 2).map(
        (line) => `  ${line}`,
      ),
      face,
    ),
  ]);
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
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The options in groups, in the order in which they were declared, with one left edge for all texts. */
export function optionSections(options: readonly Option[], face: Face): string[][] {
  const groups = new Map<string, Entry[]>();
  for (const { helpGroupHeading: group = 'Options', flags, short, description } of options) {
    const term = short === undefined ? `    ${flags}` : flags;
    groups.set(group, [...(groups.get(group) ?? []), { term, text: description }]);
  }
  const termWidth = widestTerm([...groups.values()].flat());
  const { columns, palette } = face;
  return [...groups].map(([group, entries]) =>
    section(group, twoColumns(entries, { columns, termWidth, paintTerm: palette.command }), face),
  );
}

export function section(title: string, lines: readonly string[], { palette }: Face): string[] {
  return lines.length === 0 ? [] : [palette.heading(title), ...lines];
}

export function paragraphs(blocks: readonly (readonly string[])[]): string {
  const filled = blocks.filter((block) => block.length > 0);
  return `${filled.map((block) => block.join('\n')).join('\n\n')}\n`;
}

export function exampleLines(examples: readonly Example[], { columns, palette }: Face): string[] {
  const widest = Math.max(0, ...examples.map(({ command }) => command.length));
  return examples.flatMap(({ command, comment }) => {
    const line = `  $ ${palette.command(command)}`;
    if (comment === '') return [line];
    const isBeside = widest + 4 + 3 + comment.length <= columns;
    if (isBeside) return [`${line}${' '.repeat(widest - command.length + 3)}${palette.faint(comment)}`];
    return [...wrap(comment, columns - 4).map((text) => `  ${palette.faint(`# ${text}`)}`), line];
  });
}
