import * as z from 'zod';
import { definedOf, isJson, isJsonObject, members, parseJson } from '../../json.ts';
import { type MockResponse, readHeaders } from '../http/message.ts';
import { isAdminPath } from '../http/own-paths.ts';
import { type ParsedRequest, parametersOf } from '../http/parse-request.ts';
import { codeOfStatus, errorBody, reasonPhrase, STATUSES_WITHOUT_BODY, successBody } from '../http/responses.ts';
import { checkedInput, expected, strictObject, type ValueOf } from '../input/checked-input.ts';
import { freeName, invalidOption, withId, within } from '../input/mock-server-error.ts';
import {
  checkKeyId,
  differences,
  type MatchedRequest,
  matchesPattern,
  nearMisses,
} from '../matching/request-pattern.ts';
import { drawDelayMs } from './delay.ts';
import { JsonText, jsonOf, parseReplay, type Replay, recordedResponseTo, unquoted, withDigits } from './json-parts.ts';
import type { RuleContext, RuleState } from './rule-state.ts';
import {
  type LatestFunction,
  type Stub,
  type StubbedResponse,
  type StubOptions,
  type StubRecord,
  type StubResponse,
  type StubSource,
  stubOptions,
} from './stub-schemas.ts';

/** Adds and removes stubs: responses that the test defines. */
export interface MockStubs {
  /**
   * Adds a stub that applies from the next request on. If several stubs match, the one with the highest `priority` applies; of
   * those with the same priority, the one added last.
   * @throws MockServerError with code `invalid_option`.
   * @example mock.stubs.add({ match: { query: { base: 'XXX' } }, status: 422, error: { code: 'unknown_currency' } })
   */
  add(stub: StubOptions): Stub;
  /** Returns the stubs, also those whose `times` are used up. Of the others that match a request, the last one applies. */
  list(): readonly Stub[];
  /**
   * Returns a stub.
   * @throws MockServerError with code `not_found`.
   */
  get(id: string): Stub;
  /**
   * Removes a stub.
   * @throws MockServerError with code `not_found`.
   */
  remove(id: string): void;
  /** Removes all stubs, including the responses of `mock.latest`. */
  clear(): void;
}

export function createMockStubs({ state }: RuleContext): MockStubs {
  const find = (id: string) => withId('stub', id, { among: new Map(state.stubs.map((stub) => [stub.id, stub])) });
  return {
    add(given: StubOptions | string) {
      const stub = stubFrom(typeof given === 'string' ? withDigits(given) : given, nextId(state));
      within('match', () => checkKeyId(stub.match, state.keys));
      state.stubs = withStub(state.stubs, stub);
      state.lastStub += 1;
      return toStub(stub);
    },
    list: () => state.stubs.map(toStub),
    get: (id) => toStub(find(id)),
    remove(id) {
      const removed = find(id);
      state.stubs = state.stubs.filter((stub) => stub !== removed);
    },
    clear() {
      state.stubs = [];
    },
  };
}

function nextId({ lastStub, stubs }: RuleState): string {
  return freeName('stub', lastStub + 1, (name) => stubs.some(({ id }) => id === name));
}

function toStub({ id, match, times, priority, served, source }: StubRecord): Stub {
  const responses = source.kind === 'responses' ? source.responses.map(({ code: _, ...sent }) => sent) : [];
  return structuredClone({ id, match, times, priority, served, kind: source.kind, responses });
}

/** The stub that the options describe. Throws `MockServerError` with code `invalid_option`. */
function stubFrom(options: unknown, nextId: string): StubRecord {
  if (!isJsonObject(options)) throw invalidOption('stub', options, 'an object');
  const { kind, served: _, ...rest } = options as StubOptions & Partial<Stub>; // may be one that was read
  if (kind !== undefined && kind !== 'responses') {
    throw invalidOption('kind', kind, "'responses', because the others are added with mock.latest");
  }
  const checked = checkedInput(stubOptions, definedOf(rest), { what: 'a field of a stub' });
  const { id = nextId, responses, times, priority = 0, match: pattern = {}, ...single } = checked;
  if (responses !== undefined && Object.keys(single).length > 0) {
    throw invalidOption('responses', responses, `either responses or ${Object.keys(single).join(', ')}, not both`);
  }
  const { path = '' } = pattern;
  if (isAdminPath(path)) {
    throw invalidOption('match.path', path, 'a path of the emulated API, because the mock serves its pages there');
  }
  const sent = responses?.map((one, index) => within(`responses[${index}]`, () => stubbedResponse(one)));
  const source = { kind: 'responses', responses: sent ?? [stubbedResponse(single)] } as const;
  return { id, match: pattern, times, priority, source, served: 0 };
}

function stubbedResponse(given: StubResponse): StubbedResponse {
  const { status = given.error === undefined ? 200 : 400, headers = {}, delayMs } = given;
  const content = contentOf(given, status);
  const delay = delayMs === undefined ? {} : { delayMs };
  return { status, ...delay, ...content, headers: { ...content.headers, ...readHeaders(headers) } };
}

