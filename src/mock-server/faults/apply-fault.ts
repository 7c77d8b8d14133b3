import { isJson } from '../../json.ts';
import { type Delivery, type MockResponse, noResponse, readHeaders, WHOLE } from '../http/mock-message.ts';
import { codeOfStatus, completed, errorResponse, reasonPhrase, STATUSES_WITHOUT_BODY } from '../http/responses.ts';
import type { FaultKind, FaultRecord, StruckFault } from './fault-kinds.ts';

/** The request whose response a fault replaces. */
interface Struck {
  readonly method: string;
  readonly now: number;
}

/** The response with its faults applied. Its reason names them, and its delay includes theirs. */
export function applyFaults(response: MockResponse, struck: readonly StruckFault[], request: Struck): MockResponse {
  return struck.length === 0
    ? response
    : endedEarly(struck.reduce((current, fault) => applyFault(current, fault, request), response));
}

type Effect<Kind extends FaultKind> = FaultRecord['settings'] & { readonly kind: Kind };

interface Action<Kind extends FaultKind> {
  /** What the fault does, in words for the journal. */
  readonly describe: (effect: Effect<Kind>, waitMs: number) => string;
  /** If omitted, the fault only delays the response. */
  readonly apply?: (response: MockResponse, effect: Effect<Kind>, request: Struck) => MockResponse;
  /** Whether the fault also applies if the service has created no response. */
  readonly needsNoResponse?: boolean;
}

const ACTIONS: { readonly [Kind in FaultKind]: Action<Kind> } = {
  latency: { describe: (_, waitMs) => `${waitMs} ms late` },
  hang: {
    describe: (_, waitMs) =>
      waitMs === Number.POSITIVE_INFINITY
        ? 'never responds'
        : `no response, the connection broke off after ${waitMs} ms`,
    apply: (response) => noResponse('', response),
  },
  'network-error': { describe: () => 'the connection broke off', apply: (response) => noResponse('', response) },
  status: {
    describe: ({ status }) => `responds with ${status}`,
    apply: replaceResponse,
    needsNoResponse: true,
  },
  reset: {
    describe: ({ afterBytes }) =>
      afterBytes === undefined ? 'the connection was reset' : `reset ${after(afterBytes)}`,
    apply: (response, { afterBytes }) =>
      afterBytes === undefined
        ? deliver(response, { sendsHead: false, ending: 'reset' })
        : deliver(response, { bodyBytes: afterBytes, ending: 'reset' }),
    needsNoResponse: true,
  },
  truncate: {
    describe: ({ afterBytes }) => `truncate ${after(afterBytes)}`,
    apply: (response, { afterBytes }) => deliver(response, { bodyBytes: afterBytes, ending: 'close' }),
  },
  dribble: {
    describe: ({ chunkBytes = 1, intervalMs }) => `${chunkBytes} bytes every ${intervalMs} ms`,
    apply: (response, { chunkBytes = 1, intervalMs }) => deliver(response, { chunkBytes, intervalMs }),
  },
  'malformed-chunk': {
    describe: ({ afterBytes = 0 }) => `malformed-chunk ${after(afterBytes)}`,
    apply(response, { afterBytes = 0 }) {
      const cut = deliver(response, { bodyBytes: afterBytes, ending: 'malformed-chunk' });
      return cut === response
        ? cut
        : withHeader(withHeader(cut, 'content-length', undefined), 'transfer-encoding', 'chunked');
    },
  },
  garbage: {
    describe: () => 'garbage',
    apply: (response) => deliver(response, { sendsHead: false, ending: 'garbage' }),
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

function applyFault(response: MockResponse, { settings, waitMs }: StruckFault, request: Struck): MockResponse {
  const { apply, describe, needsNoResponse = false } = actionOf(settings);
  const applies = apply !== undefined && (response.status !== 0 || needsNoResponse);
  const changed = applies ? apply(response, settings, request) : response;
  const what = `fault ${settings.id}: ${describe(settings, waitMs)}`;
  const why = response.why === '' ? what : `${response.why}; ${what}`;
  const hasPassed = settings.kind === 'latency' && settings.strikes === 'before';
  return { ...changed, why, delayMs: (response.delayMs ?? 0) + (hasPassed ? 0 : waitMs) };
}

function actionOf<Kind extends FaultKind>({ kind }: Effect<Kind>): Action<Kind> {
  return ACTIONS[kind as Kind];
}

function after(bytes: number): string {
  return `after ${bytes} bytes of the body`;
}

function replaceResponse(
  response: MockResponse,
  { status, code, headers = {}, body }: Effect<'status'>,
  struck: Struck,
): MockResponse {
  const message = reasonPhrase(status) || 'Unknown';
  const envelope = errorResponse({ status, code: code ?? codeOfStatus(status), message });
  const type = body === undefined || isJson(body) ? {} : { 'content-type': DEFAULT_CONTENT_TYPE };
  const hasEnvelope = body === undefined && !STATUSES_WITHOUT_BODY.has(status);
  const text = hasEnvelope ? envelope.body : (body ?? '');
  const replaced = { ...envelope, headers: { ...type, ...readHeaders(headers) }, body: text };
  const { facts, stub } = response;
  return { ...completed(replaced, struck), code: hasEnvelope ? envelope.code : undefined, facts, stub };
}

function deliver(response: MockResponse, change: Partial<Delivery>): MockResponse {
  const delivery = response.delivery ?? WHOLE;
  // Of two cuts the earlier one is seen.
  if (change.bodyBytes !== undefined && change.bodyBytes >= delivery.bodyBytes) return response;
  return { ...response, delivery: { ...delivery, ...change } };
}

/** Limits a reset or close to at least one byte before the end: with its last byte, a response would be complete. */
function endedEarly(response: MockResponse): MockResponse {
  const { body, delivery } = response;
  if (delivery?.sendsHead !== true || (delivery.ending !== 'reset' && delivery.ending !== 'close')) return response;
  const length = Buffer.byteLength(body);
  const bodyBytes = Math.min(delivery.bodyBytes, length - 1);
  return { ...response, delivery: { ...delivery, bodyBytes, sendsHead: length > 0 } };
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
