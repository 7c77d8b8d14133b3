import type { CommandNode } from '../command-tree.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { wrap } from '../terminal/text.ts';
import { exampleLines, optionSections, paragraphs, section, twoColumns } from './page.ts';

const FIRST_STEPS = [
  { command: 'fxrates mock', comment: 'in one terminal: a local service, invented rates' },
  { command: 'fxrates quota', comment: 'in another, after its two export lines' },
  { command: 'fxrates latest base=USD', comment: 'parameters are written name=value' },
];

/** Help of the program, or of the command with that path; `undefined` if it does not exist. */
export function helpText(tree: CommandNode, path: readonly string[], style: StreamStyle): string | undefined {
  let node: CommandNode | undefined = tree;
  for (const name of path) node = node?.commands.find((child) => child.path.at(-1) === name);
  if (node === tree) return programHelp(tree, style);
  return node && commandHelp(node, style);
}

/** The help of `fxrates` and `fxrates --help`. */
function programHelp({ summary, commands: nodes }: CommandNode, style: StreamStyle): string {
  const { columns, palette } = style;
  const commands = nodes.map(({ path, summary: text }) => ({ term: path.at(-1) ?? '', text }));
  // `help` also has topics.
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

/** The help of a command: description, examples, its own options, and how to list the others. */
function commandHelp(command: CommandNode, style: StreamStyle): string {
  const { description, examples, commands, notes, options } = command;
  const { palette, columns } = style;
  const subcommands = commands.map(({ path, summary }) => ({ term: path.at(-1) ?? '', text: summary }));
  const shared = options.filter(({ isShared }) => isShared);
  const own = options.filter(({ isShared }) => !isShared);
  const groups = [...new Set(shared.map(({ group }) => group.toLowerCase()))];
  return paragraphs([
    wrap(description, columns),
    section('Examples', exampleLines(examples, style), style),
    usageLines(command).map((usage, index) => `${index === 0 ? palette.heading('Usage:') : '      '} ${usage}`),
    section('Commands', twoColumns(subcommands, { columns, paintTerm: palette.command }), style),
    ...notes.map((note) => wrap(note, columns)),
    ...optionSections(own, style),
    wrap(`More options (${groups.join(', ')}):  fxrates help options`, columns),
  ]);
}

/** The description, and the list of subcommands. */
function usageLines({ path, argument, commands, runs }: CommandNode): string[] {
  const name = ['fxrates', ...path].join(' ');
  const { syntax = '' } = argument ?? {};
  // After `--`, an option is one of the program to run.
  const words = syntax.startsWith('[--') ? [name, '[options]', syntax] : [name, syntax, '[options]'];
  return [
    ...(runs ? [words.filter((word) => word !== '').join(' ')] : []),
    ...(commands.length === 0 ? [] : [`${name} <command> [options]`]),
  ];
}
