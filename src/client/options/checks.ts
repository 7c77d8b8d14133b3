import { nearestName } from '../../nearest-name.ts';
import { ConfigError } from '../errors/errors.ts';
import { describeValue } from '../errors/program-values.ts';

/** Returns a valid value. @throws ConfigError that names the option, the value and what was expected */
export type OptionCheck<Value> = (option: string, value: unknown) => Value;

export function valid<Value>(expected: string, accepts: (value: unknown) => boolean): OptionCheck<Value> {
  // The function has checked that it is one.
  return (option, value) => (accepts(value) ? (value as Value) : refuse(option, value, expected));
}

/** The check for an option that can be absent and has no default. */
export function optional<Value>(check: OptionCheck<Value>): OptionCheck<Value | undefined> {
  return (option, value) => (value === undefined ? undefined : check(option, value));
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
export function numberOf<const Others extends readonly (string | false)[]>(
  { expected, accepts }: NumberKind,
  ...others: Others
): OptionCheck<number | Others[number]> {
  const isOther = (value: unknown) => others.some((one) => one === value);
  return valid([expected, ...others.map(literal)].join(', or '), (value) =>
    typeof value === 'number' ? accepts(value) : isOther(value),
  );
}

export const truth: OptionCheck<boolean> = valid('true or false', (value) => typeof value === 'boolean');

/** An optional function. */
export function callable<Fn>(): OptionCheck<Fn | undefined> {
  return optional(valid<Fn>('a function', (value) => typeof value === 'function'));
}

/** An object with these methods. */
export function having<Value>(expected: string, ...methods: readonly (keyof Value & string)[]): OptionCheck<Value> {
  return (option, value) => {
    if (typeof value !== 'object' || value === null) return refuse(option, value, expected);
    const missing = methods.find((name) => typeof Reflect.get(value, name) !== 'function');
    if (missing === undefined) return value as Value; // has the methods
    throw new ConfigError(`${option}: expected ${expected}, got ${describeValue(value)} without ${missing}()`);
  };
}

function literal(value: string | false): string {
  return value === false ? 'false' : `'${value}'`;
}

export function refuse(option: string, value: unknown, expected: string): never {
  throw new ConfigError(`${option}: expected ${expected}, got ${describeValue(value)}`);
}

export function requireObject(options: unknown, where: string): asserts options is object {
  if (typeof options !== 'object' || options === null) refuse(where, options, 'an object of options');
}

/** Rejects misspelt options, which would otherwise have no effect. */
export function requireKnownNames(
  options: unknown,
  known: readonly string[],
  where: string,
): asserts options is object {
  requireObject(options, where);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  const next = nearest === undefined ? `valid options: ${known.join(', ')}` : `did you mean '${nearest}'?`;
  throw new ConfigError(`${where}: unknown option ${describeValue(unknown)}; ${next}`);
}

const PROXY_USER = 'HTTPS_PROXY=http://user:password@proxy.example:3128';
/** Headers that the client or the transport sets, with the next step. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['authorization', '; the client sends the key (options apiKey and auth)'],
  ['proxy-authorization', `; put user and password into the URL of the proxy, such as ${PROXY_USER}`],
  ...['host', 'connection', 'keep-alive', 'content-length', 'transfer-encoding', 'upgrade', 'expect'].map(
    (name) => [name, ''] as const,
  ),
]);
/** RFC 9110 §5.6.2. */
export const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
/** Latin-1 without line breaks, as `Headers` accepts it. */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether a call can send the header with its option `headers`. */
export function isSettableHeader(name: string): boolean {
  return TOKEN.test(name) && !RESERVED.has(name.toLowerCase());
}

/** The headers by their names in lower case. @throws ConfigError that names the option and the header; its value may be a secret and is not shown */
export function resolveHeaders(option: string, headers: unknown): Readonly<Record<string, string>> {
  const given = headerEntries(option, headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map((entry) => requireHeader(entry, option)));
}

function headerEntries(option: string, headers: unknown): readonly [string, unknown][] {
  if (isHeaders(headers)) return [...headers];
  // Not `instanceof Headers`: Node.js loads its fetch at the first use of `Headers`, which takes 20 ms.
  if (Object.prototype.toString.call(headers) !== '[object Object]')
    return refuse(option, headers, 'an object of names and values, or Headers');
  refuseInherited(option, Object(headers));
  return Object.entries(Object(headers));
}

/** Without `Object.prototype`, to which other packages of the program may add properties. */
export function prototypesOf(value: object): readonly object[] {
  const prototype: object | null = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype ? [] : [prototype, ...prototypesOf(prototype)];
}

/** Only the own properties of a query or of headers are sent. @throws ConfigError for the values of a class, such as its getters */
export function refuseInherited(option: string, value: object): void {
  const properties = prototypesOf(value).flatMap((one) => Object.entries(Object.getOwnPropertyDescriptors(one)));
  const lost = properties.find(([name, property]) => name !== '__proto__' && isValue(property));
  if (lost === undefined) return;
  const next = `pass an object with this property, such as { ${lost[0]}: value }`;
  throw new ConfigError(`${option}: '${lost[0]}' is inherited, and would not be sent; ${next}`);
}

/** The methods of a class in ES5 are enumerable. */
function isValue({ get, enumerable, value }: PropertyDescriptor): boolean {
  return get !== undefined || (enumerable === true && value !== undefined && typeof value !== 'function');
}

/** Also those of another implementation. */
function isHeaders(value: unknown): value is Headers {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'get' in value && 'append' in value;
}

function requireHeader([name, value]: [string, unknown], option: string): readonly [string, string] {
  const lower = name.toLowerCase();
  const next = RESERVED.get(lower);
  if (next !== undefined) throw new ConfigError(`${option}: '${name}' cannot be set${next}`);
  if (!TOKEN.test(name)) refuse(option, name, 'a valid header name');
  const isText = typeof value === 'string' && HEADER_VALUE.test(value);
  if (isText) return [lower, value];
  throw new ConfigError(
    `${option}: the value of '${name}' must be a string of Latin-1 characters without line breaks, got a ${typeof value}`,
  );
}
