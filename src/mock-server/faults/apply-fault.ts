import { type Delivery, type InterruptibleWait, type MockResponse, wholeDelivery } from '../http/mock-message.ts';
import { errorResponse, reasonPhrase, writeResponse } from '../http/service-response.ts';
import { DEFAULT_CONTENT_TYPE } from './describe-fault.ts';
import type { FaultEffect, FaultKind } from './fault.ts';

/** What applying a fault needs beside it. */
export interface FaultTools {
  readonly method: string;
  /** Value of the `Date` header. */
  readonly date: string;
  readonly wait: InterruptibleWait;
}

/** The answer as the fault makes it; `undefined`: none, the connection breaks off. */
export function applyFault<Kind extends FaultKind>(
  response: MockResponse | undefined,
  effect: Effect<Kind>,
  tools: FaultTools,
): MockResponse | undefined {
  const kind: Kind = effect.kind;
  if (kind === 'status') return replaceAnswer(effect as Effect<'status'>, tools);
  if (response === undefined && !BREAKS_OFF.has(kind)) return undefined;
  const apply: ApplyKind<Kind> = APPLY_KIND[kind];
  return apply(response ?? NO_ANSWER, effect, tools);
}

type Effect<Kind extends FaultKind> = FaultEffect & { readonly kind: Kind };
type ApplyKind<Kind extends FaultKind> = (
  response: MockResponse,
  effect: Effect<Kind>,
  tools: FaultTools,
) => MockResponse | undefined;

/** In place of an answer when the service never made one. */
const NO_ANSWER: MockResponse = { status: 0, headers: {}, body: '' };
const BREAKS_OFF: ReadonlySet<FaultKind> = new Set(['reset', 'garbage']);

const APPLY_KIND: { readonly [Kind in FaultKind]: ApplyKind<Kind> } = {
  // Time passes outside of the answer.
  latency: (response) => response,
  hang: (response) => response,
  'network-error': () => undefined,
  status: (_, effect, tools) => replaceAnswer(effect, tools),
  reset: (response, { afterBytes }, { wait }) =>
    afterBytes === undefined
      ? deliver(response, { sendsHead: false, ending: 'reset' }, wait)
      : deliver(response, { bodyBytes: afterBytes, ending: 'reset' }, wait),
  truncate: (response, { afterBytes }, { wait }) => deliver(response, { bodyBytes: afterBytes, ending: 'close' }, wait),
  dribble: (response, { chunkBytes = 1, intervalMs }, { wait }) => deliver(response, { chunkBytes, intervalMs }, wait),
  'malformed-chunk': (response, { afterBytes = 0 }, { wait }) =>
    deliver(response, { bodyBytes: afterBytes, ending: 'malformed-chunk' }, wait),
  garbage: (response, _, { wait }) => deliver(response, { sendsHead: false, ending: 'garbage' }, wait),
  'bad-json': halve,
  'content-type': (response, { contentType = DEFAULT_CONTENT_TYPE }) =>
    withHeader(response, 'content-type', contentType),
  'retry-after': (response, { retryAfter }) => withHeader(response, 'retry-after', retryAfter),
};

function replaceAnswer(
  { status, code, headers = {}, body }: Effect<'status'>,
  { method, date }: FaultTools,
): MockResponse {
  const message = reasonPhrase(status) || 'Unknown';
  const envelope = errorResponse({ status, code: codeOfStatus({ status, code }), message });
  const type = body === undefined ? {} : { 'content-type': DEFAULT_CONTENT_TYPE };
  const given = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const text = STATUSES_WITHOUT_BODY.has(status) ? '' : (body ?? envelope.body);
  return writeResponse({ ...envelope, headers: { ...type, ...given }, body: text }, method, date);
}

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** The code of the envelope: as told, or `Service Unavailable` as `service_unavailable`. */
export function codeOfStatus({ status, code }: Pick<Effect<'status'>, 'status' | 'code'>): string {
  return code ?? (reasonPhrase(status) || 'unknown').toLowerCase().replace(/\W+/g, '_');
}

function deliver(response: MockResponse, change: Partial<Delivery>, wait: InterruptibleWait): MockResponse {
  const delivery = response.delivery ?? wholeDelivery(wait);
  // Of two cuts the earlier one is seen.
  if (change.bodyBytes !== undefined && change.bodyBytes >= delivery.bodyBytes) return response;
  return { ...response, delivery: { ...delivery, ...change } };
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
