import type { BehaviourValues } from '../behaviour/switches.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { nextTurn } from '../clock/event-loop.ts';
import { type HandleRequest, type MockResponse, noResponse, type RequestSource } from '../http/message.ts';
import {
  type KnownRequests,
  type ParsedRequest,
  parseRequest,
  recordResponse,
  shortened,
} from '../http/parse-request.ts';
import { completed, internalError, isPreflight, withCorsHeaders } from '../http/responses.ts';
import type { JournalEntry } from '../journal/journal.ts';
import { AppliedRules } from '../rules/applied-rules.ts';
import { withEffects } from '../rules/rule-effects.ts';
import type { KeyRecord } from '../service/service-state.ts';
import { isOpen, type MockState } from './mock-state.ts';
import { factsOf, identified, type Reply, respond, respondWithoutService } from './respond.ts';

/**
 * Handles requests that reach a mock or a space, step by step: parses the request, finds the space of its key and the rules
 * that apply, lets the service or a rule respond, applies the other effects of the rules, writes the journal, and
 * delivers the response. Synchronous unless a rule delays the response, or sends it in pieces.
 */
export function createHandler(receiver: MockState): HandleRequest {
  const known: KnownRequests = { targets: new Map(), headers: {} };
  const { parent = receiver } = receiver;
  const isSpace = parent !== receiver;
  const ownerOf = createOwnerFinder(parent);
  return (message, source) => {
    const request = parseRequest(message, known);
    // A space handles all requests that it receives itself, until it is closed.
    const mock = isSpace && isOpen(receiver) ? receiver : ownerOf(request);
    const exchange = { mock, request, source };
    mock.clock.noteRequest();
    try {
      const handled = handle(exchange);
      return handled instanceof Promise ? handled.catch((error: unknown) => sendFailure(exchange, error)) : handled;
    } catch (error) {
      return sendFailure(exchange, error);
    }
  };
}

/** A hundred keys for each of a hundred spaces. */
const MOST_NAMES = 10_000;

/** Finds the mock or the space that has the key of a request; the mock without a known key. */
function createOwnerFinder(mock: MockState): (request: ParsedRequest) => MockState {
  const { state, spaces } = mock;
  const hasKey = (space: MockState | undefined, hash: string) => space?.state.keysByHash.has(hash) === true;
  /** The space of each key, so that a request does not ask each of many spaces. */
  const names = new Map<string, string>();
  const findSpace = (hash: string) => {
    const known = spaces.get(names.get(hash) ?? '');
    if (hasKey(known, hash)) return known;
    const found = Array.from(spaces.values()).find((space) => hasKey(space, hash));
    if (names.size === MOST_NAMES) names.clear();
    if (found?.name !== undefined) names.set(hash, found.name);
    return found;
  };
  return ({ credentials }) => {
    if (spaces.size === 0) return mock;
    for (const { hash } of credentials) {
      const owner = state.keysByHash.has(hash) ? mock : findSpace(hash);
      if (owner !== undefined) return owner;
    }
    return mock;
  };
}

interface Exchange {
  readonly mock: MockState;
  readonly request: ParsedRequest;
  readonly source: RequestSource;
}

function handle(exchange: Exchange): MockResponse | Promise<MockResponse> {
  const { mock, request } = exchange;
  const applied = mock.state.rules.length === 0 ? undefined : rulesFor(exchange);
  if (applied === undefined) return send(exchange, respond(mock, request));
  return send(exchange, respondWithoutService(mock, request, applied) ?? respond(mock, request, applied), applied);
}

function rulesFor({ mock, request, source: { adapter } }: Exchange): AppliedRules | undefined {
  // A preflight has no part in a test's count of requests.
  const isShared = isPreflight(request.message) && mock.behaviour.values.cors === 'any-origin';
  return isShared ? undefined : new AppliedRules(mock.state, { request: identified(request, mock), adapter });
}

