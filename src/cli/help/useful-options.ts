import { type Command, Option } from 'commander';
import type { CommandSpec } from '../command-spec.ts';

/** The options that a command has a use for: its own, then the global ones, in the order of their declaration. */
export function usefulOptions(command: Command, spec: CommandSpec): readonly Option[] {
  const global = rootOf(command).options.filter((option) => isOfUse(option, spec));
  return [...command.options, ...global, helpOption()];
}

/** Commander keeps its own to itself. */
export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup('General');
}

/** Only commands that ask the service have a use for connection, waiting and the choice of a value. */
function isOfUse({ helpGroupHeading, long }: Option, { asksService, usesConfig }: CommandSpec): boolean {
  if (asksService || (usesConfig && long === '--profile')) return true;
  return helpGroupHeading === 'General' || (helpGroupHeading === 'Output' && long !== '--get' && long !== '--output');
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}
