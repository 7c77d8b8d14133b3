import { isLoopback } from './environment-proxy.ts';

/** An operation of the service, as in the generated table. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET';
  /** Such as `/v1/rates/{date}`, with the names of parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** `'free-form'`: any parameters are sent unchanged. `'named'`: only those of `parameters` are accepted. */
  readonly query: 'none' | 'free-form' | 'named';
  readonly parameters: readonly Parameter[];
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** The complete body of a 200 response: the example of openapi.yaml, or one made from its schema. */
  readonly example: unknown;
  readonly errors: readonly ErrorResponseSpec[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly deprecated?: boolean;
  /** For help, such as `string`, `date` or `asc|desc`. */
  readonly type: string;
  /** JSON types of one value. */
  readonly types: readonly ScalarType[];
  /** The only valid values; `undefined` if others are valid too. */
  readonly choices?: readonly (string | number | boolean)[];
  /** Form of several values: `a=1,2` or `a=1&a=2`; `undefined` for a single value. */
  readonly list?: 'comma' | 'repeated';
  /** The value that the service uses without the parameter. */
  readonly default?: unknown;
  /** A valid value; `undefined` if none is known. */
  readonly example: unknown;
}

/** `int64`: an integer that a double may not hold; it can be text. */
export type ScalarType = 'string' | 'integer' | 'int64' | 'number' | 'boolean';

export interface ErrorResponseSpec {
  readonly status: number | '4XX' | '5XX' | 'default';
  /** `error.code`; `undefined` if it is not documented. */
  readonly code: string | undefined;
  readonly headers: readonly string[];
  /** The complete body; `undefined` if openapi.yaml has no example. */
  readonly example: unknown;
}

/** A path and its operation. */
export interface FoundOperation<Found> {
  readonly operation: Found;
  /** The path's parameters as texts, decoded; empty for a path without any. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the operation of a path. If several fit, it is the one with the most fixed characters: an exact path has no others. */
export function createOperationFinder<Found extends Pick<Operation, 'path'>>(operations: readonly Found[]) {
  const patterns = operations
    .map((operation) => ({ operation, ...patternOf(operation.path) }))
    .sort((one, other) => other.fixedLength - one.fixedLength);
  const fixed = patterns.filter(({ names }) => names.length === 0);
  const exact = new Map(fixed.map(({ operation }) => [operation.path, { operation, parameters: {} }]));
  return (path: string): FoundOperation<Found> | undefined => {
    const found = exact.get(path);
    if (found !== undefined) return found;
    for (const { operation, pattern, names } of patterns) {
      const match = pattern.exec(path);
      if (match === null) continue;
      const values = match.slice(1).map(decodedComponent);
      return { operation, parameters: Object.fromEntries(names.map((name, at) => [name, values[at] ?? ''])) };
    }
    return undefined;
  };
}

function patternOf(path: string) {
  const fixed = path.split(/\{[^{}]+\}/);
  const source = fixed.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('([^/]+?)');
  const names = Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name = '']) => name);
  return { pattern: new RegExp(`^${source}$`), names, fixedLength: fixed.join('').length };
}

/** Options of a call of the client. No service has such parameters: sent as parameters, they would have no effect. */
export const CALL_OPTIONS = {
  timeoutMs: true,
  deadlineMs: true,
  maxRetries: true,
  onLimit: true,
  coalesce: true,
  maxAgeMs: true,
} as const;

/** Text with an invalid escape is returned unchanged. */
export function decodedComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether it is a path without a query that cannot lead to another host or out of the base URL. */
export function isServicePath(path: string): boolean {
  return /^\/(?!\/)[^?#\\\s\p{Cc}]*$/u.test(path) && !hasDotSegment(path);
}

/**
 * Whether a server, or a proxy before it, could read a segment of the path as `.` or `..`: some decode `%2e`, `%2f` and
 * `%5c`, also twice, or ignore the text after a `;`.
 */
export function hasDotSegment(path: string): boolean {
  const characterOf = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16));
  const decoded = path.replace(/%(?:25)*(2e|2f|5c|3b)/gi, characterOf);
  return decoded.split(/[/\\]/).some((segment) => /^\.{1,2}(;|$)/.test(segment));
}

/** The end of a base URL's path that the client adds itself: `/api/v1`, or the path of one of `operations`. */
export function apiPathIn(pathname: string, operations: readonly Pick<Operation, 'path'>[]): string | undefined {
  const path = pathname.replace(/\/+$/, '');
  const operation = operations.find((one) => path.endsWith(one.path));
  return operation?.path ?? /\/api\/v\d+$/.exec(path)?.[0];
}

/** Client and command line say it in their own words. */
export type BaseUrlProblem = 'scheme' | 'credentials' | 'query' | 'path' | 'plain http';

interface BaseUrlRules {
  readonly operations: readonly Pick<Operation, 'path'>[];
  readonly allowInsecureHttp: boolean;
}

/** Why the key must not be sent to `url`, or cannot be. */
export function baseUrlProblem(url: URL, { operations, allowInsecureHttp }: BaseUrlRules): BaseUrlProblem | undefined {
  const { protocol, username, password, search, hash, pathname } = url;
  if (protocol !== 'http:' && protocol !== 'https:') return 'scheme';
  if (username + password !== '') return 'credentials';
  if (search + hash !== '') return 'query';
  if (apiPathIn(pathname, operations) !== undefined) return 'path';
  const isExposed = protocol === 'http:' && !isLoopback(url) && !allowInsecureHttp;
  return isExposed ? 'plain http' : undefined;
}

/** The value that a text means. An invalid text is returned unchanged, so that the schema of the parameter rejects it. */
export function parameterValue(
  text: string,
  { types, choices = [] }: Pick<Parameter, 'types' | 'choices'>,
): string | number | boolean {
  const choice = choices.find((value) => String(value) === text);
  if (choice !== undefined) return choice;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.some((type) => type !== 'string' && type !== 'boolean');
  const number = Number(text);
  const hasDigits = types.includes('int64') ? Number.isSafeInteger(number) : isExact(text, number);
  if (!isNumeric || !NUMBER.test(text) || !hasDigits) return text;
  // If text is valid too, digits such as 007 can be a code, and 1.5 is text beside integers.
  return types.includes('string') && !isWrittenAs(text, number, types) ? text : number;
}

function isWrittenAs(text: string, number: number, types: readonly ScalarType[]): boolean {
  return String(number) === text && (types.includes('number') || Number.isInteger(number));
}

/** The numbers of JSON, also with leading zeros and a plus sign, but not other numbers of JavaScript, such as 0x10. */
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A double has 15 exact digits. A longer number is exact if it is printed in the same way. */
function isExact(text: string, number: number): boolean {
  return String(number) === text || (Number.isFinite(number) && text.replace(/\D/g, '').length <= 15);
}
