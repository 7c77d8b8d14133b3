import { inspect } from 'node:util';
import type { ClientSettings } from '../config/settings.ts';
import type { AnyOptions } from '../options.ts';

/** Options by their names. */
type Named = Readonly<Record<string, unknown>>;

/** The options that the calls of one key share with its limit. Without a queue each client keeps its own longest wait. */
export function sharedOptions({ rateLimit, maxRetryAfterMs, retryAfterUnit }: AnyOptions | ClientSettings): Named {
  if (rateLimit === false) return { retryAfterUnit };
  const limit = Object.entries(rateLimit ?? {}).map(([name, value]) => [`rateLimit.${name}`, value]);
  return { ...Object.fromEntries(limit), maxRetryAfterMs, retryAfterUnit };
}

/** A warning of the options that have no effect, because an earlier client of the key set them; `undefined` if there are none. */
export function ignoredOptions(given: Named, { key, options }: { key: string; options: Named }): string | undefined {
  const names = Object.keys(given).filter((name) => given[name] !== undefined && given[name] !== options[name]);
  if (names.length === 0) return undefined;
  const list = names.map((name) => `${name}: ${shown(given[name])} (in use: ${shown(options[name])})`).join(', ');
  return `${list}: ignored, because all clients of key ${key} in this process share one limit, with the options of the first client; pass the same options to each`;
}

function shown(value: unknown): string {
  return inspect(value, { depth: -1 });
}
