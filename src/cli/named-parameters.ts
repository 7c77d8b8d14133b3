import { Option } from 'commander';
import type { Operation, Parameter } from '../generated/operations.ts';
import { usageError } from './errors/cli-error.ts';
import type { Invocation } from './invocation.ts';
import { parseParameters } from './parameters.ts';
import type { Query, QueryValue } from './request/send-request.ts';
import { createGlobalOptions } from './settings/global-options.ts';

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
