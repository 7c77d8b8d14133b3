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

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean';

export interface ErrorResponseSpec {
  readonly status: number | '4XX' | '5XX' | 'default';
  /** `error.code`; `undefined` if it is not documented. */
  readonly code: string | undefined;
  readonly headers: readonly string[];
  /** The complete body; `undefined` if openapi.yaml has no example. */
  readonly example: unknown;
}

type Scalar = string | number | boolean;

/**
 * Converts a text of the command line or of a URL to a value of the parameter. An invalid text is returned unchanged, so
 * that the schema of the parameter rejects it.
 */
export function parseParameterText(text: string, { types, choices = [] }: Parameter): Scalar {
  const choice = choices.find((value) => String(value) === text);
  if (choice !== undefined) return choice;
  if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumeric = types.includes('integer') || types.includes('number');
  const number = Number(text);
  if (!isNumeric || !NUMBER.test(text) || !isExact(text, number)) return text;
  // If text is valid too, digits such as 007 can be a code.
  return types.includes('string') && String(number) !== text ? text : number;
}

/** The values of a list: `EUR,GBP` is two. */
export function splitList(text: string): readonly string[] {
  return text.split(',');
}

/** The numbers of JSON, also with leading zeros and a plus sign, but not other numbers of JavaScript, such as 0x10. */
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A double has 15 exact digits. A longer number is exact if it is printed in the same way. */
function isExact(text: string, number: number): boolean {
  const digits = text
    .replace(/[eE].*/, '')
    .replaceAll(/\D/g, '')
    .replace(/^0+/, '');
  return Number.isFinite(number) && (digits.length <= 15 || String(number) === text);
}

/** A path and its operation. */
export interface FoundOperation<Found> {
  readonly operation: Found;
  /** The path's parameters as texts, decoded; empty for a path without any. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Finds the operation of a path. Exact paths come first, then those with the most fixed characters. */
export function createOperationFinder<Found extends Pick<Operation, 'path'>>(operations: readonly Found[]) {
  const exact = new Map(operations.map((operation) => [operation.path, { operation, parameters: {} }]));
  const templates = operations
    .filter(({ path }) => path.includes('{'))
    .map((operation) => ({ operation, ...patternOf(operation.path) }))
    .sort((one, other) => other.fixedLength - one.fixedLength);
  return (path: string): FoundOperation<Found> | undefined => {
    const found = exact.get(path);
    if (found !== undefined && !path.includes('{')) return found;
    for (const { operation, pattern, names } of templates) {
      const match = pattern.exec(path);
      if (match === null) continue;
      return {
        operation,
        parameters: Object.fromEntries(names.map((name, at) => [name, decodedComponent(match[at + 1] ?? '')])),
      };
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

/** Text with an invalid escape is returned unchanged. */
export function decodedComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The end of a base URL's path that the client adds itself: `/api/v1`, or the path of one of `operations`. */
export function apiPathIn(pathname: string, operations: readonly Pick<Operation, 'path'>[]): string | undefined {
  const path = pathname.replace(/\/+$/, '');
  const operation = operations.find((one) => path.endsWith(one.path));
  return operation?.path ?? /\/api\/v\d+$/.exec(path)?.[0];
}
