import { tokens } from '../../json.ts';
import { type Attempt, FxRatesError, type FxRatesErrorKind } from '../errors/errors.ts';
import { ForeignFailure } from '../errors/program-values.ts';
import type { Numbers } from '../options/call-options.ts';

/** A response without its data, from `withMeta()`. */
export interface ResponseMeta {
  /** HTTP status. */
  readonly status: number;
  /** Response headers. */
  readonly headers: Headers;
  /** The body exactly as received, with all digits of its numbers. */
  readonly rawBody: string;
  /**
   * Where the response comes from: a request (`'network'`), the cache, the request of an identical call (`'shared'`), or
   * the cache although it is older than its maximum age (`'stale'`).
   */
  readonly source: 'network' | 'cache' | 'shared' | 'stale';
  /**
   * Why the response is stale: the kind of the error that it replaces (`staleIfLimitedMs`, `staleIfErrorMs`), or `'revalidate'`
   * because a request renews it (`staleWhileRevalidateMs`); `undefined` if it is not stale.
   */
  readonly staleReason: FxRatesErrorKind | 'revalidate' | undefined;
  /** Milliseconds since the response arrived; 0 unless it comes from the cache. */
  readonly ageMs: number;
  /** The attempts of the call, with the wait before each. */
  readonly attempts: readonly Attempt[];
  /** ID of the last response: `x-request-id` or a header like it; `undefined` if it has none. */
  readonly requestId: string | undefined;
  /** ID of the call, also in its events. Callers that share a request have the same ID. */
  readonly callId: string;
  /** Milliseconds from the call to its response. */
  readonly durationMs: number;
}

/** The promise of a call's data. */
export interface ApiCall<Data> extends Promise<Data> {
  /** Resolves with the data and the rest of the response. It sends no second request. */
  withMeta(): Promise<{ readonly data: Data; readonly meta: ResponseMeta }>;
}

/** The result of a successful call. */
export interface CallResult<Data> {
  readonly data: Data;
  /** Created only by `withMeta()`: most calls do not use it. */
  readonly meta: () => ResponseMeta;
}

/** A promise of the data, with a method that returns data and meta of the same call. */
export function createApiCall<Data>(result: Promise<CallResult<Data>>): ApiCall<Data> {
  const data = result.then((ended) => ended.data, rethrow);
  return Object.assign(data, {
    // Waits for `data`, not only for `result`: only then does V8 find the function that awaits this promise.
    withMeta() {
      return data.then(async (value) => ({ data: value, meta: (await result).meta() }));
    },
  });
}

/** `Data` with its numbers as the client's option `numbers` says. */
export type WithNumbers<Data, Chosen extends Numbers> = Chosen extends 'string' ? TextNumbers<Data> : Data;

/** For the compiler, an open enumeration such as `'free' | (string & {})` is both a string and an object. */
type TextNumbers<Data> = Data extends string
  ? Data
  : Data extends number
    ? string
    : Data extends readonly (infer Item)[] // mapped as an object, a list of lists of itself would have no end
      ? readonly TextNumbers<Item>[]
      : Data extends object
        ? { readonly [Name in keyof Data]: TextNumbers<Data[Name]> }
        : Data;

/** The `data` of an envelope, which is valid JSON, with each number as a string of all its digits. */
export function dataWithTextNumbers(envelope: string): unknown {
  const parts: string[] = [];
  let copied = 0;
  for (const { kind, start, end } of tokens(envelope)) {
    if (kind !== 'number') continue;
    parts.push(envelope.slice(copied, start), `"${envelope.slice(start, end)}"`);
    copied = end;
  }
  const text = [...parts, envelope.slice(copied)].join('');
  return (JSON.parse(text) as { readonly data: unknown }).data; // the caller has checked it
}

/** Errors that a caller has received. */
const deliveredErrors = new WeakSet<FxRatesError>();

/** `error` with the ID and the attempts of its call. If another caller has received it, a copy. */
export function errorOfCall(
  error: unknown,
  { id: callId, attempts }: Pick<ResponseMeta, 'attempts'> & { readonly id: string },
): unknown {
  if (error instanceof ForeignFailure) return error.error;
  if (!(error instanceof FxRatesError)) return error; // a function of the program threw it; it is passed on unchanged
  const own = deliveredErrors.has(error) ? copyOf(error) : error;
  deliveredErrors.add(own);
  // Such as an error of the key function, which does not know the attempts of a call.
  const isUnaware = own.attempts.length === 0 && attempts.length > 0 && !wasCut(own);
  if (isUnaware) Object.defineProperty(own, 'attempts', { value: [...attempts], enumerable: true });
  return Object.defineProperty(own, 'callId', { value: callId, enumerable: true });
}

/** Whether the error ended the call during an attempt, which is not one of its attempts. */
function wasCut(error: FxRatesError): boolean {
  return error.kind === 'aborted' || ('scope' in error && error.scope === 'deadline');
}

/**
 * The rejection handler of a call. Lets the stack begin at the line that awaits the call. V8 finds that line by the
 * promises that wait for the handler's one, at no cost for calls that succeed; a stack taken when each call begins would
 * cost 3 to 6 µs and half a kB per call.
 */
function rethrow(error: unknown): never {
  if (error instanceof FxRatesError && !withCaller.has(error)) showCaller(error);
  throw error;
}

/** Errors whose stack begins at a caller. A middleware can throw that of another call. */
const withCaller = new WeakSet<FxRatesError>();

function showCaller(error: FxRatesError): void {
  withCaller.add(error);
  const frames = framesOfCaller();
  if (frames === '') return;
  const value = `${error.name}: ${error.message}\n${frames}`;
  Object.defineProperty(error, 'stack', { value, writable: true, configurable: true });
}

/** Empty if no async function awaits the call. The error then keeps its original stack. */
function framesOfCaller(): string {
  const holder: { readonly stack?: unknown } = {};
  Error.captureStackTrace?.(holder, rethrow); // not in every engine
  const lines = String(holder.stack).split('\n');
  return lines.filter((line) => line.startsWith('    at ') && !line.includes('(node:internal/')).join('\n');
}

/** A new error of the same class. `Error` creates it, because other objects are not printed as errors. */
function copyOf(error: FxRatesError): FxRatesError {
  const { stack: _stack, ...fields } = Object.getOwnPropertyDescriptors(error);
  const copy = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error));
  return Object.defineProperties(copy, fields as PropertyDescriptorMap);
}
