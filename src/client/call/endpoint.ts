import { en as english } from 'zod/locales';
import type * as z from 'zod/mini';
import type { OperationTypes } from '../../generated/operation-methods.ts';
import { type OperationId, operations } from '../../generated/operations.ts';
import { querySchemas, responseSchemas } from '../../generated/schemas.ts';
import { definedOf, isJsonObject } from '../../json.ts';
import {
  CALL_OPTIONS,
  createOperationFinder,
  hasDotSegment,
  isServicePath,
  type Operation,
  type Parameter,
} from '../../operation.ts';
import { ConfigError } from '../errors/errors.ts';
import { describeValue } from '../errors/program-values.ts';
import type { CallOptions, StandardSchema } from '../options/call-options.ts';
import { refuse, refuseInherited } from '../options/checks.ts';
import type { Endpoint, ParsedEnvelope } from './call.ts';

/** The query of an operation; `undefined` if it takes none. */
export type OperationQuery<Id extends OperationId> = OperationTypes[Id]['query'];

/** The data that an operation returns. */
export type OperationData<Id extends OperationId> = OperationTypes[Id]['data'];

/** One value of a query parameter; a list is sent as repeated names. */
export type QueryParameter = string | number | boolean | readonly (string | number | boolean)[] | undefined;

/** Options of `get()`. */
export interface GetOptions<Schema extends StandardSchema | undefined = undefined> extends CallOptions<Schema> {
  /**
   * Query parameters. A list is sent as repeated names.
   *
   * @default undefined
   * @example { base: 'EUR' }
   */
  readonly query?: Readonly<Record<string, QueryParameter>> | undefined;
}

/** The endpoint of an operation, with its parameters checked. @throws ConfigError that names the parameter. */
export function operationEndpoint(id: OperationId, parameters: object = {}): Endpoint {
  const operation: Operation = operations[id];
  const { path, query, consumesQuota } = operation;
  const values = parametersIn(parameters);
  if (query === 'free-form') return { name: id, operation: id, target: buildTarget(path, values), consumesQuota };
  const checked = parseSchema(querySchemas[id], values);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new ConfigError(`${id}: ${issue?.path.map((part) => `'${String(part)}': `).join('')}${issue?.message}`);
  }
  return { name: id, operation: id, target: buildOperationTarget(operation, values), consumesQuota };
}

/**
 * Parses with English messages, also if the program has set another locale of zod. The value is parsed again only after a
 * failure, because `safeParse` with options takes three times as long.
 */
function parseSchema(schema: z.ZodMiniType, value: unknown) {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed : schema.safeParse(value, { error: english().localeError });
}

/** Validates the body of a success. Without an operation, only its envelope. */
export function parseBody({ operation }: Endpoint, body: unknown): ParsedEnvelope {
  if (operation !== undefined) {
    const parsed = parseSchema(responseSchemas[operation], body);
    if (!parsed.success) return { issues: parsed.error.issues };
    return { data: (parsed.data as { readonly data: unknown }).data };
  }
  if (isJsonObject(body) && body['success'] === true && 'data' in body) return { data: body['data'] };
  return { issues: [{ message: 'expected { "success": true, "data": … }', path: [] }] };
}

const findOperation = createOperationFinder(Object.values<Operation & { readonly id: OperationId }>(operations));

/** The endpoint of a path, which the contract may not have. */
export function pathEndpoint(given: unknown, query: object | undefined): Endpoint {
  const path = checkPath(given);
  const target = query === undefined ? path : buildTarget(path, parametersIn(query));
  const known = findOperation(path)?.operation;
  return { name: known?.id ?? path, operation: known?.id, target, consumesQuota: known?.consumesQuota ?? true };
}

/** Path and query of an operation, whose values are in one object. @throws ConfigError that names the parameter */
export function buildOperationTarget(operation: Operation, values: QueryParameters): string {
  const { path, query, parameters } = operation;
  if (query !== 'named') return buildTarget(path, values);
  const texts = new Map(
    parameters.flatMap((parameter) => {
      const value = values[parameter.name];
      return value === undefined ? [] : [[parameter.name, parameterTexts(parameter, value)] as const];
    }),
  );
  const filled = path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const [parts = ['']] = texts.get(name) ?? [];
    return parts.map((text) => encodePathText(name, text)).join(',');
  });
  if (hasDotSegment(filled))
    throw new ConfigError(`path: '.' and '..' are not valid values in ${path}, got '${filled}'`);
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  return withQuery(
    filled,
    inQuery.map(({ name }) => [name, texts.get(name) ?? []]),
  );
}

