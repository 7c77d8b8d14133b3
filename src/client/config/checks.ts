import { nearestName } from '../../nearest-name.ts';
import { describeValue } from '../errors/describe-value.ts';
import { ConfigError } from '../errors/errors.ts';

/** @throws ConfigError that names the option, the value and what was expected. */
export function refuse(option: string, value: unknown, expected: string): never {
  throw new ConfigError(`${option}: expected ${expected}, got ${describeValue(value)}`);
}

/** `or`: the other values of the option, for the error. */
export function requirePositiveMs(option: string, value: unknown, or = ''): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  return refuse(option, value, `a positive number of milliseconds${or}`);
}

/** `or`: the other values of the option, for the error. */
export function requireMs(option: string, value: unknown, or = ''): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  return refuse(option, value, `a non-negative number of milliseconds${or}`);
}

export function requireDeadline(option: string, value: unknown): number {
  if (value === false) return Number.POSITIVE_INFINITY;
  return requirePositiveMs(option, value, ', or false for no deadline');
}

/** `or`: the other values of the option, for the error. */
export function requireCount(
  option: string,
  value: unknown,
  { from, or = '' }: { readonly from: number; readonly or?: string },
): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= from) return value;
  return refuse(option, value, `a whole number of at least ${from}${or}`);
}

export function requireOneOf<const Value extends string | false>(
  option: string,
  value: unknown,
  allowed: readonly Value[],
): Value {
  const found = allowed.find((candidate) => candidate === value);
  return found ?? refuse(option, value, allowed.map((one) => (one === false ? 'false' : `'${one}'`)).join(' or '));
}

export function requireBoolean(option: string, value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuse(option, value, 'true or false');
}

export function requireFunction<Fn>(option: string, value: Fn): Fn {
  return typeof value === 'function' ? value : refuse(option, value, 'a function');
}

/** The names of a type's fields. The compiler rejects missing and unknown names. */
export function namesOf<Name extends string>(names: Readonly<Record<Name, true>>): readonly Name[] {
  return Object.keys(names) as Name[]; // the keys of the record
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
