import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import type { Env } from '../io/io.ts';

/** The variable of the XDG specification, that of Windows, and the folder under the home for each kind of file. */
const FOLDERS = {
  config: { xdg: 'XDG_CONFIG_HOME', windows: 'APPDATA', underHome: '.config' },
  cache: { xdg: 'XDG_CACHE_HOME', windows: 'LOCALAPPDATA', underHome: '.cache' },
  state: { xdg: 'XDG_STATE_HOME', windows: 'LOCALAPPDATA', underHome: join('.local', 'state') },
} as const;

type Platform = typeof process.platform;

function homeFolder({ HOME, USERPROFILE }: Env): string | undefined {
  return HOME || USERPROFILE || undefined;
}

/** The folder for such files of all programs; `undefined` if the environment has no home folder. */
function userFolder(kind: keyof typeof FOLDERS, env: Env, platform: Platform): string | undefined {
  const { xdg, windows, underHome } = FOLDERS[kind];
  const folder = env[xdg];
  if (folder && isAbsolute(folder)) return folder; // the specification says to ignore a relative one
  const home = homeFolder(env);
  const ofWindows = platform === 'win32' && env[windows]; // WSL passes it on to Linux
  return ofWindows || (home === undefined ? undefined : join(home, underHome));
}

/** The folder of config.json and credentials.json. */
export function configFolder(env: Env, platform: Platform = process.platform): string | undefined {
  const folder = env['FXRATES_CONFIG_DIR'];
  if (!folder) return pathIn(userFolder('config', env, platform), 'fxrates');
  return withHome(folder, env);
}

/** The path in a variable. No shell expands `~` between quotes, in .env files and in YAML. */
export function withHome(path: string, env: Env): string {
  const inHome = /^~(?:[/\\](.*))?$/s.exec(path);
  const home = homeFolder(env);
  return inHome === null || home === undefined ? path : join(home, inHome[1] ?? '');
}

/** The folder of cached responses. */
export function cacheFolder(env: Env, platform: Platform = process.platform): string | undefined {
  return pathIn(userFolder('cache', env, platform), 'fxrates');
}

/** `compileCache` of `node:module`, as far as this version of Node.js has it (22.1 and later). */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/**
 * Makes Node.js store compiled code in the user's own folder, because others can write to its default, which is the folder
 * for temporary files. If that is not possible, or there is no home folder, each start compiles the code again.
 */
export function useCompileCache(env: Env, { enableCompileCache } = module as CompileCache): void {
  const parent = cacheFolder(env);
  if (parent === undefined || enableCompileCache === undefined) return;
  try {
    // Not `recursive`, which never returns for a path below `/proc`, and creates a home folder that is not there.
    for (const path of [dirname(parent), parent]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    enableCompileCache(join(parent, 'compiled'));
  } catch {
    // The cache is not worth an error.
  }
}

/** The folder of the state between commands. `undefined` also if the home folder cannot be entered. */
export function stateFolder(env: Env, platform: Platform = process.platform): string | undefined {
  const home = homeFolder(env);
  const isUsable = home === undefined || isEnterable(home) || env['XDG_STATE_HOME'] || platform === 'win32';
  return isUsable ? pathIn(userFolder('state', env, platform), 'fxrates') : undefined;
}

/** False also for the home of another user, such as after `docker run -u` and `sudo -u`. */
function isEnterable(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** `undefined` without a folder. */
export function pathIn(folder: string | undefined, name: string): string | undefined {
  return folder === undefined ? undefined : join(folder, name);
}
