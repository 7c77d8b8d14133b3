import * as z from 'zod';
import { definedOf, isJsonObject, parseJson } from '../../json-object.ts';
import { type Delay, delaySchema } from '../delay.ts';
import { headerRecord } from '../faults/fault-kinds.ts';
import { headersWithCookies, readHeaders } from '../http/mock-message.ts';
import {
  codeOfStatus,
  errorResponse,
  reasonPhrase,
  STATUSES_WITHOUT_BODY,
  successResponseOfJson,
} from '../http/service-response.ts';
import { ADDED_FIELD, AN_OBJECT, checkedInput, expected, idSchema } from '../matching/checked-input.ts';
import { checkKeyId, plainPattern, type RequestPattern, requestPatternShape } from '../matching/request-pattern.ts';
import { freeName, invalidOption, unknownId, within } from '../mock-server-error.ts';
import type { ServiceContext, ServiceState } from '../service/service-state.ts';
import { isAdminPath } from '../web/own-pages.ts';
import { JsonText, jsonOf } from './json-parts.ts';
import { type SentResponse, type StubbedResponse, type StubRecord, withStub } from './stub-record.ts';

/** Adds and removes stubs: responses that the test defines. */
export interface MockStubs {
  /**
   * Adds a stub that applies from the next request on. If several stubs match, the one with the highest `priority` applies; of
   * those with the same priority, the one added last.
   * @throws MockServerError with code `invalid_option`.
   * @example mock.stubs.add({ match: { query: { base: 'XXX' } }, status: 422, error: { code: 'unknown_currency' } })
   */
  add(stub: StubOptions): Stub;
  /** Returns the active stubs. Of those that match a request, the last one applies. */
  list(): readonly Stub[];
  /**
   * Returns an active stub.
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

/** A stub that was added. `add()` accepts it again if it is of kind `responses`. */
export interface Stub {
  /** Id of the stub, for example `stub_1`. */
  readonly id: string;
  /** Pattern of the requests that receive it. */
  readonly match: RequestPattern;
  /** Number of requests that received it so far. */
  readonly served: number;
  /** Maximum number of requests that receive it; `undefined` for no maximum. */
  readonly times: number | undefined;
  /** Of several stubs that match, the one with the highest number applies. */
  readonly priority: number;
  /** Source of the responses: the field `responses`, a recording (`'replay'`), or a function of the test. */
  readonly kind: 'responses' | 'replay' | 'function';
  /** The responses of a stub of kind `responses`; empty otherwise. */
  readonly responses: readonly SentResponse[];
}

export function createMockStubs(context: ServiceContext): MockStubs {
  // The state is replaced by `restore()` and `reset()`: never kept.
  const current = () => context.state.stubs.filter(({ times, served }) => times === null || served < times);
  const find = (id: string) => {
    const found = current().find((stub) => stub.id === id);
    if (found !== undefined) return found;
    throw unknownId('stub', id, { known: current().map((stub) => stub.id), otherwise: 'has expired' });
  };
  return {
    add(options) {
      const { state } = context;
      const stub = stubFrom(options, nextId(state));
      checkKeyId(stub.match, { place: 'match.', knowsKey: (id) => state.keys.has(id) });
      state.stubs = withStub(current(), stub);
      state.lastStub += 1;
      return toStub(stub);
    },
    list: () => current().map(toStub),
    get: (id) => toStub(find(id)),
    remove(id) {
      const removed = find(id);
      context.state.stubs = current().filter((stub) => stub !== removed);
    },
    clear() {
      context.state.stubs = [];
    },
  };
}

function nextId({ lastStub, stubs }: ServiceState): string {
  return freeName('stub', lastStub + 1, (name) => stubs.some(({ id }) => id === name));
}

function toStub({ id, match, times, priority, served, source }: StubRecord): Stub {
  const responses = source.kind === 'responses' ? source.responses.map(toSentResponse) : [];
  return structuredClone({ id, match, times: times ?? undefined, priority, served, kind: source.kind, responses });
}

function toSentResponse({ status, headers, cookies, body, delayMs }: StubbedResponse): SentResponse {
  const delay = delayMs === undefined ? {} : { delayMs };
  return { status, headers: headersWithCookies({ headers, cookies }), body, ...delay };
}

/** A response of a stub. Set at most one of `data`, `error` and `body`. */
export interface StubResponse {
  /**
   * HTTP status, from 200 to 599.
   * @default 200; 400 with `error`
   */
  readonly status?: number | undefined;
  /**
   * Response headers. An array has several values: one `set-cookie` header each, or joined with commas. `content-length`,
   * `transfer-encoding` and `trailer` cannot be set.
   * @example { 'set-cookie': ['a=1', 'b=2; HttpOnly'] }
   */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /**
   * Delay of the response by the mock's clock: milliseconds, `{ min, max }`, or `{ median, sigma }` of a lognormal
   * distribution.
   * @default 0
   */
  readonly delayMs?: Delay | undefined;
  /** Sent as `{ success: true, data }`. */
  readonly data?: unknown;
  /**
   * Sent as `{ success: false, error: { code, message, status } }`.
   * @example { code: 'unknown_currency', message: 'There is no XXX.' }
   */
  readonly error?: { readonly code: string; readonly message?: string | undefined } | undefined;
  /** The complete body: a string is sent unchanged, any other value as JSON. Binary bodies are not possible. */
  readonly body?: unknown;
}

/** A stub: a pattern of requests, and the response to them. The requests are still authenticated, limited and counted. */
export interface StubOptions extends StubResponse {
  /**
   * Id of the stub: up to 64 letters, digits, `_`, `.` and `-`. Replaces an existing stub with this id.
   * @default 'stub_1', 'stub_2', …
   */
  readonly id?: string | undefined;
  /**
   * Pattern of the requests that receive it.
   * @default every GET of the emulated API
   */
  readonly match?: RequestPattern | undefined;
  /**
   * Several responses, one per request; the last one repeats. Cannot be combined with the fields of a single response.
   * @default a single response, from the other fields
   * @example [{ status: 503 }, { data: { base: 'EUR', rates: {} } }]
   */
  readonly responses?: readonly StubResponse[] | undefined;
  /**
   * Maximum number of requests that receive it. The stub is ignored afterwards.
   * @default no maximum
   */
  readonly times?: number | undefined;
  /**
   * Whole number. If several stubs match, the one with the highest priority applies, and not the one added last.
   * @default 0
   * @example -1 // only if no other stub matches
   */
  readonly priority?: number | undefined;
}

const TEXT = { error: 'text' };

const response = {
  status: expected('an HTTP status from 200 to 599', (error) =>
    z.int(error).min(200, error).max(599, error),
  ).optional(),
  headers: headerRecord.optional(),
  delayMs: delaySchema.optional(),
  data: z.unknown().optional().describe('Sent as `{ "success": true, "data": … }`.'),
  error: expected('an object with code and message', (error) =>
    z.strictObject({ code: z.string(TEXT), message: z.string(TEXT).optional() }, error),
  ).optional(),
  body: z.unknown().optional().describe('The complete body: a string is sent unchanged, any other value as JSON.'),
};

const stubOptions = z.strictObject({
  id: idSchema.optional(),
  match: z.strictObject(requestPatternShape, AN_OBJECT).optional(),
  ...response,
  responses: expected('an array of responses with status, headers, data, error or body', (error) =>
    z.array(z.strictObject(response, AN_OBJECT), error).min(1, error),
  ).optional(),
  times: expected('a whole number of requests from 1', (error) => z.int(error).min(1, error)).optional(),
  priority: expected('a whole number; the stub with the highest one applies', (error) => z.int(error)).optional(),
});

/** A stub as JSON has it, new or read. */
export const stubInput = stubOptions
  .extend({ kind: ADDED_FIELD, served: ADDED_FIELD })
  .meta({ examples: [{ match: { operation: 'latest' }, data: { base: 'EUR', rates: { USD: 1.1 } } }] });

/** The stub that the options describe. Throws `MockServerError` with code `invalid_option`. */
function stubFrom(options: StubOptions, nextId: string): StubRecord {
  if (!isJsonObject(options)) throw invalidOption('stub', options, 'an object');
  const { match, kind, served: _, ...rest } = options as StubOptions & Partial<Stub>; // may be one that was read
  if (kind !== undefined && kind !== 'responses') {
    throw invalidOption('kind', kind, "'responses', because the others are added with mock.latest");
  }
  const given = definedOf({ ...rest, match: plainPattern(match) });
  const checked = checkedInput(stubOptions, given, { place: '', what: 'a field of a stub' });
  const { id = nextId, responses, times = null, priority = 0, match: pattern = {}, ...single } = checked;
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
  const own = readHeaders(headers);
  const delay = delayMs === undefined ? {} : { delayMs };
  return { status, ...delay, ...content, ...own, headers: { ...content.headers, ...own.headers } };
}

function contentOf(given: StubResponse, status: number): Content & Partial<StubbedResponse> {
  const { data, error, body } = given;
  if ([data, error, body].filter((value) => value !== undefined).length > 1) {
    throw invalidOption('stub', given, 'at most one of data, error and body');
  }
  if (!STATUSES_WITHOUT_BODY.has(status)) return body === undefined ? envelopeOf(given, status) : wholeBody(body);
  if (data === undefined && error === undefined && (body === undefined || body === '')) return { body: '', code: null };
  throw invalidOption('stub', given, `no data, error or body, because a response with status ${status} has none`);
}

type Content = Pick<StubbedResponse, 'body' | 'code'>;

function wholeBody(given: unknown) {
  const body = typeof given === 'string' ? given : textOf('body', given);
  const value = parseJson(body);
  return { body, code: codeIn(value), ...(body === '' || value !== undefined ? {} : { headers: PLAIN_TEXT }) };
}

/** `error.code` of an error envelope, which the journal shows. */
function codeIn(envelope: unknown): string | null {
  const { error } = Object(envelope) as { readonly error?: unknown };
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : null;
}

function envelopeOf(given: StubResponse, status: number): Content {
  const { data, error } = given;
  if (data !== undefined) return { body: successResponseOfJson(textOf('data', data)).body, code: null };
  if (error === undefined && status < 300) throw invalidOption('stub', given, 'data, error or body');
  // A redirect is complete with its Location header.
  if (error === undefined && status < 400) return { body: '', code: null };
  const { code = codeOfStatus(status), message = reasonPhrase(status) || 'Unknown' } = error ?? {};
  return { body: errorResponse({ status, code, message }).body, code };
}

function textOf(field: string, value: unknown): string {
  if (value instanceof JsonText) return value.text;
  const json = jsonOf(value);
  if (json === undefined) throw invalidOption(field, value, 'a string or a value that JSON can represent');
  return json;
}

const PLAIN_TEXT = { 'content-type': 'text/plain; charset=utf-8' };
