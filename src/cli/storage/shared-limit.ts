import { join } from 'node:path';
import type { LimitStore } from '../../client/index.ts';
import type { Io } from '../io.ts';
import type { CliSettings } from '../settings/settings.ts';
import { stateFolder } from './folders.ts';

interface SharedLimit {
  readonly store: LimitStore;
  /** Whether a warning of the client is about this store. */
  isAbout(warning: string): boolean;
}

/** One for each folder and clock: a command can create several clients, and all of them share one store. */
const sharedLimits = new WeakMap<Io['clock'], Map<string, SharedLimit>>();

/**
 * The store in which the commands of a user share the limit of a key, so that `xargs -P 20 fxrates latest` sends no more
 * requests than one process. `undefined` without a home folder, and with FXRATES_SHARE_LIMIT=off.
 */
export async function sharedLimit(
  { env, clock }: Pick<Io, 'env' | 'clock'>,
  { shareLimit }: Pick<CliSettings, 'shareLimit'>,
): Promise<SharedLimit | undefined> {
  const folder = shareLimit ? stateFolder(env) : undefined;
  if (folder === undefined) return undefined;
  const ofClock = sharedLimits.get(clock) ?? new Map<string, SharedLimit>();
  const limit = ofClock.get(folder) ?? (await openLimit(join(folder, 'limits'), clock));
  sharedLimits.set(clock, ofClock.set(folder, limit));
  return limit;
}

async function openLimit(folder: string, clock: Io['clock']): Promise<SharedLimit> {
  const { fileStore } = await import('../../client/file-store/index.ts');
  const store = fileStore(folder, { clock });
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
