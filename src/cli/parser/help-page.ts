import type { Option } from 'commander';
import { OPTION_GROUPS } from '../settings/options.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { besideHead, wrap } from '../terminal/text.ts';
import type { CliCommand, Example, HelpEntry } from './command.ts';

const FIRST_STEPS = [
  { command: 'fxrates mock', comment: 'in one terminal: a local service, invented rates' },
  { command: 'fxrates quota', comment: 'in another, after its two export lines' },
  { command: 'fxrates latest base=USD', comment: 'parameters are written name=value' },
];

/** The help of a command: description, examples, usage, its own options, and how to list the others. */
export function helpText(command: CliCommand, style: StreamStyle): string {
  if (command.parent === null) return programHelp(command, style);
  const { palette, columns } = style;
  const shared = new Set(command.sharedOptions.map(({ helpGroupHeading }) => helpGroupHeading));
  const groups = OPTION_GROUPS.filter((group) => shared.has(group)).map((group) => group.toLowerCase());
  return paragraphs([
    wrap(command.description(), columns),
    section('Examples', exampleLines(command.examples, style), style),
    usageLines(command).flatMap((usage, index) =>
      besideHead(`${index === 0 ? palette.heading('Usage:') : '      '} `, wrap(usage, columns - 7), 7),
    ),
    section('Commands', commandLines(command.commands, style), style),
    ...command.notes.map((note) => wrap(note, columns)),
    section('Parameters', twoColumns(command.parameters, style), style),
    section('Options', optionLines(command.ownOptions, style), style),
    wrap(`More options (${groups.join(', ')}):  fxrates help options`, columns),
  ]);
}

function programHelp(program: CliCommand, style: StreamStyle): string {
  const { palette } = style;
  const more = [
    { term: 'fxrates help <command>', text: 'examples and options of one command' },
    { term: 'fxrates help options', text: 'the options that commands share' },
    { term: 'fxrates --version', text: 'the version' },
  ];
  return paragraphs([
    [program.description()],
    [`${palette.heading('Usage:')} fxrates <command> [options]`],
    section('Commands', commandLines(program.commands, style), style),
    section('First steps', exampleLines(FIRST_STEPS, style), style),
    section('More', twoColumns(more, style), style),
  ]);
}

function usageLines({ fullName, syntax, commands, run, runsProgram }: CliCommand): string[] {
  // After `--`, an option is one of the program to run.
  const words = runsProgram ? [fullName, '[options]', syntax] : [fullName, syntax, '[options]'];
  return [
    ...(run === undefined ? [] : [words.filter((word) => word !== '').join(' ')]),
    ...(commands.length === 0 ? [] : [`${fullName} <command> [options]`]),
  ];
}

function commandLines(commands: readonly CliCommand[], style: StreamStyle): string[] {
  const entries = commands.map((command) => ({ term: command.name(), text: command.summary() }));
  return twoColumns(entries, style);
}

/** The options in their groups, with one left edge for all texts. */
export function optionGroups(options: readonly Option[], style: StreamStyle): string[][] {
  const termWidth = widestTerm(options.map(optionEntry));
  return OPTION_GROUPS.map((group) => {
    const ofGroup = options.filter(({ helpGroupHeading }) => helpGroupHeading === group);
    return section(group, optionLines(ofGroup, style, termWidth), style);
  });
}

function optionLines(options: readonly Option[], style: StreamStyle, termWidth?: number): string[] {
  return twoColumns(options.map(optionEntry), style, termWidth);
}

function optionEntry({ short, flags, description }: Option): HelpEntry {
  return { term: `${short === undefined ? '    ' : ''}${flags}`, text: description };
}

/** A page of help: its blocks of lines, with a blank line between them. */
export function paragraphs(blocks: readonly (readonly string[])[]): string {
  const filled = blocks.filter((block) => block.length > 0);
  return `${filled.map((block) => block.join('\n')).join('\n\n')}\n`;
}

function section(title: string, lines: readonly string[], { palette }: StreamStyle): string[] {
  return lines.length === 0 ? [] : [palette.heading(title), ...lines];
}

function exampleLines(examples: readonly Example[], style: StreamStyle): string[] {
  const entries = examples.map(({ command, comment }) => ({ term: `$ ${command}`, text: comment }));
  return twoColumns(entries, style, widestTerm(entries, style.columns / 2 + 4));
}

/** A wider term gets a line of its own. */
const WIDEST_TERM = 28;
/** Below this width, the text is printed under its term. */
const NARROW = 60;

/** Terms on the left, their texts on the right; one under the other on a narrow screen. */
function twoColumns(
  entries: readonly HelpEntry[],
  { columns, palette: { command: paintTerm } }: StreamStyle,
  termWidth = widestTerm(entries),
): string[] {
  const isNarrow = columns < NARROW;
  const indent = isNarrow ? 6 : 4 + termWidth;
  return entries.flatMap(({ term, text }) => {
    if (text === '') return [`  ${paintTerm(term)}`];
    const lines = wrap(text, columns - indent);
    const isBeside = !isNarrow && term.length <= termWidth;
    const head = `  ${paintTerm(isNarrow ? term.trimStart() : term)}`;
    if (!isBeside) return besideHead(head, ['', ...lines], indent);
    return besideHead(head + ' '.repeat(indent - 2 - term.length), lines, indent);
  });
}

function widestTerm(entries: readonly HelpEntry[], most = WIDEST_TERM): number {
  return Math.max(0, ...entries.map(({ term }) => term.length).filter((width) => width <= most));
}
