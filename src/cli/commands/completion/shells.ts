import { join } from 'node:path';
import type { Io } from '../../io.ts';
import { homeFolder, userFolder } from '../../storage/folders.ts';
import { bashScript, fishScript, powershellScript, zshScript } from './scripts.ts';

interface Shell {
  readonly title: string;
  readonly script: string;
  /** Where the script goes. */
  readonly scriptPath: (folders: Folders) => string;
  /** What the shell needs besides, when it does not look there by itself. */
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

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type ShellName = (typeof SHELLS)[number];

export const shells: Readonly<Record<ShellName, Shell>> = {
  bash: {
    title: 'bash',
    script: bashScript,
    scriptPath: ({ data }) => join(data, 'bash-completion', 'completions', 'fxrates'),
    setting: ({ home, data }) => ({
      path: join(home, '.bashrc'),
      line: `source '${join(data, 'bash-completion', 'completions', 'fxrates')}'`,
    }),
  },
  zsh: {
    title: 'zsh',
    script: zshScript,
    scriptPath: ({ data }) => join(data, 'zsh', 'site-functions', '_fxrates'),
    setting: ({ home, data }) => ({
      path: join(home, '.zshrc'),
      line: `fpath=('${join(data, 'zsh', 'site-functions')}' $fpath); autoload -U compinit; compinit`,
    }),
  },
  fish: {
    title: 'fish',
    script: fishScript,
    scriptPath: ({ config }) => join(config, 'fish', 'completions', 'fxrates.fish'),
  },
  powershell: {
    title: 'PowerShell',
    script: powershellScript,
    scriptPath: ({ powershell }) => join(powershell, 'fxrates-completion.ps1'),
    setting: ({ powershell }) => ({
      path: join(powershell, 'profile.ps1'),
      line: `. '${join(powershell, 'fxrates-completion.ps1')}'`,
    }),
  },
};

/** `undefined` when there is no home to keep anything in. */
export function foldersOf(env: Io['env']): Folders | undefined {
  const [home, data, config] = [homeFolder(env), userFolder('data', env), userFolder('config', env)];
  if (home === undefined || data === undefined || config === undefined) return undefined;
  // Windows has the profiles of PowerShell among the documents.
  const powershell = env['APPDATA'] ? join(home, 'Documents', 'PowerShell') : join(config, 'powershell');
  return { home, data, config, powershell };
}
