import { Argument } from 'commander';
import { nearestName } from '../../nearest-name.ts';
import { usageError } from '../errors/cli-error.ts';
import { CliCommand } from '../parser/command.ts';
import { helpText, optionGroups, paragraphs } from '../parser/help-page.ts';
import { helpOption, sharedOptions } from '../parser/options.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { commandLine, wrap } from '../terminal/text.ts';

const OPTIONS = 'options';

/** `commandNames`: those of the other commands. */
export function helpCommand(commandNames: readonly string[]): CliCommand {
  const command: CliCommand = new CliCommand('help')
    .about({
      summary: 'help about a command, or about the shared options',
      description: 'Prints help about a command, or about the options that commands share.',
      examples: [
        { command: 'fxrates help latest', comment: '' },
        { command: 'fxrates help options', comment: 'the options that commands share' },
      ],
    })
    .takes(new Argument('[command...]', 'a command, or options'), [...commandNames, OPTIONS])
    .runs(async ({ args, screen }) => {
      const program = command.parent ?? command;
      const text = pageOf(program, args, screen.out);
      if (text === undefined) throw noPage(args, program);
      await screen.printText(text);
    });
  return command;
}

function pageOf(program: CliCommand, path: readonly string[], style: StreamStyle): string | undefined {
  if (path.join(' ') === OPTIONS) return optionsPage(style);
  const command = program.find(path);
  return command && helpText(command, style);
}

function optionsPage(style: StreamStyle): string {
  const intro =
    'Shared options can precede or follow the command. A command rejects options that do not apply to it, such as --timeout if it sends nothing.';
  return paragraphs([wrap(intro, style.columns), ...optionGroups([...sharedOptions(), helpOption()], style)]);
}

function noPage(path: readonly string[], program: CliCommand): Error {
  const names = (program.find(path.slice(0, -1))?.commands ?? []).map((command) => command.name());
  const nearest = nearestName(path.at(-1) ?? '', path.length === 1 ? [...names, OPTIONS] : names);
  const meant = nearest && `Did you mean ${commandLine(['help', ...path.slice(0, -1), nearest])}?`;
  return usageError(`no help about '${path.join(' ')}'`, undefined, [meant ?? 'Commands: fxrates --help']);
}
