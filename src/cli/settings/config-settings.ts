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

/** What config.json may hold, each with what checks it; base_url belongs to a profile, the others to all. */
export const CONFIG_SETTINGS: Readonly<Record<string, (text: string, label: string) => unknown>> = {
  base_url: (text, source) => checkBaseUrl({ text, source }),
  profile: parseProfile,
  output: parseOutputFormat,
  timeout: parseTimeout,
  retries: parseRetries,
  max_wait: parseDuration,
  share_limit: parseSwitch,
  color: parseColor,
};
