import { isJson } from '../../json-object.ts';
import { type Delivery, type InterruptibleWait, type MockResponse, readHeaders } from '../http/mock-message.ts';
import type { HandledRequest } from '../http/service-handler.ts';
import {
  codeOfStatus,
  errorResponse,
  reasonPhrase,
  STATUSES_WITHOUT_BODY,
  writeResponse,
} from '../http/service-response.ts';
import type { FaultKind, StruckSettings } from './fault-kinds.ts';

/** What applying a fault needs beside the response. */
interface FaultTools {
  readonly method: string;
  /** Value of the `Date` header. */
  readonly date: string;
  readonly wait: InterruptibleWait;
}

/** A response with its faults applied, and its journal entry. */
export function applyFaults(
  handled: HandledRequest,
  struck: readonly StruckSettings[],
  tools: FaultTools,
): HandledRequest {
  if (struck.length === 0) return handled;
  let { response, waitMs = 0 } = handled;
  for (const settings of struck) {
    response = applyFault(response, settings, tools);
    waitMs += waitAfter(settings);
  }
  response = response && endedEarly(response);
  return { response, waitMs, entry: entryOf(handled, { response, waitMs }, struck) };
}

type Effect<Kind extends FaultKind> = StruckSettings & { readonly kind: Kind };

interface Action<Kind extends FaultKind> {
  /** What the fault does, in words for the journal. */
  readonly describe: (effect: Effect<Kind>) => string;
  /** Returns the changed response; `undefined` to break the connection. If omitted, the fault only delays the response. */
  readonly apply?: (response: MockResponse, effect: Effect<Kind>, tools: FaultTools) => MockResponse | undefined;
  /** Whether the fault also applies if the service has created no response. */
  readonly needsNoResponse?: boolean;
}

const ACTIONS: { readonly [Kind in FaultKind]: Action<Kind> } = {
  latency: { describe: ({ latencyMs }) => `${latencyMs} ms late` },
  hang: {
    describe: ({ hangMs }) =>
      hangMs === Number.POSITIVE_INFINITY
        ? 'never responds'
        : `no response, the connection broke off after ${hangMs} ms`,
    apply: () => undefined,
  },
  'network-error': { describe: () => 'the connection broke off', apply: () => undefined },
  status: {
    describe: ({ status }) => `responds with ${status}`,
    apply: (_, effect, tools) => replaceResponse(effect, tools),
    needsNoResponse: true,
  },
  reset: {
    describe: ({ afterBytes }) =>
      afterBytes === undefined ? 'the connection was reset' : `reset ${after(afterBytes)}`,
    apply: (response, { afterBytes }, { wait }) =>
      afterBytes === undefined
        ? deliver(response, { sendsHead: false, ending: 'reset' }, wait)
        : deliver(response, { bodyBytes: afterBytes, ending: 'reset' }, wait),
    needsNoResponse: true,
  },
  truncate: {
    describe: ({ afterBytes }) => `truncate ${after(afterBytes)}`,
    apply: (response, { afterBytes }, { wait }) => deliver(response, { bodyBytes: afterBytes, ending: 'close' }, wait),
  },
  dribble: {
    describe: ({ chunkBytes = 1, intervalMs }) => `${chunkBytes} bytes every ${intervalMs} ms`,
    apply: (response, { chunkBytes = 1, intervalMs }, { wait }) => deliver(response, { chunkBytes, intervalMs }, wait),
  },
  'malformed-chunk': {
    describe: ({ afterBytes = 0 }) => `malformed-chunk ${after(afterBytes)}`,
    apply(response, { afterBytes = 0 }, { wait }) {
      const cut = deliver(response, { bodyBytes: afterBytes, ending: 'malformed-chunk' }, wait);
      return cut === response
        ? cut
        : withHeader(withHeader(cut, 'content-length', undefined), 'transfer-encoding', 'chunked');
    },
  },
  garbage: {
    describe: () => 'garbage',
    apply: (response, _, { wait }) => deliver(response, { sendsHead: false, ending: 'garbage' }, wait),
    needsNoResponse: true,
  },
  'bad-json': { describe: () => 'bad-json', apply: halve },
  'content-type': {
    describe: ({ contentType = DEFAULT_CONTENT_TYPE }) => `content-type ${contentType}`,
    apply: (response, { contentType = DEFAULT_CONTENT_TYPE }) => withHeader(response, 'content-type', contentType),
  },
  'retry-after': {
    describe: ({ retryAfter }) => (retryAfter === undefined ? 'without Retry-After' : `Retry-After ${retryAfter}`),
    apply: (response, { retryAfter }) => withHeader(response, 'retry-after', retryAfter),
  },
};