function contentOf(given: StubResponse, status: number): Content & Partial<StubbedResponse> {
  const { data, error, body } = given;
  if ([data, error, body].filter((value) => value !== undefined).length > 1) {
    throw invalidOption('stub', given, 'at most one of data, error and body');
  }
  if (!STATUSES_WITHOUT_BODY.has(status)) return body === undefined ? envelopeOf(given, status) : wholeBody(body);
  if (data === undefined && error === undefined && (body === undefined || body === '')) return { body: '' };
  throw invalidOption('stub', given, `no data, error or body, because a response with status ${status} has none`);
}

type Content = Pick<StubbedResponse, 'body' | 'code'>;

function wholeBody(given: unknown) {
  const body = typeof given === 'string' ? given : textOf('body', given);
  const value = parseJson(body);
  return { body, code: codeIn(value), ...(body === '' || value !== undefined ? {} : { headers: PLAIN_TEXT }) };
}

/** `error.code` of an error envelope, which the journal shows. */
function codeIn(envelope: unknown): string | undefined {
  const { code } = Object(Object(envelope).error);
  return typeof code === 'string' ? code : undefined;
}

function envelopeOf(given: StubResponse, status: number): Content {
  const { data, error } = given;
  if (data !== undefined) return { body: successBody(textOf('data', data)) };
  if (error === undefined && status < 300) throw invalidOption('stub', given, 'data, error or body');
  // A redirect is complete with its Location header.
  if (error === undefined && status < 400) return { body: '' };
  const { code = codeOfStatus(status), message = reasonPhrase(status) || 'Unknown' } = error ?? {};
  return { body: errorBody({ status, code, message }), code };
}

function textOf(field: string, value: unknown): string {
  if (value instanceof JsonText) return value.text;
  const json = jsonOf(value);
  if (json === undefined) throw invalidOption(field, value, 'a string or a value that JSON can represent');
  return json;
}

const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };

/** The stub for a request. Stubs of `mock.latest` are last; of the others with the highest priority, the last one added. */
export function findStub(stubs: readonly StubRecord[], request: MatchedRequest): StubRecord | undefined {
  return stubs.findLast(
    (stub) =>
      isActive(stub) && (stub.match.method !== undefined || isRead(request)) && matchesPattern(stub.match, request),
  );
}

/** How a request for an unknown path differs from stubs that nearly match it, a sentence for each. */
export function nearStubs(stubs: readonly StubRecord[], request: MatchedRequest): readonly string[] {
  const candidates = stubs.filter((stub) => isActive(stub) && stub.match.operation === undefined);
  const close = nearMisses(candidates, ({ match }) => {
    const pattern = isRead(request) ? match : { method: 'GET', ...match };
    return { pattern, differences: differences(pattern, request) };
  });
  return close.map(({ candidate, text }) => `${candidate.id} ${text}.`);
}

function isActive({ times, served }: StubRecord): boolean {
  return times === undefined || served < times;
}

