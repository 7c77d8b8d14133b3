/** Whether a value is an error, also one of another realm (jest, `node:vm`), for which `instanceof` is false. */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Error || isA('Error', value)) return true;
  const { name, message } = value as Partial<Error>; // such as a DOMException
  return typeof name === 'string' && typeof message === 'string' && 'stack' in value;
}

/** Whether a value is an object that `{}` or `Object.create(null)` can be, also of another realm. */
export function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether JSON loses a value: a number that is not finite, bytes, or what has no content for JSON, such as a Map or a promise. */
export function isLostInJson(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return ['function', 'bigint', 'symbol'].includes(typeof value);
  const hasContent = Array.isArray(value) || isPlainObject(value) || Object.keys(value).length > 0;
  return ArrayBuffer.isView(value) || !hasContent;
}

/** The code of an error, such as `ECONNRESET`; `undefined` if it has none. */
export function codeOf(value: unknown): string | undefined {
  const { code } = Object(value) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** The error and its causes, outermost first; empty for another value. nock rejects with the object of a test: `{ code }`. */
export function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  const isCause = (value: unknown): value is Error => isError(value) || isPlainObject(value);
  for (let cause = error; isCause(cause) && causes.length < DEEPEST_CAUSE; cause = cause.cause) {
    causes.push(cause);
  }
  return causes;
}

/** Causes are nested a few levels deep and can form a cycle. */
const DEEPEST_CAUSE = 10;

/** Whether a value works like an `AbortSignal`, also that of another implementation. */
export function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener, removeEventListener } = Object(value) as Partial<AbortSignal>;
  const isTarget = typeof addEventListener === 'function' && typeof removeEventListener === 'function';
  return typeof aborted === 'boolean' && isTarget;
}

interface Listening {
  readonly callbacks: Set<() => void>;
  /** The one event listener. */
  readonly callAll: () => void;
}

const listeningTo = new WeakMap<AbortSignal, Listening>();

/**
 * Calls back when `signal` aborts. Returns a function that cancels it. All callbacks of a signal share one event listener: a
 * signal for a hundred calls is common, and Node warns of a leak from eleven listeners on.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, callAll } = listeningTo.get(signal) ?? createListening();
  listeningTo.set(signal, { callbacks, callAll });
  if (callbacks.size === 0) signal.addEventListener('abort', callAll, { once: true });
  const own = () => callback(); // the same function may be given twice
  callbacks.add(own);
  return () => {
    callbacks.delete(own);
    if (callbacks.size === 0) signal.removeEventListener('abort', callAll);
  };
}

/**
 * Calls back with each signal that aborts, at once if one has. Returns a function that cancels it. Not `AbortSignal.any`:
 * what that returns stays in memory as long as one of the signals.
 */
export function onAnyAbort(signals: readonly AbortSignal[], callback: (signal: AbortSignal) => void): () => void {
  const aborted = signals.find((signal) => signal.aborted);
  if (aborted !== undefined) callback(aborted);
  const cancels = signals.map((signal) => onAbort(signal, () => callback(signal)));
  return () => {
    for (const cancel of cancels) cancel();
  };
}

function createListening(): Listening {
  const callbacks = new Set<() => void>();
  const callAll = () => {
    for (const callback of callbacks) callback();
  };
  return { callbacks, callAll };
}

export function isDate(value: unknown): value is Date {
  return isA('Date', value);
}

export function isRegExp(value: unknown): value is RegExp {
  return isA('RegExp', value);
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return isA('Promise', value);
}

export function isUrl(value: unknown): value is URL {
  return isA('URL', value);
}

export function isRequest(value: unknown): value is Request {
  return isA('Request', value);
}

function isA(name: string, value: unknown): boolean {
  return Object.prototype.toString.call(value) === `[object ${name}]`;
}
