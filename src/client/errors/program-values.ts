import { inspect } from 'node:util';
import { isError } from '../../foreign-values.ts';
import { FxRatesError } from './errors.ts';

/** Describes a wrong value in an error message: short, and with its type. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return value.length > 60 ? `a string of ${value.length} characters` : `'${value}'`;
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return describeObject(value);
  if (typeof value === 'function') return 'a function';
  return `${String(value)} (${typeof value})`;
}

/** Such as `Date (object)`. */
function describeObject(value: object): string {
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return name === 'Object' ? 'an object' : `${name} (object)`;
}

/** The text of a thrown value: the stack of an error; any other value as the console prints it. */
export function thrownText(thrown: unknown): string {
  return readThrown(thrown, ({ stack, message }) => (typeof stack === 'string' ? stack : String(message)));
}

/** The message of a thrown error, or the text of another value. */
export function thrownMessage(thrown: unknown): string {
  return readThrown(thrown, ({ message }) => String(message));
}

function readThrown(thrown: unknown, ofError: (error: Error) => string): string {
  try {
    if (isError(thrown)) return ofError(thrown);
    return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1, maxStringLength: null });
  } catch {
    return UNREADABLE; // such as a Proxy, or an error with a throwing `message`
  }
}

export const UNREADABLE = 'a value that cannot be read was thrown';

const warnedOf = new WeakSet<(event: never) => unknown>();

/** Calls a hook. If it throws or rejects, its first error becomes a process warning, and the call continues. */
export function callHook<Event>(hook: ((event: Event) => unknown) | undefined, event: Event): void {
  if (hook === undefined) return;
  try {
    const result = hook(event);
    if (isThenable(result)) Promise.resolve(result).catch((error: unknown) => warnOfHook(hook, error));
  } catch (error) {
    warnOfHook(hook, error);
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value;
}

function warnOfHook(hook: (event: never) => unknown, error: unknown): void {
  if (warnedOf.has(hook)) return;
  warnedOf.add(hook);
  process.emitWarning('a hook or logger threw an error; the call continues', {
    type: 'FxRatesWarning',
    detail: thrownText(error),
  });
}

/** An error of another client that a function of the program threw, until it reaches the caller of this one. */
export class ForeignFailure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** Rethrows what a function of the program threw. The steps must not take it for an error of their own call. */
export function rethrowForeign(thrown: unknown): never {
  throw FxRatesError.is(thrown) ? new ForeignFailure(thrown) : thrown;
}
