import type { Option } from 'commander';
import type { CliCommand } from '../src/cli/parser/command.ts';
import { lowerFirst } from '../src/cli/terminal/text.ts';
import { VERSION } from '../src/version.ts';

/** The manual page in the roff of man(7), generated from the help. */
export function manPage(program: CliCommand): string {
  const [, ...commands] = program.all();
  return [
    `.TH FXRATES 1 "" "fxrates ${VERSION}" "User Commands"`,
    ...['.SH NAME', `fxrates \\- ${roff(lowerFirst(program.description()).replace(/\.$/, ''))}`],
    ...['.SH SYNOPSIS', '.B fxrates', '.I command', '[\\fIoptions\\fR]'],
    ...['.SH COMMANDS', ...commands.flatMap(commandEntry)],
    ...['.SH OPTIONS', ...[...program.sharedOptions, ...program.ownOptions].flatMap(optionTerm)],
    '',
  ].join('\n');
}

function commandEntry(command: CliCommand): string[] {
  const { fullName, syntax, parameters, ownOptions, examples, notes } = command;
  return [
    `.SS ${roff(`${fullName} ${syntax}`.trim())}`,
    roff(command.description()),
    ...parameters.flatMap(({ term, text }) => termLines(term, text)),
    ...ownOptions.flatMap(optionTerm),
    ...notes.flatMap((note) => ['.PP', roff(note)]),
    ...examples.flatMap((example) => termLines(example.command, example.comment)),
  ];
}

function optionTerm({ flags, description }: Option): string[] {
  return termLines(flags, description);
}

function termLines(term: string, text: string): string[] {
  return ['.TP', `.B ${roff(term)}`, ...(text === '' ? [] : [roff(text)])];
}

/** `text` as one line that roff prints as it is: an apostrophe or a full stop at its start would be a command. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...').replaceAll('"', '\\(dq');
  return escaped.replaceAll('\n', ' ').replace(/^(?=['.])/, '\\&');
}