const DEFAULT_CONTENT_TYPE = 'text/html';

/** Replaces the response if the service has created none. */
const NO_RESPONSE: MockResponse = { status: 0, headers: {}, body: '' };

function applyFault<Kind extends FaultKind>(
  response: MockResponse | undefined,
  effect: Effect<Kind>,
  tools: FaultTools,
): MockResponse | undefined {
  const { apply, needsNoResponse = false } = actionOf(effect);
  if (apply === undefined || (response === undefined && !needsNoResponse)) return response;
  return apply(response ?? NO_RESPONSE, effect, tools);
}

function actionOf<Kind extends FaultKind>({ kind }: Effect<Kind>): Action<Kind> {
  return ACTIONS[kind as Kind];
}

function after(bytes: number): string {
  return `after ${bytes} bytes of the body`;
}

/** A latency in front of the service has passed by now. */
function waitAfter(settings: StruckSettings): number {
  if (settings.kind === 'hang') return settings.hangMs;
  return settings.kind === 'latency' && settings.strikes === 'after' ? settings.latencyMs : 0;
}

function entryOf(
  { entry }: HandledRequest,
  { response, waitMs }: Pick<HandledRequest, 'response' | 'waitMs'>,
  struck: readonly StruckSettings[],
): HandledRequest['entry'] {
  const hasArrived = response?.delivery?.sendsHead !== false && waitMs !== Number.POSITIVE_INFINITY;
  const status = hasArrived ? (response?.status ?? 0) : 0;
  const reasons = struck.map((settings) => `fault ${settings.id}: ${actionOf(settings).describe(settings)}`);
  return {
    ...entry,
    status,
    code: status === 0 ? undefined : codeAfter(struck, entry.code),
    why: [entry.why, ...reasons].filter((reason) => reason !== '').join('; '),
    faults: struck.map(({ id }) => id),
  };
}

/** The `error.code` that the client can read. */
function codeAfter(struck: readonly StruckSettings[], decided: string | undefined): string | undefined {
  const replaced = struck.findLast(({ kind }) => kind === 'status');
  if (replaced?.kind !== 'status') return decided;
  const hasEnvelope = replaced.body === undefined && !STATUSES_WITHOUT_BODY.has(replaced.status);
  return hasEnvelope ? codeOf(replaced) : undefined;
}

function replaceResponse(
  { status, code, headers = {}, body }: Effect<'status'>,
  { method, date }: FaultTools,
): MockResponse {
  const message = reasonPhrase(status) || 'Unknown';
  const envelope = errorResponse({ status, code: codeOf({ status, code }), message });
  const type = body === undefined || isJson(body) ? {} : { 'content-type': DEFAULT_CONTENT_TYPE };
  const given = readHeaders(headers);
  const text = STATUSES_WITHOUT_BODY.has(status) ? '' : (body ?? envelope.body);
  return writeResponse({ ...envelope, ...given, headers: { ...type, ...given.headers }, body: text }, method, date);
}

function codeOf({ status, code }: Pick<Effect<'status'>, 'status' | 'code'>): string {
  return code ?? codeOfStatus(status);
}

function deliver(response: MockResponse, change: Partial<Delivery>, wait: InterruptibleWait): MockResponse {
  const delivery = response.delivery ?? { ...WHOLE, wait };
  // Of two cuts the earlier one is seen.
  if (change.bodyBytes !== undefined && change.bodyBytes >= delivery.bodyBytes) return response;
  return { ...response, delivery: { ...delivery, ...change } };
}

const WHOLE = { sendsHead: true, bodyBytes: Infinity, chunkBytes: Infinity, intervalMs: 0, ending: 'whole' } as const;

/** Limits a reset or close to at least one byte before the end: with its last byte, a response would be complete. */
function endedEarly(response: MockResponse): MockResponse {
  const { body, delivery } = response;
  if (delivery?.ending !== 'reset' && delivery?.ending !== 'close') return response;
  const length = Buffer.byteLength(body);
  const bodyBytes = Math.min(delivery.bodyBytes, length - 1);
  return { ...response, delivery: { ...delivery, bodyBytes, sendsHead: delivery.sendsHead && length > 0 } };
}

function halve(response: MockResponse): MockResponse {
  const bytes = Buffer.from(response.body);
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  return withHeader({ ...response, body: half }, 'content-length', String(half.length));
}

function withHeader(response: MockResponse, name: string, value: string | undefined): MockResponse {
  const { [name]: _, ...others } = response.headers;
  return { ...response, headers: value === undefined ? others : { ...others, [name]: value } };
}