/** Reports a failure of the mock, such as a rule whose regular expression takes too long. In process, `mock.fetch` rejects. */
function sendFailure(exchange: Exchange, error: unknown): MockResponse | Promise<MockResponse> {
  const { mock, request, source } = exchange;
  if (source.adapter === 'fetch') throw error;
  const response = completed(internalError(error), { method: request.recorded.method, now: mock.now() });
  return send(exchange, { response, facts: factsOf(mock, request) });
}

/** Applies the effects of the rules, writes the journal, waits for the delays, and returns the response to the adapter. */
function send(exchange: Exchange, reply: Reply, applied?: AppliedRules): MockResponse | Promise<MockResponse> {
  const { mock } = exchange;
  const response = deliveredOf(exchange, reply, applied);
  const entry = entryOf(exchange, { response, facts: reply.facts }, applied?.used ?? NONE);
  mock.journal.add(entry);
  const key = keyOf(exchange, entry);
  if (key !== undefined) key.wasUsed = true;
  mock.noteChange?.();
  mock.parent?.journal.notifyOfSpace(entry);
  if (response.status === 429) requireOwnClock(exchange);
  if (response.delivery !== undefined || response.delayMs) return sendLate(exchange, response, entry);
  if (response.headers['retry-after'] !== undefined) noteRetryAfter(exchange, response, { key, entry });
  return response;
}

const NONE: readonly string[] = Object.freeze([]);

function deliveredOf({ mock }: Exchange, { response, facts }: Reply, applied?: AppliedRules): MockResponse {
  const isReadableByAll = mock.behaviour.values.cors === 'any-origin' && response.status !== 0;
  const readable = isReadableByAll ? withCorsHeaders(response) : response;
  if (applied === undefined) return readable;
  const changed = withEffects(readable, applied, facts.at);
  const near = applied.near(facts.isUnknownRoute);
  if (near.length === 0) return changed;
  const { why } = changed;
  const isSentence = /[.?]$/.test(why);
  const all = isSentence ? [why, ...near.map((text) => `${text}.`)].join(' ') : [why, ...near].join('; ');
  return { ...changed, why: all };
}

/** A client that waits on another virtual clock than that of its limit would send requests without an end. */
function requireOwnClock({ mock: { clock, name }, source }: Exchange): void {
  if (source.clock === undefined || source.clock === clock || clock.mode === 'real') return;
  throw new Error(`the key belongs to ${name ?? 'the mock'}; use its clientOptions()`);
}

/** Sends a response after its delay, or in pieces. If the connection ends before, another entry replaces that of the request. */
async function sendLate(exchange: Exchange, response: MockResponse, first: JournalEntry): Promise<MockResponse> {
  const { journal, delays } = exchange.mock;
  const asked = { key: keyOf(exchange, first), entry: first }; // the key can be restored during the delay
  let entry = first;
  const amend = (change: Partial<JournalEntry>) => {
    entry = journal.replace(entry, { ...entry, ...change });
  };
  const { delivery, delayMs = 0, hangingBy } = response;
  const onEndedEarly = (reason: string) => {
    // The entry of a request that hangs has status 0 from the start. It ends with its rule.
    if (hangingBy === undefined) amend({ ...NOTHING_SENT, why: `${entry.why}; ${reason} before the response` });
    return noResponse(entry.why);
  };
  const signal = exchange.source.getSignal?.();
  const early = delayMs > 0 ? await delays.wait(delayMs, signal, { hangingBy, onEndedEarly }) : undefined;
  if (early !== undefined) return early;
  const onBodyEnded = (reason: string) => {
    amend({ why: `${entry.why}; ${reason} before the end of the body` });
    return true;
  };
  const wait = async (ms: number, ended: AbortSignal | undefined) =>
    (await delays.wait(ms, ended, { onEndedEarly: onBodyEnded })) === undefined;
  noteRetryAfter(exchange, response, asked);
  return delivery === undefined ? response : { ...response, delivery: { ...delivery, wait } };
}

const NOTHING_SENT = { status: 0, code: undefined, responseHeaders: undefined, responseBody: undefined };

