import { FxRatesError } from './errors.ts';

/** Errors that a caller has, or that several callers will get. */
const taken = new WeakSet<FxRatesError>();

/** Several callers get this error: each its own copy, with this one as the cause. */
export function shareError(error: unknown): void {
  if (error instanceof FxRatesError) taken.add(error);
}

/**
 * `error` for one caller: an object of its own, whose stack begins at the line that awaits the call. `handler` is the
 * rejection handler that this runs in. V8 finds that line by the promises that wait for the handler's one, at no cost
 * for calls that succeed; a stack taken when each call begins would cost 3 to 6 µs and half a kB per call.
 */
export function ownError(error: unknown, handler: (error: unknown) => never): unknown {
  if (!(error instanceof FxRatesError)) return error; // thrown by a function of the user's: passed on as it is
  const own = taken.has(error) ? copyOf(error) : error;
  taken.add(own);
  const frames = framesBelow(handler);
  if (frames !== '') own.stack = `${own.name}: ${own.message}\n${frames}`;
  return own;
}

/** Empty where no async function awaits the call: then the error keeps the stack of the place where it was made. */
function framesBelow(handler: (error: unknown) => never): string {
  const holder: { readonly stack?: unknown } = {};
  Error.captureStackTrace?.(holder, handler); // not in every engine
  const lines = String(holder.stack).split('\n');
  return lines.filter((line) => line.startsWith('    at ') && !line.includes('(node:internal/')).join('\n');
}

/** A new error of the same class. Made by `Error`, because an object without that is not printed as an error. */
function copyOf(error: FxRatesError): FxRatesError {
  const { stack: _stack, cause: _cause, ...fields } = Object.getOwnPropertyDescriptors(error);
  const copy = Object.setPrototypeOf(new Error(error.message, { cause: error }), Object.getPrototypeOf(error));
  return Object.defineProperties(copy, fields as PropertyDescriptorMap);
}
