import * as z from 'zod';
import {
  ADAPTER_NAMES,
  type AdapterName,
  type Delivery,
  type MockResponse,
  noResponse,
  WHOLE,
} from '../http/message.ts';
import { expected, strictObject, type ValueOf, wholeFrom } from '../input/checked-input.ts';
import { invalidOption, MockServerError } from '../input/mock-server-error.ts';

const KINDS = ['hang', 'network-error', 'reset', 'truncate', 'dribble', 'bad-json', 'malformed-chunk'] as const;

/** Name of a failure. */
export type FailureKind = (typeof KINDS)[number];

/** A kind of failure: what it needs, and what it does. */
interface FailureDefinition {
  /** The adapters that do it as a real network does. */
  readonly adapters: readonly AdapterName[];
  /** The alternative for other adapters. */
  readonly instead?: string;
  readonly settings: readonly (keyof FailureSettings)[];
  /** Whether it changes a response, and needs one. */
  readonly needsResponse?: boolean;
  readonly needsBody?: boolean;
  /** What happens, in words for the journal. */
  readonly describe: (fail: FailureDetails) => string;
  readonly apply: (response: MockResponse, fail: FailureDetails) => MockResponse;
}

type FailureSettings = Omit<Failure, 'kind'>;

interface FailureDetails extends FailureSettings {
  /** Milliseconds until the rule ends; infinity for never. */
  readonly leftMs: number;
}

/** msw delivers complete responses only: a truncated body would arrive as a shorter complete one. */
const WITH_CONNECTION: readonly AdapterName[] = ['fetch', 'socket'];

/** What can happen to the connection or the body. */
export const FAILURES: Readonly<Record<FailureKind, FailureDefinition>> = {
  /** Never responds. The connection stays open until the client aborts, the rule ends, or the mock is closed or reset. */
  hang: {
    adapters: ADAPTER_NAMES,
    settings: [],
    describe: ({ leftMs }) =>
      leftMs === Number.POSITIVE_INFINITY
        ? 'never responds'
        : `no response, the connection broke off after ${leftMs} ms`,
    apply: ({ why }, { leftMs }) => ({ ...noResponse(why), delayMs: leftMs }),
  },
  /** Fails the request without a response. Works with every adapter. */
  'network-error': {
    adapters: ADAPTER_NAMES,
    settings: [],
    describe: () => 'the connection broke off',
    apply: ({ delayMs, why }) => ({ ...noResponse(why), delayMs }),
  },
  /** Resets the connection (ECONNRESET): before anything is sent, or after some bytes of the body. */
  reset: {
    adapters: WITH_CONNECTION,
    settings: ['afterBytes'],
    instead: "Use 'network-error'",
    describe: ({ afterBytes }) =>
      afterBytes === undefined ? 'the connection was reset' : `reset ${after(afterBytes)}`,
    apply: (response, { afterBytes }) =>
      afterBytes === undefined
        ? deliver(response, { sendsHead: false, ending: 'reset' })
        : endedEarly(response, afterBytes, 'reset'),
  },
  /** Closes the connection in the middle of the body; Content-Length announces the complete body. */
  truncate: {
    adapters: WITH_CONNECTION,
    settings: ['afterBytes'],
    needsResponse: true,
    instead: "Use 'bad-json', which sends half of the body",
    describe: ({ afterBytes = 0 }) => `truncate ${after(afterBytes)}`,
    apply: (response, { afterBytes = 0 }) => endedEarly(response, afterBytes, 'close'),
  },
  /** Sends the body slowly, in pieces. */
  dribble: {
    adapters: ADAPTER_NAMES,
    settings: ['chunkBytes', 'intervalMs'],
    needsResponse: true,
    describe: ({ chunkBytes = 1, intervalMs = 0 }) => `${chunkBytes} bytes every ${intervalMs} ms`,
    apply: (response, { chunkBytes = 1, intervalMs = 0 }) => deliver(response, { chunkBytes, intervalMs }),
  },
  /** Sends only the first half of the body, with a matching Content-Length. */
  'bad-json': {
    adapters: ADAPTER_NAMES,
    settings: [],
    needsResponse: true,
    needsBody: true,
    describe: () => 'bad-json',
    apply: halve,
  },
  /** Sends the body with chunked encoding, and an invalid chunk in it. */
  'malformed-chunk': {
    adapters: ['socket'],
    settings: ['afterBytes'],
    needsResponse: true,
    needsBody: true,
    instead: "Chunks exist only on a socket: use 'bad-json', or serve the mock with mock.serve() alone",
    describe: ({ afterBytes = 0 }) => `malformed-chunk ${after(afterBytes)}`,
    apply(response, { afterBytes = 0 }) {
      const cut = deliver(response, { bodyBytes: afterBytes, ending: 'malformed-chunk' });
      return withHeader(withHeader(cut, 'content-length', undefined), 'transfer-encoding', 'chunked');
    },
  },
};

