import { Option } from 'commander';
import type { Operation, Parameter } from '../generated/operations.ts';
import { apiKeyPattern } from '../generated/service.ts';
import type { Invocation } from './command.ts';
import { usageError } from './errors/cli-error.ts';
import type { Query, QueryValue } from './request/send-request.ts';
import { createGlobalOptions } from './settings/global-options.ts';

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
  if (text.startsWith('?')) {
    const plain = text.slice(1).split('&').join(' ');
    throw usageError(`'${text}' is not a parameter`, 'parameters are written without ? and &', [`e.g. ${plain}`]);
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

/** `--date <date>` for each parameter of the contract. One whose name is taken is still there as `date=…`. */
export function namedOptions({ parameters }: Operation): readonly Option[] {
  const taken = new Set(createGlobalOptions().map(({ long }) => long));
  return parameters.map(optionOf).filter(({ long }) => !taken.has(long));
}

/** What was typed as options over what was typed as name=value, checked against the contract's names. */
export function namedQuery(operation: Operation, typed: Query, options: Invocation['options']): Query {
  const query = new Map(Object.entries(typed));
  for (const parameter of operation.parameters) {
    const value = options[optionOf(parameter).attributeName()];
    if (typeof value !== 'string') continue;
    for (const [name, item] of Object.entries(parseParameters([`${parameter.name}=${value}`]))) query.set(name, item);
  }
  checkNames(operation, query);
  return Object.fromEntries(operation.parameters.flatMap((parameter) => entryOf(parameter, query.get(parameter.name))));
}

function optionOf({ name, description, required, type }: Parameter): Option {
  const long = name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase();
  const text = `${description.replace(/\.$/, '')}${required ? ' (required)' : ''}`;
  return new Option(`--${long} <${type === 'string' ? long : type}>`, text);
}

function checkNames({ id, parameters }: Operation, query: ReadonlyMap<string, unknown>): void {
  const names = parameters.map(({ name }) => name);
  const unknown = [...query.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw usageError(`${id} has no parameter '${unknown}'`, undefined, [`There are: ${names.join(', ')}`]);
  }
  const missing = parameters.find(({ name, required }) => required && !query.has(name));
  if (missing !== undefined) {
    throw usageError(`${id} needs the parameter '${missing.name}'`, undefined, [`fxrates ${id} ${missing.name}=…`]);
  }
}

/** The client checks types, and everything typed is text: a number that survives the way there and back becomes one. */
function entryOf({ name, type }: Parameter, value: Query[string] | undefined): readonly [string, Query[string]][] {
  if (value === undefined) return [];
  const convert = (text: QueryValue): QueryValue => {
    if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
    const isNumeric = (type === 'integer' || type === 'number') && String(Number(text)) === text;
    return isNumeric ? Number(text) : text;
  };
  return [[name, Array.isArray(value) ? value.map(convert) : convert(value as QueryValue)]];
}
