/** A request as every adapter passes it on, independent of the transport. */
export interface MockRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query exactly as sent, `/api/v1/latest?base=EUR`. */
  readonly target: string;
  /** Names in lower case; several values of one name joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Read by handlers of `mock.use()` alone; no operation of the service takes a body. */
  readonly body?: Uint8Array;
}

/** A response; every adapter sends it as it is. */
export interface MockResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each value is a `set-cookie` header of its own: they cannot be joined. */
  readonly cookies?: readonly string[] | undefined;
  readonly body: string | Uint8Array;
  /** How faults make it arrive; left out: whole and at once. */
  readonly delivery?: Delivery | undefined;
}

/** The headers, each cookie as one of its own. */
export function headersWithCookies({
  headers,
  cookies = [],
}: MockResponse): Readonly<Record<string, string | string[]>> {
  return cookies.length === 0 ? headers : { ...headers, 'set-cookie': [...cookies] };
}

/** Headers that a test defines, some with several values. Only cookies stay apart, the values of others are joined. */
export function readHeaders(
  given: Readonly<Record<string, string | readonly string[]>>,
): Pick<MockResponse, 'headers' | 'cookies'> {
  const all = new Headers();
  for (const [name, values] of Object.entries(given)) for (const value of [values].flat()) all.append(name, value);
  const { 'set-cookie': _, ...headers } = Object.fromEntries(all);
  const cookies = all.getSetCookie();
  return cookies.length === 0 ? { headers } : { headers, cookies };
}

/** How faults change the transmission of a response. Without it, the complete response is sent at once. */
export interface Delivery {
  /** False: the connection breaks before anything is sent. */
  readonly sendsHead: boolean;
  /** How many bytes of the body are sent; infinity for all. */
  readonly bodyBytes: number;
  /** Size of the pieces in which it is sent; infinity for one piece. */
  readonly chunkBytes: number;
  readonly intervalMs: number;
  /** What follows the last piece; an orderly end (`'whole'`) adds nothing. */
  readonly ending: 'whole' | 'reset' | 'close' | 'malformed-chunk' | 'garbage';
  /** Waits by the mock's clock; says whether the client still waits. */
  readonly wait: InterruptibleWait;
}

export type InterruptibleWait = (ms: number, gone: AbortSignal | undefined) => Promise<boolean>;

export function wholeDelivery(wait: InterruptibleWait): Delivery {
  return { sendsHead: true, bodyBytes: Infinity, chunkBytes: Infinity, intervalMs: 0, ending: 'whole', wait };
}

/** The body piece by piece, as the delivery says; throws when the wait between two pieces is broken off. */
export async function* piecesOf(
  { body }: MockResponse,
  { bodyBytes, chunkBytes, intervalMs, wait }: Delivery,
  gone: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void> {
  const bytes = Buffer.from(body).subarray(0, bodyBytes);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    if (at > 0 && !(await wait(intervalMs, gone)))
      throw new Error('The wait between two parts of the body was aborted.');
    yield bytes.subarray(at, at + chunkBytes);
  }
}
