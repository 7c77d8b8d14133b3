import { Option } from 'commander';
import { apiKeyPattern } from '../generated/service.ts';
import { usageError } from './errors/cli-error.ts';
import type { Invocation } from './invocation.ts';
import type { Query } from './request/send-request.ts';

const KEY_LIKE = new RegExp(apiKeyPattern.replace(/^\^|\$$/g, ''));

export const parameterArgument = { syntax: '[name=value...]', description: 'parameters, sent as they are' };

/** `-p base=USD`, for a parameter whose name looks like an option. */
export function parameterOption(): Option {
  return new Option('-p, --param <name=value>', 'a parameter (repeatable); same as name=value').argParser(
    (value: string, values: readonly string[] = []) => [...values, value],
  );
}

/** Parameters typed as arguments, then those typed with `-p`. */
export function typedParameters({ args, options }: Pick<Invocation, 'args' | 'options'>): Query {
  const extra = options['param'];
  return parseParameters([...args, ...(Array.isArray(extra) ? extra : [])]);
}

/**
 * The query of `name=value` texts. The first `=` splits; a repeated name becomes a list; nothing is checked or changed,
 * because the service documents no parameters. @throws CliError for what is no parameter, and for the API key
 */
export function parseParameters(texts: readonly string[]): Query {
  const query = new Map<string, string | string[]>();
  for (const text of texts) {
    const { name, value } = parseParameter(text);
    const earlier = query.get(name);
    query.set(name, earlier === undefined ? value : [earlier, value].flat());
  }
  return Object.fromEntries(query);
}

/** Keeps the key out of URLs, which end up in logs; never repeats the value. */
export function refuseKey(name: string, value: string): void {
  if (plainName(name) === 'apikey') {
    throw usageError(
      `refusing to send '${name}' as a parameter`,
      'URLs end up in logs; the key is already sent in a header',
    );
  }
  if (KEY_LIKE.test(value)) {
    throw usageError(`refusing to send the value of '${name}'`, 'it looks like an API key, and URLs end up in logs');
  }
}

function parseParameter(text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=');
  if (at === -1 && KEY_LIKE.test(text)) {
    throw usageError('refusing an argument that looks like an API key', 'it is visible to other users now', [
      'Use FXRATES_API_KEY, --key-file or --key-stdin. Consider that key exposed: create a new one and revoke it.',
    ]);
  }
  if (at < 1) throw usageError(`'${text}' is not a parameter`, 'parameters are written name=value, e.g. base=USD');
  const name = text.slice(0, at);
  const value = text.slice(at + 1);
  refuseKey(name, value);
  return { name, value };
}

/** `API_KEY`, `api-key` and `api%5Fkey` are one name. */
function plainName(name: string): string {
  return decoded(name)
    .toLowerCase()
    .replace(/[-_\s]/g, '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not percent-encoded; sent as it is
  }
}
