import { type Command, Option } from 'commander';
import type { CommandSpec } from '../command.ts';

/** The options that a command has a use for: its own, then the global ones, in the order of their declaration. */
export function usefulOptions(command: Command, spec: CommandSpec): readonly Option[] {
  const global = globalOptionsOf(command).filter((option) => isOfUse(option, spec));
  return [...command.options, ...global, helpOption()];
}

/** Commander keeps its own to itself. */
export function helpOption(): Option {
  return new Option('-h, --help', 'print help').helpGroup('General');
}

/** Only commands that ask the service have a use for connection and waiting. */
function isOfUse({ helpGroupHeading, long }: Option, spec: CommandSpec): boolean {
  if (long === '--dry-run' || long === '--curl') return spec.sendsRequest ?? false;
  if (long === '--get' || long === '--output') return spec.printsData ?? false;
  if (long === '--profile' && spec.usesConfig) return true;
  return spec.callsService || helpGroupHeading === 'General' || helpGroupHeading === 'Output';
}

/** The options of the program itself. */
export function globalOptionsOf({ parent, options }: Command): readonly Option[] {
  return parent === null ? options : globalOptionsOf(parent);
}
