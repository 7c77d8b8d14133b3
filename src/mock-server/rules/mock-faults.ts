import { isJson, isJsonObject } from '../../json.ts';
import type { ResponseDelays } from '../clock/response-delays.ts';
import { type AdapterName, type Delivery, type MockResponse, noResponse, readHeaders, WHOLE } from '../http/message.ts';
import type { IdentifiedRequest } from '../http/parse-request.ts';
import { codeOfStatus, completed, errorResponse, reasonPhrase, STATUSES_WITHOUT_BODY } from '../http/responses.ts';
import { checkedInput } from '../input/checked-input.ts';
import { freeName, invalidOption, MockServerError, withId, within } from '../input/mock-server-error.ts';
import { checkKeyId, matchesPattern } from '../matching/request-pattern.ts';
import { chance } from '../service/random.ts';
import { drawDelayMs } from './delay.ts';
import {
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  type FaultOptions,
  type FaultRecord,
  faultKinds,
  type StruckFault,
} from './fault-kinds.ts';
import type { RuleContext, RuleState } from './rule-state.ts';

/** Adds and removes faults: failures that the test defines. */
export interface MockFaults {
  /**
   * Adds a fault that applies from the next request on. If several faults match a request, they strike it in the order in
   * which they were added, up to one that ends it, such as `hang`.
   * @throws MockServerError with code `invalid_option`; `fault_not_possible`, if an adapter in use cannot reproduce the
   * fault.
   * @example mock.faults.add({ kind: 'status', status: 503, times: 2 })
   */
  add(fault: FaultOptions): Fault;
  /** Returns the faults that have not expired, oldest first. */
  list(): readonly Fault[];
  /**
   * Returns a fault that has not expired.
   * @throws MockServerError with code `not_found`.
   */
  get(id: string): Fault;
  /**
   * Removes a fault. When a `hang` fault is removed or expires, the requests that it blocks end without a response.
   * @throws MockServerError with code `not_found`.
   */
  remove(id: string): void;
  /** Removes all faults, as `remove()` does. */
  clear(): void;
}

/** What faults need of a mock. */
interface FaultContext extends RuleContext {
  readonly adapters: { readonly inUse: readonly AdapterName[] };
  readonly delays: ResponseDelays;
}

export function createMockFaults({ state, now, adapters, delays }: FaultContext): MockFaults {
  const current = () => unexpired(state.faults, now());
  const find = (id: string) => {
    const among = new Map(current().map((fault) => [fault.settings.id, fault]));
    return withId('fault', id, { among, otherwise: 'has expired' });
  };
  return {
    add(options) {
      const settings = checkedFault(options, state);
      checkAdapterSupport(settings, adapters.inUse);
      const fault = { settings, addedAt: now(), matched: 0, struck: 0, matchedByKey: {} };
      const others = current().filter((other) => other.settings.id !== settings.id);
      delays.endHangsOf(settings.id);
      state.faults = [...others, fault];
      state.lastFault += 1;
      return toFault(fault);
    },
    list: () => current().map(toFault),
    get: (id) => toFault(find(id)),
    remove(id) {
      const removed = find(id);
      state.faults = current().filter((fault) => fault !== removed);
      delays.endHangsOf(id);
    },
    clear() {
      for (const { settings } of state.faults) delays.endHangsOf(settings.id);
      state.faults = [];
    },
  };
}

/** A copy of the settings with their defaults, without what `toFault` added. Throws for an invalid one. */
function checkedFault(given: FaultOptions, state: RuleState): FaultRecord['settings'] {
  if (!isJsonObject(given)) throw invalidOption('fault', given, 'an object with a kind');
  const read = given as FaultOptions & Partial<Fault>; // may be one that was read
  const { addedAt: _, matched: __, struck: ___, ...options } = read;
  const { kind, match, strikes = 'after' } = options;
  if (!FAULT_KINDS.includes(kind)) throw invalidOption('kind', kind, `one of ${FAULT_KINDS.join(', ')}`);
  const what = `a setting of a ${kind} fault`;
  const data = checkedInput(faultKinds[kind].options, options, { what });
  checkBody(options);
  checkStrikes(options);
  within('match', () => checkKeyId(match ?? {}, state.keys));
  return { ...data, id: options.id ?? nextId(state), strikes } as FaultRecord['settings'];
}

function checkBody(options: FaultOptions): void {
  if (options.kind !== 'status') return;
  if (options.body !== undefined && options.code !== undefined) {
    throw invalidOption('code', options.code, 'either code or body, because the code is part of the body');
  }
  if ((options.body ?? '') === '' || !STATUSES_WITHOUT_BODY.has(options.status)) return;
  throw invalidOption('body', options.body, `no body, because a response with status ${options.status} has none`);
}

/** What the kinds and their settings alone cannot say. */
function checkStrikes(options: FaultOptions): void {
  const { kind, strikes, match } = options;
  if (strikes !== 'before') return;
  if (!faultKinds[kind].canStrikeBefore) {
    throw invalidOption('strikes', strikes, `'after', because a ${kind} fault changes a response`);
  }
  const notYet = "with strikes: 'before', because the service has not responded yet";
  if (match?.status !== undefined) throw invalidOption('match.status', match.status, `no status ${notYet}`);
  if (kind !== 'reset' || options.afterBytes === undefined) return;
  throw invalidOption('afterBytes', options.afterBytes, `no afterBytes ${notYet}`);
}

