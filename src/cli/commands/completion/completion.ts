import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Argument, Option } from 'commander';
import { makeFolder, replaceFile } from '../../../replace-file.ts';
import { CliCommand, type Invocation } from '../../command.ts';
import { changedCommand, noFolder, storageError, systemReason, usageError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Env } from '../../io.ts';
import { homeFolder, userFolder } from '../../storage/folders.ts';
import { completionScripts } from './scripts.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
type ShellName = (typeof SHELLS)[number];

interface Shell {
  readonly title: string;
  readonly script: string;
  /** The file of the script. */
  readonly scriptPath: (folders: Folders) => string;
  /** A further step, if the shell does not load the file by itself. */
  readonly setting?: (folders: Folders) => { readonly path: string; readonly line: string };
}

interface Folders {
  readonly home: string;
  /** XDG_DATA_HOME. */
  readonly data: string;
  /** XDG_CONFIG_HOME. */
  readonly config: string;
  /** Of the profile of PowerShell. */
  readonly powershell: string;
}

const shells: Readonly<Record<ShellName, Shell>> = {
  bash: {
    title: 'bash',
    script: completionScripts.bash,
    scriptPath: ({ data }) => join(data, 'bash-completion', 'completions', 'fxrates'),
    setting: ({ home, data }) => ({
      path: join(home, '.bashrc'),
      line: `source '${join(data, 'bash-completion', 'completions', 'fxrates')}'`,
    }),
  },
  zsh: {
    title: 'zsh',
    script: completionScripts.zsh,
    scriptPath: ({ data }) => join(data, 'zsh', 'site-functions', '_fxrates'),
    setting: ({ home, data }) => ({
      path: join(home, '.zshrc'),
      line: `fpath=('${join(data, 'zsh', 'site-functions')}' $fpath); autoload -U compinit; compinit`,
    }),
  },
  fish: {
    title: 'fish',
    script: completionScripts.fish,
    scriptPath: ({ config }) => join(config, 'fish', 'completions', 'fxrates.fish'),
  },
  powershell: {
    title: 'PowerShell',
    script: completionScripts.powershell,
    scriptPath: ({ powershell }) => join(powershell, 'fxrates-completion.ps1'),
    setting: ({ powershell }) => ({
      path: join(powershell, 'profile.ps1'),
      line: `. '${join(powershell, 'fxrates-completion.ps1')}'`,
    }),
  },
};

interface InstallOptions {
  readonly yes?: boolean;
}

export function completionCommand(): CliCommand {
  const install = new CliCommand('install')
    .about({
      summary: 'install the script for your shell',
      description:
        'Writes the script to a file after a confirmation, and replaces an older script. If the shell needs a line in its settings, prints that line.',
      examples: [
        { command: 'fxrates completion install', comment: '' },
        { command: 'fxrates completion install fish --yes', comment: '' },
      ],
    })
    .takes(new Argument('[shell]', 'default: the shell in the variable SHELL'), SHELLS)
    .with(() => [new Option('-y, --yes', 'write without a confirmation')])
    .runs(installCompletion);
  const completion = new CliCommand('completion').about({
    summary: 'completion for bash, zsh, fish and PowerShell',
    description: 'Prints a script that lets your shell complete commands, options and values, or installs it.',
    examples: [
      { command: 'fxrates completion install', comment: 'for your shell, after a confirmation' },
      { command: 'source <(fxrates completion bash)', comment: 'for this session only' },
    ],
  });
  for (const command of [...SHELLS.map(printCommand), install]) completion.addCommand(command);
  return completion;
}

function printCommand(name: ShellName): CliCommand {
  const { title, script } = shells[name];
  return new CliCommand(name)
    .about({
      summary: `print the script for ${title}`,
      description: `Prints the completion script for ${title}.`,
      examples: [{ command: `fxrates completion ${name}`, comment: '' }],
    })
    .runs(async ({ screen }) => {
      await screen.print(script);
      return exitCodes.ok;
    });
}

/** Writes the script of a shell to its file. The settings of the shell itself are the user's: they are never touched. */
async function installCompletion(invocation: Invocation<InstallOptions>): Promise<number> {
  const { args, io, screen } = invocation;
  const folders = foldersOf(io.env);
  const shell = shellName(args[0], io.env['SHELL']);
  const hint = `To write it elsewhere:  fxrates completion ${shell} > file`;
  if (folders === undefined) throw noFolder({ hint });
  const { title, script, scriptPath, setting } = shells[shell];
  const path = scriptPath(folders);
  if ((await readIfThere(path)) === script) {
    await screen.remark(`${path} is up to date`);
  } else {
    await confirm(`The path of the completion script of ${title} is`, path, invocation);
    await write(path, script).catch(cannotInstall(path, hint));
    await screen.remark(`completion for ${title} written to ${path}; it takes effect in new sessions`);
  }
  const wanted = setting?.(folders);
  if (wanted !== undefined && !(await readIfThere(wanted.path))?.includes(wanted.line)) {
    await screen.remark(`if ${title} does not find it, add this line to ${wanted.path}:\n\n  ${wanted.line}`);
  }
  return exitCodes.ok;
}

function shellName(typed: string | undefined, variable: string | undefined): ShellName {
  const name = typed ?? basename(variable ?? '');
  const shell = SHELLS.find((candidate) => candidate === name);
  if (shell !== undefined) return shell;
  const what =
    typed === undefined ? `cannot identify your shell from SHELL='${variable ?? ''}'` : `no script for '${typed}'`;
  throw usageError(what, `expected one of ${SHELLS.join(', ')}`, ['fxrates completion install bash']);
}

async function confirm(
  what: string,
  path: string,
  { options, settings, io, screen, argv }: Invocation<InstallOptions>,
): Promise<void> {
  if (options.yes) return;
  if (!io.stdin.isTTY || !settings.mayAsk) {
    throw usageError(`${what} ${path}`, 'writing it requires a confirmation, and prompts are disabled', [
      `Without a prompt:  ${changedCommand(argv, { add: ['--yes'] })}`,
    ]);
  }
  await screen.error(`${what}\n  ${path}\nWrite it? [y/N] `);
  const answer = await io.stdin.firstLine(LONGEST_ANSWER);
  if (!/^y(es)?$/i.test(answer.trim())) throw usageError('nothing written');
}

const LONGEST_ANSWER = 100;

async function write(path: string, text: string): Promise<void> {
  await makeFolder(dirname(path));
  await replaceFile(path, text);
}

function cannotInstall(path: string, hint: string): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    throw storageError(`cannot write ${path}`, systemReason(cause), { cause, hint });
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** `undefined` without a home folder. */
function foldersOf(env: Env): Folders | undefined {
  const [home, data, config] = [homeFolder(env), userFolder('data', env), userFolder('config', env)];
  if (home === undefined || data === undefined || config === undefined) return undefined;
  // Windows has the profiles of PowerShell among the documents.
  const powershell = env['APPDATA'] ? join(home, 'Documents', 'PowerShell') : join(config, 'powershell');
  return { home, data, config, powershell };
}
