/** Whether a value is an error, also one of another realm (jest, `node:vm`), for which `instanceof` is false. */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false;
  if (value instanceof Error || isA('Error', value)) return true;
  const { name, message } = value as Partial<Error>; // such as a DOMException
  return typeof name === 'string' && typeof message === 'string' && 'stack' in value;
}

/** The code of an error, such as `ECONNRESET`; `undefined` if it has none. */
export function codeOf(value: unknown): string | undefined {
  return isError(value) && 'code' in value && typeof value.code === 'string' ? value.code : undefined;
}

/** Whether a value works like an `AbortSignal`, also that of another implementation. */
export function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener, removeEventListener } = Object(value) as Partial<AbortSignal>;
  const isTarget = typeof addEventListener === 'function' && typeof removeEventListener === 'function';
  return typeof aborted === 'boolean' && isTarget;
}

/** The same signal in a form that `AbortSignal.any` takes. */
export function nativeSignal(signal: AbortSignal): AbortSignal {
  const given: unknown = signal;
  if (given instanceof AbortSignal) return given;
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return controller.signal;
}

export function isDate(value: unknown): value is Date {
  return isA('Date', value);
}

export function isRegExp(value: unknown): value is RegExp {
  return isA('RegExp', value);
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
