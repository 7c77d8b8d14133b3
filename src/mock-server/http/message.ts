import { type GivenValues, type RecordedValues, valuePairs } from '../input/masked-keys.ts';

/** How a request reaches the mock: `mock.fetch`, msw (`handlers`, `listen()`) or `serve()`. */
export type AdapterName = 'fetch' | 'msw' | 'socket';

export const ADAPTER_NAMES = ['fetch', 'msw', 'socket'] as const satisfies readonly AdapterName[];

/** No operation accepts a body; patterns read one. */
export const MAX_REQUEST_BODY_BYTES = 1024 * 1024;

/** A request, independent of the adapter. */
export interface MockRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query exactly as sent, `/api/v1/latest?base=EUR`. */
  readonly target: string;
  /** Names in lower case; several values of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** For patterns and the journal. No operation of the service accepts a body. */
  readonly body?: Uint8Array;
}

/** A response, from the decision about it to the adapter, which sends status, headers and body unchanged. */
export interface MockResponse {
  /** 0: the connection ends without a response. */
  readonly status: number;
  /** Names in lower case. `set-cookie` has an array: one header for each value, because these cannot be joined. */
  readonly headers: RecordedValues;
  readonly body: string | Uint8Array;
  /** `error.code`; `undefined` for a success. */
  readonly code: string | undefined;
  /** The reason in words, for the journal. */
  readonly why: string;
  /** Milliseconds of the mock's clock until it is sent; infinity for never. Default: 0. */
  readonly delayMs?: number | undefined;
  /** Id of the rule because of which the request hangs. */
  readonly hangingBy?: string | undefined;
  /** The body before its content coding, for the journal, which shows it if the complete body is sent. Default: the body. */
  readonly text?: string | undefined;
  /** How rules change its transmission. Default: complete and at once. */
  readonly delivery?: Delivery | undefined;
}

/** The response with which the connection ends before anything is sent. */
export function noResponse(why: string): MockResponse {
  return { status: 0, headers: {}, body: '', code: undefined, why, delivery: UNSENT };
}

/** The adapter of a request, and whether the client still waits. */
export interface RequestSource {
  readonly adapter: AdapterName;
  /** Aborts when the client no longer waits for the response. A function, because only rules need the signal. */
  readonly getSignal?: (() => AbortSignal | undefined) | undefined;
  /** That of the mock or space whose `clientOptions()` the client has. */
  readonly clock?: object | undefined;
}

/** Handles a request, in the same way for every adapter. */
export type HandleRequest = (request: MockRequest, source: RequestSource) => MockResponse | Promise<MockResponse>;

/** Headers that a test defines. Several values of a header are joined, except cookies. */
export function readHeaders(given: GivenValues): RecordedValues {
  const all = new Headers(valuePairs(given));
  const cookies = all.getSetCookie();
  return { ...Object.fromEntries(all), ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }) };
}

/** How rules change the transmission of a response. Without it, the complete response is sent at once. */
export interface Delivery {
  /** False: the connection breaks before anything is sent. */
  readonly sendsHead: boolean;
  /** How many bytes of the body are sent; infinity for all. */
  readonly bodyBytes: number;
  /** Size of the pieces in which it is sent; infinity for one piece. */
  readonly chunkBytes: number;
  readonly intervalMs: number;
  /** How the connection ends after the last piece. `'whole'`: in the normal way. */
  readonly ending: 'whole' | 'reset' | 'close' | 'malformed-chunk';
  /** Waits between two pieces by the mock's clock. Resolves to whether the client still waits. */
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<boolean>;
}

export const WHOLE: Delivery = {
  sendsHead: true,
  bodyBytes: Number.POSITIVE_INFINITY,
  chunkBytes: Number.POSITIVE_INFINITY,
  intervalMs: 0,
  ending: 'whole',
};

const UNSENT: Delivery = { ...WHOLE, sendsHead: false, ending: 'close' };

/** The pieces of the body, by its delivery. Throws if the wait between two pieces is aborted. */
export async function* piecesOf(
  { body }: MockResponse,
  { bodyBytes, chunkBytes, intervalMs, wait = async () => true }: Delivery,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const bytes = Buffer.from(body).subarray(0, bodyBytes);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    if (at > 0 && !(await wait(intervalMs, signal)))
      throw new Error('The wait between two parts of the body was aborted.');
    yield bytes.subarray(at, at + chunkBytes);
  }
}