function parameterTexts({ name, list }: Parameter, value: unknown): ParameterTexts {
  const texts = textsOf(name, value);
  if (list !== undefined && texts.length === 0)
    throw new ConfigError(`'${name}': expected at least one value, got an empty list`);
  if (list !== 'comma') return texts;
  const parts = texts.flat();
  const wrong = parts.find((part) => part.includes(','));
  if (wrong !== undefined)
    throw new ConfigError(`'${name}': expected values without a comma, which separates them, got '${wrong}'`);
  return [parts];
}

/** The text of each occurrence of a name, in parts that a comma separates. */
type ParameterTexts = readonly (readonly string[])[];
type QueryParameterTexts = readonly [name: string, texts: ParameterTexts];

function encodePathText(name: string, text: string): string {
  if (text === '')
    throw new ConfigError(`'${name}': expected a value that is not empty, because it is part of the path`);
  if (/\p{Cs}/u.test(text))
    throw new ConfigError(`'${name}': contains half a surrogate pair, which cannot be encoded in a URL`);
  return encodeURIComponent(text);
}

/** Path and query as sent, without the key. @throws ConfigError for an option of the call among the parameters */
function buildTarget(path: string, query: QueryParameters): string {
  const parameters: QueryParameterTexts[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (Object.hasOwn(NOT_PARAMETERS, name)) {
      const next = `pass it after the query: fx.latest(query, { ${name} })`;
      throw new ConfigError(`query: '${name}' is an option of the call, not a query parameter; ${next}`);
    }
    parameters.push([name, textsOf(name, value)]);
  }
  return withQuery(path, parameters);
}

type NotParameter = Exclude<keyof CallOptions, 'signal' | 'priority' | 'headers' | 'schema'>;
const NOT_PARAMETERS: Readonly<Record<NotParameter, true>> = CALL_OPTIONS;

/** A comma that separates parts is not encoded (RFC 6570 §3.2.8): some servers split before they decode. */
function withQuery(path: string, parameters: readonly QueryParameterTexts[]): string {
  let target = path;
  for (const [name, texts] of parameters) {
    for (const [first = '', ...others] of texts) {
      const search = new URLSearchParams([[name, first]]);
      for (const part of others) search.append('', part);
      target += `${target === path ? '?' : '&'}${search.toString().replaceAll('&=', ',')}`;
    }
  }
  return target;
}

/** The target with its parameters sorted by name, because their order does not change the response. */
export function sortedTarget(target: string): string {
  if (!target.includes('&')) return target;
  const [path, query = ''] = target.split('?');
  const pairs = query.split('&').sort((one, other) => {
    const [[name = ''], [otherName = '']] = [one.split('='), other.split('=')];
    return name < otherName ? -1 : Number(name > otherName);
  });
  return `${path}?${pairs.join('&')}`;
}

/** A path for `get`. @throws ConfigError for a path that leads to another host or contains a query */
export function checkPath(path: unknown): string {
  if (typeof path === 'string' && isServicePath(path)) return new URL(path, 'http://localhost').pathname; // percent-encodes characters that are not valid in a request line
  throw new ConfigError(
    `path: expected a path such as '/api/v1/latest', without host, query and '..', got ${describeValue(path)}; pass parameters as { query }`,
  );
}

type QueryParameters = Readonly<Record<string, unknown>>;

/** The parameters that are set. @throws ConfigError for the key, and for other objects, such as `URLSearchParams` */
function parametersIn(query: unknown): QueryParameters {
  if (Object.prototype.toString.call(query) !== '[object Object]') refuse('query', query, 'an object of parameters');
  if (Object.getPrototypeOf(query) !== Object.prototype) refuseInherited('query', Object(query));
  const set = definedOf(query as QueryParameters); // as checked
  refuseKeyParameter(Object.keys(set));
  return set;
}

/** `option`: the name in the error. @throws ConfigError */
export function refuseKeyParameter(names: Iterable<string>, option = 'query'): void {
  for (const name of names) {
    if (name.toLowerCase() !== 'api_key') continue;
    const next = "because the client sends the key; to send it in the URL, set auth: 'query'";
    throw new ConfigError(`${option}: 'api_key' cannot be set, ${next}`);
  }
}

/** One text per value of a list. @throws ConfigError for a value that cannot be sent */
function textsOf(name: string, value: unknown): [string][] {
  const texts: [string][] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    if (item === undefined) continue;
    const isPlain = typeof item === 'string' || typeof item === 'boolean' || Number.isFinite(item);
    if (!isPlain) {
      throw new ConfigError(
        `query: '${name}' must be a string, a finite number, a boolean or a list of these, got ${describeValue(item)}`,
      );
    }
    texts.push([String(item)]);
  }
  return texts;
}