function nextId({ lastFault, faults }: RuleState): string {
  return freeName('fault', lastFault + 1, (name) => faults.some(({ settings }) => settings.id === name));
}

function toFault({ settings, addedAt, matched, struck }: FaultRecord): Fault {
  return { ...structuredClone(settings), addedAt, matched, struck };
}

/**
 * The faults that strike a request at this point, in the order in which they were added, up to the first that ends the
 * request. Counts in one synchronous step, like the limits.
 */
export function selectFaults(
  state: Pick<RuleState, 'faults' | 'seed'>,
  candidate: FaultCandidate,
  point: 'before' | 'after',
): readonly StruckFault[] {
  state.faults = unexpired(state.faults, candidate.request.at);
  const struck: StruckFault[] = [];
  for (const fault of state.faults) {
    if (fault.settings.strikes !== point || !countMatch(fault, candidate, state)) continue;
    // The adapter was opened after the fault was added, so it could not be checked then.
    checkAdapterSupport(fault.settings, [candidate.adapter]);
    struck.push({ settings: fault.settings, waitMs: waitOf(fault, candidate, state) });
    if (endsRequest(fault)) break;
  }
  return struck;
}

/** Whether the fault ends the request: without a response, or with one that replaces the service's. */
function endsRequest({ settings }: FaultRecord): boolean {
  if (settings.strikes === 'before') return settings.kind !== 'latency';
  if (settings.kind === 'reset') return settings.afterBytes === undefined;
  return settings.kind === 'hang' || settings.kind === 'network-error' || settings.kind === 'garbage';
}

/** The draw depends on the requests of the same key only, like `probability`. */
function waitOf(
  { settings, matchedByKey, addedAt }: FaultRecord,
  { request: { keyId = '', at } }: FaultCandidate,
  { seed }: Pick<RuleState, 'seed'>,
): number {
  if (settings.kind === 'hang') return addedAt + (settings.forMs ?? Number.POSITIVE_INFINITY) - at;
  if (settings.kind !== 'latency') return 0;
  return drawDelayMs(settings.latencyMs, seed, settings.id, keyId, matchedByKey[keyId] ?? 0);
}

/** A request in front of a fault. */
interface FaultCandidate {
  /** Read when it arrives, or after the decision. */
  readonly request: IdentifiedRequest;
  readonly adapter: AdapterName;
  /** The response of the service; `undefined` before it. */
  readonly response: MockResponse | undefined;
}

/** Counts the request if the fault is for it, and returns whether the fault strikes. */
function countMatch(fault: FaultRecord, candidate: FaultCandidate, { seed }: Pick<RuleState, 'seed'>): boolean {
  const { id, nth, times, probability = 1 } = fault.settings;
  if (!isFor(fault, candidate)) return false;
  const key = candidate.request.keyId ?? '';
  const ofKey = (fault.matchedByKey[key] ?? 0) + 1;
  fault.matchedByKey[key] = ofKey;
  fault.matched += 1;
  if (nth !== undefined && ![nth].flat().includes(fault.matched)) return false;
  if (times !== undefined && fault.struck >= times) return false;
  if (chance(seed, id, key, ofKey) >= probability) return false;
  fault.struck += 1;
  return true;
}

/** A fault applies from `addedAt` until `addedAt + forMs`, exclusive. */
function unexpired(faults: readonly FaultRecord[], at: number): readonly FaultRecord[] {
  return faults.filter(({ settings: { forMs }, addedAt }) => forMs === undefined || at < addedAt + forMs);
}

function isFor({ settings }: FaultRecord, { request, adapter, response }: FaultCandidate): boolean {
  const { match = {} } = settings;
  return (
    matchesPattern(match, request) &&
    (match.via === undefined || [match.via].flat().includes(adapter)) &&
    (match.status === undefined || match.status === response?.status) &&
    (settings.strikes === 'before' || hasTarget(settings.kind, response))
  );
}

function hasTarget(kind: FaultRecord['settings']['kind'], response: MockResponse | undefined): boolean {
  if (kind === 'retry-after') return response?.headers['retry-after'] !== undefined;
  if (kind === 'bad-json') return response !== undefined && response.body.length > 0;
  return true;
}

/**
 * Throws if an adapter in use cannot reproduce the fault as a real network does: an approximation would let wrong code
 * pass.
 */
export function checkAdapterSupport({ kind, match }: FaultRecord['settings'], inUse: readonly AdapterName[]): void {
  const { adapters, instead = '' } = faultKinds[kind];
  const wanted = match?.via === undefined ? inUse : [match.via].flat();
  const impossible = wanted.find((adapter) => !adapters.includes(adapter));
  if (impossible === undefined) return;
  const able = adapters.map((adapter) => `'${adapter}'`).join(', ');
  throw new MockServerError(
    `A ${kind} fault is not possible through ${NAMES[impossible]}. ${instead}; or add match: { via: [${able}] } to strike only requests of other adapters.`,
    { code: 'fault_not_possible' },
  );
}

const NAMES: Readonly<Record<AdapterName, string>> = {
  fetch: 'mock.fetch, which has no connection',
  msw: 'msw (mock.listen(), mock.handlers), which delivers complete responses only',
  socket: 'mock.serve()',
};

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
  return { ...completed(replaced, struck), code: hasEnvelope ? envelope.code : undefined, stub: response.stub };
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
