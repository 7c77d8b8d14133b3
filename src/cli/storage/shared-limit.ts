import { lstatSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { LimitStore } from '../../client/index.ts';
import type { Io } from '../io.ts';
import type { Settings } from '../settings/settings.ts';

interface SharedLimit {
  readonly store: LimitStore;
  /** Whether a warning of the client is about this store. */
  isAbout(warning: string): boolean;
}

/**
 * Where the commands of a user share the limit of a key, so that `xargs -P 20 fxrates latest` sends no more than one
 * process does. `undefined` without a home folder, and with FXRATES_SHARE_LIMIT=off.
 */
export async function sharedLimit(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  { shareLimit }: Pick<Settings, 'shareLimit'>,
): Promise<SharedLimit | undefined> {
  const folder = shareLimit ? stateFolder(env) : undefined;
  if (folder === undefined) return undefined;
  const { fileStore } = await import('../../client/file-store/index.ts');
  const store = fileStore(join(folder, 'limits'), { clock });
  let failure: string | undefined;
  return {
    store: {
      exchange: (name, known, offer) =>
        store.exchange(name, known, offer).catch((error: Error) => {
          failure = error.message;
          throw error;
        }),
    },
    isAbout: (warning) => failure !== undefined && warning.includes(failure),
  };
}

/** Where what commands learn is kept. `undefined` without a home folder: one that does not exist is not created. */
function stateFolder({ XDG_STATE_HOME, LOCALAPPDATA, HOME }: Io['env']): string | undefined {
  if (XDG_STATE_HOME && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'fxrates');
  if (LOCALAPPDATA) return join(LOCALAPPDATA, 'fxrates');
  const hasHome = HOME && lstatSync(HOME, { throwIfNoEntry: false }) !== undefined;
  return hasHome ? join(HOME, '.local', 'state', 'fxrates') : undefined;
}