export const failure = strictObject({
  /**
   * `'hang'`: no response, the connection stays open. `'network-error'`: the request fails without a response. `'reset'`: the
   * connection is reset. `'truncate'`: it is closed before the end of the body. `'dribble'`: the body is sent slowly.
   * `'bad-json'`: only the first half of the body is sent. `'malformed-chunk'`: the chunked encoding is broken.
   */
  kind: expected(`one of ${KINDS.join(', ')}`, z.enum(KINDS)),
  /**
   * Of `'reset'`, `'truncate'` and `'malformed-chunk'`: number of bytes of the body to send before. `'truncate'` requires it.
   * @default 0 for `'malformed-chunk'`; nothing is sent for `'reset'`, not even the headers
   */
  afterBytes: wholeFrom(0, 'of bytes')
    .optional()
    .describe('With reset, truncate and malformed-chunk: bytes to send before.'),
  /**
   * Of `'dribble'`: size of a piece in bytes.
   * @default 1
   */
  chunkBytes: wholeFrom(1, 'of bytes').optional().describe('With dribble: size of a piece in bytes. Default: 1.'),
  /** Of `'dribble'`, which requires it: milliseconds between two pieces, by the mock's clock. */
  intervalMs: expected('whole milliseconds from 0', z.int().min(0))
    .optional()
    .describe('With dribble: milliseconds between two pieces.'),
});

/** How the connection or the body of a response fails. */
export interface Failure extends ValueOf<typeof failure> {}

/** Whether a failure changes a response, and needs one. */
export function changesResponse({ kind, afterBytes }: Failure): boolean {
  const { needsResponse = false } = FAILURES[kind];
  return needsResponse || afterBytes !== undefined;
}

/** Throws for a setting that the kind does not have, or lacks. */
export function checkFailure(fail: Failure): void {
  const { kind, ...settings } = fail;
  const known: readonly string[] = FAILURES[kind].settings;
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined || known.includes(name)) continue;
    throw invalidOption(`fail.${name}`, value, `no ${name} with kind '${kind}'`);
  }
  if (kind === 'truncate' && fail.afterBytes === undefined) {
    throw invalidOption('fail.afterBytes', undefined, 'a whole number of bytes from 0');
  }
  if (kind === 'dribble' && fail.intervalMs === undefined) {
    throw invalidOption('fail.intervalMs', undefined, 'whole milliseconds from 0');
  }
}

/**
 * Throws if an adapter in use cannot do what the rule asks as a real network does: an approximation would let wrong code
 * pass.
 */
export function checkAdapterSupport(
  { fail }: { readonly fail?: Failure | undefined },
  inUse: readonly AdapterName[],
): void {
  if (fail === undefined) return;
  const { adapters, instead = '' } = FAILURES[fail.kind];
  const impossible = inUse.find((adapter) => !adapters.includes(adapter));
  if (impossible === undefined) return;
  const text = `fail: { kind: '${fail.kind}' } is not possible through ${NAMES[impossible]}. ${instead}.`;
  throw new MockServerError(text, { code: 'rule_not_possible', field: 'fail.kind' });
}

const NAMES: Readonly<Record<AdapterName, string>> = {
  fetch: 'mock.fetch, which has no connection',
  msw: 'msw (mock.listen(), mock.handlers), which delivers complete responses only',
  socket: 'mock.serve()',
};

function after(bytes: number): string {
  return `after ${bytes} bytes of the body`;
}

function deliver(response: MockResponse, change: Partial<Delivery>): MockResponse {
  return { ...response, delivery: { ...WHOLE, ...change } };
}

/** At least one byte is left: with its last byte, a response would be complete. */
function endedEarly(response: MockResponse, afterBytes: number, ending: 'reset' | 'close'): MockResponse {
  const length = Buffer.byteLength(response.body);
  return deliver(response, { bodyBytes: Math.min(afterBytes, length - 1), sendsHead: length > 0, ending });
}

function halve(response: MockResponse): MockResponse {
  const bytes = Buffer.from(response.body);
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  return withHeader({ ...response, body: half, text: undefined }, 'content-length', String(half.length));
}

/** A response with a header, or without it. */
export function withHeader(response: MockResponse, name: string, value: string | undefined): MockResponse {
  const { [name]: _, ...others } = response.headers;
  return { ...response, headers: value === undefined ? others : { ...others, [name]: value } };
}
