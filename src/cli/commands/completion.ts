import { Option } from 'commander';
import type { CommandSpec } from '../command-spec.ts';
import type { CommandNode } from '../command-tree.ts';
import { installCompletion } from '../completion/install.ts';
import { SHELLS, shells } from '../completion/shells.ts';
import { exitCodes } from '../exit-codes.ts';

/** The scripts are made from the command tree itself, so that they know what this very version takes. */
export function completionCommand(tree: () => CommandNode): CommandSpec {
  return {
    name: 'completion',
    summary: 'completion for bash, zsh, fish and PowerShell',
    description: 'Prints a script that lets your shell complete commands, options and values, or installs it.',
    examples: [
      { command: 'fxrates completion install', comment: 'for your shell; shows what it writes, and asks' },
      { command: 'source <(fxrates completion bash)', comment: 'for this session alone' },
    ],
    callsService: false,
    commands: [
      ...SHELLS.map((name) => printCommand(name, tree)),
      {
        name: 'install',
        summary: 'write the script where your shell looks for it',
        description:
          'Writes the script to a file of its own, after asking, and tells if the shell needs a line in its settings to find it. Does the same when it is there already.',
        argument: { syntax: '[shell]', description: 'default: that of the variable SHELL', choices: SHELLS },
        options: () => [new Option('-y, --yes', 'write without asking')],
        examples: [
          { command: 'fxrates completion install', comment: '' },
          { command: 'fxrates completion install fish --yes', comment: '' },
        ],
        callsService: false,
        run: (invocation) => installCompletion(tree(), invocation),
      },
    ],
  };
}

function printCommand(name: (typeof SHELLS)[number], tree: () => CommandNode): CommandSpec {
  const { title, script } = shells[name];
  return {
    name,
    summary: `print the script for ${title}`,
    description: `Prints the completion script for ${title}.`,
    examples: [{ command: `fxrates completion ${name}`, comment: '' }],
    callsService: false,
    run: async ({ screen }) => {
      await screen.print(script(tree()));
      return exitCodes.ok;
    },
  };
}
