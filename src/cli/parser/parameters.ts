import { Argument } from 'commander';
import { operations } from '../../generated/operations.ts';
import { CALL_OPTIONS, decodedComponent, type Operation, type Parameter, parameterValue } from '../../operation.ts';
import { holdsKey } from '../../redactor.ts';
import { type CliError, usageError } from '../errors/cli-error.ts';
import { repeatableOption, type ValuesOf } from '../settings/options.ts';
import type { Invocation, Query, QueryText } from '../settings/settings.ts';
import { quoteForShell } from '../terminal/text.ts';
import type { HelpEntry } from './command.ts';

export type ParamOptions = ValuesOf<typeof parameterOptions>;

/** The parameters in the examples of `latest`, if the service documents none. */
export const EXAMPLE_NAMES = ['base', 'symbols'];

/** `base=USD`. `ofOperations`: those that the parameters can belong to. */
export function parametersArgument(ofOperations: readonly Operation[], description?: string): Argument {
  const argument = new Argument('[name=value...]', description);
  argument.argChoices = ofOperations.flatMap(wordsOf);
  return argument;
}

/** `-p base=USD`, for a parameter whose name looks like an option, and `--empty base`. */
export function parameterOptions(ofOperations: readonly Operation[]) {
  const words = ofOperations.flatMap(wordsOf);
  return [
    repeatableOption('-p, --param <name=value>', 'a parameter (repeatable); same as name=value', words),
    repeatableOption('--empty <name>', 'a parameter without a value (repeatable)'),
  ];
}

/** For completion. */
export function wordsOf({ id, parameters }: Operation): string[] {
  if (parameters.length === 0) return id === operations.latest.id ? EXAMPLE_NAMES.map((name) => `${name}=`) : [];
  return parameters.flatMap(({ name, choices, types }) => {
    const values = choices ?? (types.includes('boolean') ? [true, false] : []);
    return values.length === 0 ? [`${name}=`] : values.map((value) => `${name}=${value}`);
  });
}

/** Parameters typed as arguments, then those typed with `-p`, which may contain any characters. `operation`: for an example. */
export function typedParameters(
  { args, options }: Pick<Invocation<ParamOptions>, 'args' | 'options'>,
  operation?: Operation,
): Query {
  refusePastedQuery(args);
  return joinParameters([...args.map((text) => parseParameter(text, operation)), ...parametersOf(options, operation)]);
}

/** Those typed as options. */
export function parametersOf(
  { param = [], empty = [] }: ParamOptions,
  operation?: Operation,
): readonly (readonly [string, string])[] {
  return [...param.map((text) => parseParameter(text, operation)), ...empty.map((name) => checkedParameter(name, ''))];
}

/**
 * The query of `name=value` texts for `latest`. The first `=` splits; a repeated name becomes a list. Values are neither checked nor
 * changed, because the service documents no parameters. @throws CliError for any other text, and for the API key
 */
export function parseParameters(texts: readonly string[]): Query {
  return joinParameters(texts.map((text) => parseParameter(text, operations.latest)));
}

