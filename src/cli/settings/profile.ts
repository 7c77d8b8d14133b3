import { CliError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { type ConfigFile, profileNames } from '../storage/config-file.ts';
import { profilesWithKey } from '../storage/credentials.ts';
import type { CliSettings } from './settings.ts';

/** A misspelt profile would use other settings and another key. @throws CliError that lists the profiles */
export async function requireProfile(
  { profile }: Pick<CliSettings, 'profile'>,
  { config, env }: { readonly config: ConfigFile; readonly env: Io['env'] },
): Promise<void> {
  if (profile === 'default') return; // it needs no entry
  const withKey = await profilesWithKey(env).catch(() => [profile]); // the key itself is read later, with the reason
  const names = new Set([...profileNames(config), ...withKey]);
  if (names.has(profile)) return;
  throw new CliError(`there is no profile '${profile}'`, {
    code: 'unknown_profile',
    exitCode: exitCodes.config,
    why: names.size === 0 ? 'no profile is stored' : `stored profiles: ${[...names].sort().join(', ')}`,
    hints: [`Create it:  fxrates auth login --profile ${profile}`],
  });
}
