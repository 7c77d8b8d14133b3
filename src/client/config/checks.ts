import { nearestName } from '../../nearest-name.ts';
import { ConfigError } from '../errors/errors.ts';
import { describeValue } from '../errors/program-values.ts';

/** Returns a valid value. @throws ConfigError that names the option, the value and what was expected */
export type OptionCheck<Value> = (option: string, value: unknown) => Value;

export function valid<Value>(expected: string, accepts: (value: unknown) => boolean): OptionCheck<Value> {
  // The function has checked that it is one.
  return (option, value) => (accepts(value) ? (value as Value) : refuse(option, value, expected));
}

export function oneOf<const Values extends readonly (string | false)[]>(
  ...values: Values
): OptionCheck<Values[number]> {
  return valid(values.map(literal).join(' or '), (value) => values.some((one) => one === value));
}

interface NumberKind {
  readonly expected: string;
  readonly accepts: (value: number) => boolean;
}

export const POSITIVE_MS: NumberKind = {
  expected: 'a positive number of milliseconds',
  accepts: (value) => Number.isFinite(value) && value > 0,
};
export const MS: NumberKind = {
  expected: 'a non-negative number of milliseconds',
  accepts: (value) => Number.isFinite(value) && value >= 0,
};

export function countFrom(least: number): NumberKind {
  const accepts = (value: number) => Number.isSafeInteger(value) && value >= least;
  return { expected: `a whole number of at least ${least}`, accepts };
}

/** A number of that kind, or one of the other values. */
export function numberOf(kind: NumberKind): OptionCheck<number>;
export function numberOf<const Other extends string | false>(
  kind: NumberKind,
  ...others: readonly [Other, ...Other[]]
): OptionCheck<number | Other>;
export function numberOf(
  { expected, accepts }: NumberKind,
  ...others: readonly (string | false)[]
): OptionCheck<unknown> {
  const isOther = (value: unknown) => others.some((one) => one === value);
  return valid([expected, ...others.map(literal)].join(', or '), (value) =>
    typeof value === 'number' ? accepts(value) : isOther(value),
  );
}

export function truth(): OptionCheck<boolean> {
  return valid('true or false', (value) => typeof value === 'boolean');
}

export function callable<Fn>(): OptionCheck<Fn> {
  return valid('a function', (value) => typeof value === 'function');
}

/** An object with these methods. */
export function having<Value>(expected: string, ...methods: readonly (keyof Value & string)[]): OptionCheck<Value> {
  return valid(expected, (value) => methods.every((name) => typeof memberOf(value, name) === 'function'));
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function literal(value: string | false): string {
  return value === false ? 'false' : `'${value}'`;
}

export function refuse(option: string, value: unknown, expected: string): never {
  throw new ConfigError(`${option}: expected ${expected}, got ${describeValue(value)}`);
}

/** Rejects misspelt options, which would otherwise have no effect. */
export function requireKnownNames(options: unknown, known: readonly string[], where: string): void {
  if (typeof options !== 'object' || options === null) refuse(where, options, 'an object of options');
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  const next = nearest === undefined ? `valid options: ${known.join(', ')}` : `did you mean '${nearest}'?`;
  throw new ConfigError(`${where}: unknown option ${describeValue(unknown)}; ${next}`);
}

/** Headers by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Headers that the client or the transport sets. */
const RESERVED = [
  ...['authorization', 'host', 'connection', 'keep-alive'],
  ...['content-length', 'transfer-encoding', 'upgrade', 'expect'],
];
/** RFC 9110 §5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** @throws ConfigError that names the option and the header; its value may be a secret and is not shown */
export function resolveHeaders(option: string, headers: unknown): RequestHeaders {
  const isRecord = Object.prototype.toString.call(headers) === '[object Object]';
  if (!isRecord && !(headers instanceof Headers)) refuse(option, headers, 'an object of names and values, or Headers');
  const entries: [string, unknown][] = headers instanceof Headers ? [...headers] : Object.entries(Object(headers));
  const given = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map((entry) => requireHeader(entry, option)));
}

function requireHeader([name, value]: [string, unknown], option: string): readonly [string, string] {
  const lower = name.toLowerCase();
  if (RESERVED.includes(lower)) {
    const next = lower === 'authorization' ? '; the client sends the key (options apiKey and auth)' : '';
    throw new ConfigError(`${option}: '${name}' cannot be set${next}`);
  }
  if (!TOKEN.test(name)) refuse(option, name, 'a valid header name');
  const isText = typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
  if (isText) return [lower, value];
  throw new ConfigError(
    `${option}: the value of '${name}' must be a string of Latin-1 characters without line breaks, got a ${typeof value}`,
  );
}