/** A repeated name has all its values, in their order. */
export function joinParameters(parameters: Iterable<readonly [name: string, value: Query[string]]>): Query {
  const query = new Map<string, QueryText[]>();
  for (const [name, value] of parameters) {
    const earlier = query.get(name) ?? [];
    earlier.push(...[value].flat());
    query.set(name, earlier);
  }
  return Object.fromEntries(
    Array.from(query, ([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

/**
 * Keeps the key out of URLs, which end up in logs, and refuses names that are slips and text whose bytes are lost: the
 * service would receive, and charge, another query. Never repeats the value.
 */
export function checkParameter(name: string, value: string): void {
  if (/^\s|\s$|^$|=/.test(name))
    throw usageError(`the name of the parameter '${name}' is empty, has a =, or starts or ends with white space`);
  if (plainName(name) === 'apikey') {
    throw usageError(
      `refusing to send '${name}' as a parameter`,
      'URLs end up in logs; the key is already sent in a header',
    );
  }
  if (Object.hasOwn(CALL_OPTIONS, name)) throw usageError(`'${name}' is an option of the client, not a parameter`);
  if (holdsKey(value)) {
    throw usageError(`refusing to send the value of '${name}'`, 'it looks like an API key, and URLs end up in logs');
  }
  if (value.endsWith('\r')) {
    throw usageError(
      `the value of '${name}' ends with a carriage return`,
      'a file with line ends of Windows has them',
      ["Without them:  tr -d '\\r' < file"],
    );
  }
  if ([name, value].some((text) => NOT_UTF8.test(text))) {
    throw usageError(`the parameter '${name}' is not valid UTF-8`, 'some of its bytes cannot be read as characters');
  }
}

/** The character as which Node.js reads bytes that are not UTF-8, and half a surrogate pair, which has no bytes. */
const NOT_UTF8 = /[\uFFFD\p{Cs}]/u;

/** `?base=EUR&symbols=USD`, which would be sent, and charged, as a single parameter. */
export function refusePastedQuery(texts: readonly string[]): void {
  const pasted = texts.find((text) => /^[^=]*\?|&[^=&\s]+=/.test(text));
  if (pasted === undefined) return;
  const parameters = pasted.replace(/^[^=]*\?/, '').replaceAll('&', ' ');
  throw usageError(`'${pasted}' is not a parameter`, 'parameters are written without ? and &', [
    `e.g. ${parameters}`,
    `To send it as one parameter:  -p ${quoteForShell(pasted)}`,
  ]);
}

function parseParameter(text: string, operation?: Operation): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) {
    const example = exampleFor(text, operation);
    const eg = example === undefined ? '' : `, e.g. ${example}`;
    throw usageError(`'${text}' is not a parameter`, `parameters are written name=value${eg}`);
  }
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  if (value === '') throw emptyValue(name);
  const parameter = operation?.parameters.find((one) => one.name === name);
  const isList = parameter === undefined || parameter.list !== undefined;
  if (isList && process.platform === 'win32' && SPLIT_CODES.test(value)) {
    throw usageError(`'${text}' has blanks in place of commas`, undefined, [
      `PowerShell needs quotes:  '${text.replaceAll(' ', ',')}'`,
    ]);
  }
  return checkedParameter(name, value);
}

/** For PowerShell, `USD,EUR` without quotes is a list, of which a command of npm receives `USD EUR`. */
const SPLIT_CODES = /^[a-z]{3}( [a-z]{3})+$/i;

function exampleFor(text: string, operation: Operation | undefined): string | undefined {
  const [first] = operation?.parameters ?? [];
  if (first !== undefined) return exampleWord(first);
  if (operation?.id !== operations.latest.id) return undefined;
  return /^[A-Z]{3}$/i.test(text) ? `base=${text.toUpperCase()}` : 'base=USD';
}

/** `date=2026-01-21`. */
export function exampleWord({ name, example = '…' }: Parameter): string {
  return quoteForShell(`${name}=${[example].flat().join(',')}`);
}

function checkedParameter(name: string, value: string): readonly [name: string, value: string] {
  checkParameter(name, value);
  return [name, value];
}

/** Usually of a shell variable that is not set. */
export function emptyValue(name: string): CliError {
  return usageError(`'${name}=' has no value`, 'a variable of the shell may not be set', [
    `To send it without a value:  --empty ${quoteForShell(name)}`,
  ]);
}

/** `API_KEY`, `api-key` and `api%5Fkey` are the same name. */
function plainName(name: string): string {
  return decodedComponent(name)
    .toLowerCase()
    .replace(/[-_\s]/g, '');
}

/** The query of an operation, unchanged if it is free-form. @throws CliError for an unknown parameter or a missing one */
export function queryOf(operation: Operation, typed: Query): Query {
  if (operation.query === 'free-form') return typed;
  const query = new Map(Object.entries(typed));
  checkNames(operation, query);
  return Object.fromEntries(operation.parameters.flatMap((parameter) => entryOf(parameter, query.get(parameter.name))));
}

/** For help: `date=<date>` and `The day (required)`. */
export function parameterEntry({ name, list, description, required, deprecated, ...rest }: Parameter): HelpEntry {
  const { type, choices = [] } = rest;
  const shown = shownChoices(choices);
  const isShort = choices.length === 0 || shown.length === choices.length;
  const notes = [
    ...(isShort ? [] : [`${choices.length} values, which the completion lists`]),
    ...(required ? ['required'] : []),
    ...(deprecated ? ['deprecated'] : []),
    ...(rest.default === undefined ? [] : [`default: ${String(rest.default)}`]),
  ];
  const text = `${description.replace(/\.$/, '')}${notes.map((note) => ` (${note})`).join('')}`.trim();
  return { term: `${name}=<${isShort ? type : `${shown.join('|')}|…`}${list === undefined ? '' : ',…'}>`, text };
}

/** As many choices as the left column of a help page has space for, and at least one. */
function shownChoices(choices: readonly unknown[]): readonly unknown[] {
  let length = 0;
  const fitting = choices.filter((choice) => {
    length += String(choice).length + 1;
    return length <= WIDEST_CHOICES;
  });
  return fitting.length === 0 ? choices.slice(0, 1) : fitting;
}

const WIDEST_CHOICES = 16;

function checkNames({ id, parameters }: Operation, query: ReadonlyMap<string, unknown>): void {
  const names = parameters.map(({ name }) => name);
  const unknown = [...query.keys()].find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const hints = names.length === 0 ? [] : [`Valid parameters: ${names.join(', ')}`];
    throw usageError(`${id} has no parameter '${unknown}'`, undefined, hints);
  }
  const missing = parameters.find(({ name, required }) => required && !query.has(name));
  if (missing !== undefined) {
    throw usageError(`${id} needs the parameter '${missing.name}'`, undefined, [`fxrates ${id} ${missing.name}=…`]);
  }
}

/** Converts typed text, because the client checks types. `EUR,GBP` is two values if the contract has a list. */
function entryOf(parameter: Parameter, value: Query[string] | undefined): readonly [string, Query[string]][] {
  if (value === undefined) return [];
  const texts = [value].flat().map(String);
  const listed = parameter.list === undefined ? texts : texts.flatMap((text) => itemsOf(text, parameter));
  const values = listed.map((text) => parameterValue(text, parameter));
  const [first] = values;
  return [
    [parameter.name, parameter.list === undefined && values.length === 1 && first !== undefined ? first : values],
  ];
}

/** A choice can contain a comma. */
function itemsOf(text: string, { choices = [] }: Parameter): readonly string[] {
  return choices.map(String).includes(text) ? [text] : text.split(',');
}