/**
 * The entry of a request, with the response after the effects of rules. It is in the journal from the arrival of the request
 * on, because a test can wait for the request before it advances the clock.
 */
function entryOf(
  { mock, request, source }: Exchange,
  { response, facts }: Reply,
  rules: readonly string[],
): JournalEntry {
  const { recorded, target } = request;
  const { delivery, delayMs } = response;
  const { use } = facts;
  const isSent = delivery?.sendsHead !== false && delayMs !== Number.POSITIVE_INFINITY;
  const { responseHeaders, responseBody } = isSent ? recordResponse(response, target) : NOTHING_SENT;
  return {
    number: mock.journal.last + 1,
    space: mock.name,
    at: facts.at,
    method: recorded.method,
    path: recorded.path,
    query: recorded.query,
    headers: recorded.headers,
    body: recorded.body && shortened(recorded.body),
    hasKeyInUrl: recorded.hasKeyInUrl,
    operation: facts.operation,
    isUnknownRoute: facts.isUnknownRoute,
    keyId: use.keyId,
    keyTransport: use.keyTransport,
    rate: use.rate,
    quota: use.quota,
    earlyByMs: use.earlyByMs,
    switches: facts.switches,
    rules,
    why: use.earlyByMs === undefined ? response.why : response.why + slowClockText({ mock, source }, response.status),
    // Not spread: V8 takes microseconds to add fields to an object of this size.
    status: isSent ? response.status : 0,
    code: isSent ? response.code : undefined,
    responseHeaders,
    responseBody,
  };
}

function keyOf({ mock }: Exchange, { keyId = '' }: JournalEntry): KeyRecord | undefined {
  return mock.state.keys.get(keyId);
}

/** The key of a request, as it was when the request was decided, and its first entry. */
interface Asked {
  readonly key: KeyRecord | undefined;
  readonly entry: JournalEntry;
}

/**
 * Stores the end of the Retry-After of a response, after the effects of rules. It is stored when the client has the response:
 * a request that arrives before that was sent without knowledge of it, and is not early.
 */
function noteRetryAfter({ mock, source }: Exchange, { headers, delivery }: MockResponse, { key, entry }: Asked): void {
  const value = headers['retry-after'];
  if (key === undefined || typeof value !== 'string' || delivery?.sendsHead === false) return;
  const { at, operation, quota } = entry;
  const { retryAfterUnit, quotaEndpointBucket } = mock.behaviour.values;
  const until = Math.min(LATEST_MS, retryTime(value, at, retryAfterUnit));
  if (Number.isNaN(until)) return;
  // The quota endpoint works while the month is used up, and can have a window of its own.
  const isUsedUp = quota !== undefined && quota.limit !== null && quota.used >= quota.limit;
  const isForAll = quotaEndpointBucket === 'shared' && !isUsedUp;
  const store = () => {
    if (isForAll || operation !== 'quota') key.retryAt = until;
    if (isForAll || operation === 'quota') key.quotaEndpointRetryAt = until;
    mock.noteChange?.();
  };
  // A client in process may react in the same turn of the event loop; over a socket, in the next one at the earliest.
  if (source.adapter === 'socket') void nextTurn().then(store);
  else void Promise.resolve().then(store); // fake timers also replace queueMicrotask
}

/** The end of a Retry-After that arrives at `at`: a number, or an HTTP date; NaN for anything else. */
function retryTime(value: string, at: number, unit: BehaviourValues['retryAfterUnit']): number {
  if (!/^\d+(?:\.\d+)?$/.test(value)) return / GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  return at + (unit === 'seconds' ? Math.round(Number(value) * 1000) : Number(value));
}

/** A client that waits in real time is refused for ever by a clock that only the test moves. */
function slowClockText({ mock: { clock }, source }: Pick<Exchange, 'mock' | 'source'>, status: number): string {
  const isReal = clock.mode === 'real';
  if (status !== 429 || source.clock === clock || (isReal && !clock.isFrozen)) return '';
  return `; if the client waited in real time, advance the clock of the mock, or ${isReal ? 'resume it' : "use clock 'real'"}`;
}