function isRead({ method }: MatchedRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The stubs with one more, in place of an older one of the same id. */
export function withStub(stubs: readonly StubRecord[], added: StubRecord): readonly StubRecord[] {
  const others = stubs.filter(({ id }) => id !== added.id);
  return [...others, added].sort((one, other) => rankOf(one) - rankOf(other) || one.priority - other.priority);
}

/** The stub of `mock.latest` for every query. */
const LATEST_STUB = 'latest';

/** The id of the stub of `mock.latest` for one base. */
function latestStubId(base: string | undefined): string {
  return base === undefined ? LATEST_STUB : `${LATEST_STUB}.${base}`;
}

/** Stubs for fewer requests precede those for more. */
function rankOf({ id }: StubRecord): number {
  if (id === LATEST_STUB) return 0;
  return id.startsWith(`${LATEST_STUB}.`) ? 1 : 2;
}

/** The response of a stub to a request that is within both limits; counts it. */
export function stubResponse(
  stub: StubRecord,
  source: Exclude<StubSource, { readonly kind: 'function' }>,
  { request: { target }, seed }: { readonly request: ParsedRequest; readonly seed: number },
): MockResponse {
  const { id, served } = stub;
  stub.served += 1;
  if (source.kind === 'replay') return { ...recordedResponseTo(source.recorded, parametersOf(target)), stub: id };
  const response = source.responses[Math.min(served, source.responses.length - 1)];
  if (response === undefined) throw new Error(`Stub ${id} has no response.`);
  const delayMs = drawDelayMs(response.delayMs ?? 0, seed, id, served);
  const why = `response of stub ${id}${delayMs === 0 ? '' : `, ${delayMs} ms late`}`;
  return { ...response, code: response.code, delayMs, why, stub: id };
}

/**
 * The `data` of `latest`: an object, an array with one element per request (the last one repeats), a function of the
 * query, or JSON text of an object or an array. Numbers in JSON text keep their digits (`1.10`).
 */
export type LatestData = object | readonly (object | string)[] | string | LatestFunction;

/** Sets the response of `latest` at run time. */
export interface MockLatest {
  /**
   * Sets the `data` of `latest` from the next request on, for all queries or for one `base`. Requests are still
   * authenticated, limited and counted.
   * @throws MockServerError with code `invalid_option`.
   * @example mock.latest.set({ base: 'EUR', rates: { USD: 1.1 } }, { base: 'EUR' })
   */
  set(data: LatestData, options?: LatestOptions): void;
  /**
   * Responds from a recording of `fxrates latest --fixture-out`: the text of the file, or the parsed object. A query without
   * a recorded response gets 501 `not_recorded`.
   * @throws MockServerError with code `invalid_option`.
   */
  replay(recording: Replay): void;
  /** Removes the responses of `set` and `replay`, all of them or those for one base. */
  reset(options?: LatestOptions): void;
}

export const latestOptions = strictObject({
  /**
   * Value of the parameter `base`, in upper or lower case. Only requests with this value are affected.
   * @default all requests
   */
  base: expected(
    'a currency code such as EUR',
    // In capitals, so that `eur` and `EUR` have one stub.
    z
      .string()
      .regex(/^[\w-]{1,32}$/)
      .toUpperCase(),
  )
    .optional()
    .describe('Only requests for this base.'),
});

/** Options of `mock.latest.set()` and `mock.latest.reset()`. */
export interface LatestOptions extends ValueOf<typeof latestOptions> {}

export function createMockLatest({ state }: RuleContext): MockLatest {
  const baseOf = (options: LatestOptions) =>
    checkedInput(latestOptions, options, { what: 'an option of latest.set() and latest.reset()' }).base;
  const put = (source: StubSource, options: LatestOptions = {}) => {
    state.stubs = withStub(state.stubs, latestStub(source, baseOf(options)));
  };
  return {
    set: (data, options) => put(sourceOf(data), options),
    replay: (recording) => put({ kind: 'replay', recorded: parseReplay(recording) }),
    reset(options = {}) {
      const base = baseOf(options);
      const id = latestStubId(base);
      const isMeant = (stub: StubRecord) => stub.id === id || (base === undefined && stub.id.startsWith(`${id}.`));
      state.stubs = state.stubs.filter((stub) => !isMeant(stub));
    },
  };
}

/** The stub for `latest` or `replay`, which are fields of the options and of a setup; none without them. */
export function latestStubs(given: { latest?: LatestData | undefined; replay?: Replay | undefined }) {
  const { latest, replay } = given;
  if (latest !== undefined && replay !== undefined) {
    throw invalidOption('replay', replay, 'either latest or replay, not both');
  }
  if (latest !== undefined) return [latestStub(sourceOf(latest))];
  return replay === undefined ? [] : [latestStub({ kind: 'replay', recorded: parseReplay(replay) })];
}

function latestStub(source: StubSource, base?: string): StubRecord {
  // Ignores case, as invented rates do.
  const query = base === undefined ? {} : { query: { base: { matches: `^${base}$`, flags: 'i' } } };
  const match = { operation: 'latest', ...query };
  return { id: latestStubId(base), match, priority: 0, source, served: 0 };
}

function sourceOf(data: unknown): StubSource {
  if (isAsync(data)) throw invalidOption('latest', data, 'a function that is not async');
  if (typeof data === 'function') return { kind: 'function', latest: data as LatestFunction };
  const isList = typeof data === 'string' && data.trimStart().startsWith('[') && isJson(data);
  const values = isList ? Array.from(members(data), ({ text }) => unquoted(text)) : [data].flat();
  if (values.length === 0) throw invalidOption('latest', data, EXPECTED);
  const placeOf = (index: number) => (isList || Array.isArray(data) ? `latest[${index}]` : 'latest');
  return { kind: 'responses', responses: values.map((value, index) => latestResponse(value, placeOf(index))) };
}

const EXPECTED = 'an object, an array of objects, a function from the query to an object, or JSON text of one of these';

/** An async function is refused when it is set, because it returns a promise. */
function isAsync(latest: unknown): boolean {
  return latest instanceof Function && latest.constructor.name === 'AsyncFunction';
}

/** The response with `data`: an object, or the JSON text of one. */
function latestResponse(data: unknown, place: string): StubbedResponse {
  if (typeof data !== 'string' && typeof data !== 'object') {
    throw invalidOption(place, data, place === 'latest' ? EXPECTED : 'an object');
  }
  const json = typeof data === 'string' ? data.trim() : jsonOf(data);
  if (json === undefined) throw invalidOption(place, data, 'a value that JSON can represent');
  if (!json.startsWith('{') || !isJson(json)) throw invalidOption(place, json, 'an object');
  return { status: 200, headers: {}, body: successBody(json) };
}
