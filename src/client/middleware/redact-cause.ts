import { inspect } from 'node:util';
import type { ApiKey } from '../keys/api-key.ts';

/** The error itself when nothing in it shows the key; else a copy of its text without the key (a `fetch` may put the URL into it). */
export function redactCause(error: unknown, key: ApiKey): unknown {
  const shown = inspect(error, { depth: 10, showHidden: true });
  if (key.redact(shown) === shown) return error;
  const copy = new Error(key.redact(error instanceof Error ? error.message : shown));
  copy.stack = key.redact(error instanceof Error ? (error.stack ?? '') : shown);
  return copy;
}
