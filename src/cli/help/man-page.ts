import { VERSION } from '../../version.ts';
import { allCommands, type CommandNode, type OptionNode } from '../command-tree.ts';
import { topics } from '../commands/help/topics.ts';
import { lowerFirst } from '../terminal/text.ts';

/** The manual page in the roff of man(7), generated from the help. */
export function manPage(tree: CommandNode): string {
  const [, ...commands] = allCommands(tree);
  const { options: _, ...pages } = topics; // `.SH OPTIONS` has them
  return [
    `.TH FXRATES 1 "" "fxrates ${VERSION}" "User Commands"`,
    ...['.SH NAME', `fxrates \\- ${roff(lowerFirst(tree.summary).replace(/\.$/, ''))}`],
    ...['.SH SYNOPSIS', '.B fxrates', '.I command', '[\\fIoptions\\fR]'],
    ...['.SH COMMANDS', ...commands.flatMap((command) => commandLines(command, tree))],
    ...['.SH OPTIONS', ...tree.options.flatMap(optionLines)],
    ...Object.values(pages).flatMap(({ title, intro, entries }) => [
      `.SH ${roff(title.toUpperCase())}`,
      roff(intro),
      ...entries.flatMap(({ term, text }) => ['.TP', `.B ${roff(term.trim())}`, roff(text)]),
    ]),
    '',
  ].join('\n');
}

function commandLines({ path, argument, description, options, examples, notes }: CommandNode, tree: CommandNode) {
  const shared = new Set(tree.options.map(({ names }) => names.at(-1)));
  const own = options.filter(({ names }) => !shared.has(names.at(-1)) && !names.includes('--help'));
  const usage = ['fxrates', ...path, argument?.syntax ?? ''].join(' ').trim();
  return [
    `.SS ${roff(usage)}`,
    roff(description),
    ...own.flatMap(optionLines),
    ...notes.flatMap((note) => ['.PP', roff(note)]),
    ...(examples.length === 0 ? [] : ['.PP', '.nf', ...examples.map(({ command }) => `.B ${roff(command)}`), '.fi']),
  ];
}

function optionLines({ names, value, isValueOptional, description }: OptionNode): string[] {
  const argument = value === undefined ? '' : isValueOptional ? ` [\\fI${roff(value)}\\fR]` : ` \\fI${roff(value)}\\fR`;
  return ['.TP', `${names.map((name) => `\\fB${roff(name)}\\fR`).join(', ')}${argument}`, roff(description)];
}

/** `text` as one line that roff prints as it is: an apostrophe or a full stop at its start would be a command. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replaceAll('"', '\\(dq');
  return escaped.replaceAll('\n', ' ').replace(/^(?=['.])/, '\\&');
}
