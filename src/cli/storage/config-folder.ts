import { isAbsolute, join } from 'node:path';
import type { Io } from '../io.ts';

/** Where config.json and credentials.json are; `undefined` when there is no home to keep them in. */
export function configFolder({ FXRATES_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA, HOME }: Io['env']): string | undefined {
  if (FXRATES_CONFIG_DIR) return FXRATES_CONFIG_DIR;
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'fxrates'); // a relative one is to be ignored
  if (APPDATA) return join(APPDATA, 'fxrates');
  return HOME ? join(HOME, '.config', 'fxrates') : undefined;
}
