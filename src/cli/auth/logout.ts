import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { ownSetting, readConfig } from '../storage/config-file.ts';
import { readCredential, removeCredential } from '../storage/credentials.ts';

/** Removes the stored key of the profile; that there is none is no failure. */
export async function logout({ io, screen, settings: { profile } }: Invocation): Promise<number> {
  const credential = await readCredential(io.env, profile);
  if (credential === undefined) {
    await screen.info(`fxrates: no key is stored for profile ${profile}\n`);
    return exitCodes.ok;
  }
  const path = await removeCredential(io, profile);
  await screen.info(`fxrates: key of profile ${profile} removed from ${path}; it stays valid until it is revoked\n`);
  const config = await readConfig(io.env);
  const isKept = ownSetting(config, 'base_url', profile) !== undefined;
  if (isKept) await screen.info(`fxrates: base URL kept in ${config.path}\n`);
  return exitCodes.ok;
}
