import { checkBaseUrl } from './base-url.ts';
import { parseDuration } from './duration.ts';
import {
  parseColor,
  parseOutputFormat,
  parseProfile,
  parseRetries,
  parseSwitch,
  parseTimeout,
} from './global-options.ts';

/** What config.json may hold, each with what checks it. */
export const CONFIG_SETTINGS = {
  base_url: (text: string, source: string) => checkBaseUrl({ text, source }),
  profile: parseProfile,
  output: parseOutputFormat,
  timeout: parseTimeout,
  retries: parseRetries,
  max_wait: parseDuration,
  share_limit: parseSwitch,
  color: parseColor,
} satisfies Record<string, (text: string, label: string) => unknown>;

export type SettingName = keyof typeof CONFIG_SETTINGS;

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(CONFIG_SETTINGS, name);
}
