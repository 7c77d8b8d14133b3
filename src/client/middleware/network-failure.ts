import { inspect } from 'node:util';
import { FxRatesError } from '../errors/fxrates-error.ts';
import { networkAdvice } from '../errors/network-advice.ts';
import { NetworkError } from '../errors/network-error.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { KeyedRequest } from '../request.ts';

/** Errors nest a few deep, and `cause` can lead in a circle. */
const DEEPEST_CAUSE = 10;

/** What a transport threw, as one of the client's errors, without the key. */
export function networkFailure(error: unknown, { key, log }: KeyedRequest, baseUrl: string): FxRatesError {
  if (error instanceof FxRatesError) return error;
  const cause = withoutKey(error, key);
  const code = key.redact(codeOf(error) ?? '') || undefined;
  const why = code ?? innermostMessage(cause);
  const advice = networkAdvice(why);
  const message = `No valid HTTP response from ${new URL(baseUrl).host}: ${why}`;
  return new NetworkError(advice === undefined ? message : `${message}; ${advice}`, {
    cause,
    code,
    attempts: log.attempts,
  });
}

/** The error itself when nothing in it shows the key; else a copy of its text without the key (a `fetch` may put the URL into it). */
function withoutKey(error: unknown, key: ApiKey): unknown {
  const everything = { depth: DEEPEST_CAUSE, showHidden: true, maxArrayLength: null, maxStringLength: null } as const;
  const shown = inspect(error, everything);
  if (key.redact(shown) === shown) return error;
  const copy = new Error(key.redact(error instanceof Error ? error.message : shown));
  copy.stack = key.redact(error instanceof Error ? (error.stack ?? '') : shown);
  return copy;
}

/** Of a failed `fetch` the outer message says only that it failed. */
function innermostMessage(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && inner instanceof Error && inner.cause instanceof Error; depth += 1) {
    inner = inner.cause;
  }
  return inner instanceof Error ? inner.message : String(inner);
}

/** The system's or undici's code; `fetch` hides it one `cause` deeper. */
function codeOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    current = current.cause;
  }
  return undefined;
}
