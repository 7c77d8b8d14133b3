import { FxRatesError } from './errors.ts';

/** Errors that a caller has received, or that several callers will receive. */
const deliveredErrors = new WeakSet<FxRatesError>();

/** Marks an error that several callers will receive: each receives a copy, with `error` as its cause. */
export function shareError(error: unknown): void {
  if (error instanceof FxRatesError) deliveredErrors.add(error);
}

/** Sets the `callId` of `error` and returns it, or a copy if it is also the error of another call. */
export function withCallId(error: unknown, { id: callId }: { readonly id: string }): unknown {
  if (!(error instanceof FxRatesError)) return error;
  const isOfOtherCall = error.callId !== undefined && error.callId !== callId;
  const own = isOfOtherCall ? copyOf(error) : error;
  return Object.defineProperty(own, 'callId', { value: callId, enumerable: true });
}

/**
 * `error` for one caller: an object of its own, whose stack begins at the line that awaits the call. `handler` is the
 * rejection handler that this runs in. V8 finds that line by the promises that wait for the handler's one, at no cost
 * for calls that succeed; a stack taken when each call begins would cost 3 to 6 µs and half a kB per call.
 */
export function errorForCaller(error: unknown, handler: (error: unknown) => never): unknown {
  if (!(error instanceof FxRatesError)) return error; // a function of the program threw it; it is passed on unchanged
  const own = deliveredErrors.has(error) ? copyOf(error) : error;
  deliveredErrors.add(own);
  const frames = framesBelow(handler);
  if (frames !== '') own.stack = `${own.name}: ${own.message}\n${frames}`;
  return own;
}

/** Empty if no async function awaits the call. The error then keeps its original stack. */
function framesBelow(handler: (error: unknown) => never): string {
  const holder: { readonly stack?: unknown } = {};
  Error.captureStackTrace?.(holder, handler); // not in every engine
  const lines = String(holder.stack).split('\n');
  return lines.filter((line) => line.startsWith('    at ') && !line.includes('(node:internal/')).join('\n');
}

/** A new error of the same class. `Error` creates it, because other objects are not printed as errors. */
function copyOf(error: FxRatesError): FxRatesError {
  const { stack: _stack, cause: _cause, ...fields } = Object.getOwnPropertyDescriptors(error);
  const copy = Object.setPrototypeOf(new Error(error.message, { cause: error }), Object.getPrototypeOf(error));
  return Object.defineProperties(copy, fields as PropertyDescriptorMap);
}
