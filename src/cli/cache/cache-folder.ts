import { isAbsolute, join } from 'node:path';
import type { Io } from '../io.ts';

/** Where kept answers are; `undefined` when there is no home to keep them in. */
export function cacheFolder({ XDG_CACHE_HOME, LOCALAPPDATA, HOME }: Io['env']): string | undefined {
  if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) return join(XDG_CACHE_HOME, 'fxrates');
  if (LOCALAPPDATA) return join(LOCALAPPDATA, 'fxrates', 'cache');
  return HOME ? join(HOME, '.cache', 'fxrates') : undefined;
}
