import { inspect, types } from 'node:util';

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

/**
 * A value that a function of the program threw: the value itself, or an error in its place if reading it could throw,
 * such as a Proxy, an object with a throwing `toString`, or an error with a throwing `message`.
 */
export function readableValue(thrown: unknown): unknown {
  return isReadable(thrown, 0) ? thrown : new Error('a value that cannot be read was thrown');
}

/** Runs a function of the program. What it throws can be read. */
export async function withReadableErrors<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (thrown) {
    throw readableValue(thrown);
  }
}

/** The text of a thrown value: the stack of an error; any other value as the console prints it. */
export function thrownText(thrown: unknown): string {
  const value = readableValue(thrown);
  if (value instanceof Error) return typeof value.stack === 'string' ? value.stack : String(value.message);
  return typeof value === 'string' ? value : inspect(value, { depth: 1, maxStringLength: null });
}

/** The message of a thrown error, or the text of another value. */
export function thrownMessage(thrown: unknown): string {
  const value = readableValue(thrown);
  return value instanceof Error ? String(value.message) : thrownText(value);
}

/** Causes are nested a few levels deep and can form a cycle. */
const DEEPEST_CAUSE = 10;

function isReadable(value: unknown, depth: number): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return true;
  if (types.isProxy(value)) return false;
  try {
    if (!(value instanceof Error)) return typeof inspect(value, { depth: 1 }) === 'string';
    const { name, message, stack, cause } = value;
    const code = 'code' in value ? value.code : undefined;
    const texts = [name, message, stack, code].map(String);
    return texts.length > 0 && (depth === DEEPEST_CAUSE || isReadable(cause, depth + 1));
  } catch {
    return false;
  }
}

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
