import * as z from 'zod';
import { isJson } from '../../json.ts';
import { successBody } from '../http/responses.ts';
import { checkedInput, expected } from '../matching/checked-input.ts';
import { invalidOption } from '../mock-server-error.ts';
import type { ServiceContext } from '../service/service-state.ts';
import { jsonOf, jsonParts, unquoted } from './json-parts.ts';
import { latestStubId, withStub } from './mock-stubs.ts';
import { parseReplay, type Replay } from './replay.ts';
import type { LatestFunction, StubbedResponse, StubRecord, StubSource } from './stub-schemas.ts';

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

export const latestOptions = z.strictObject({
  /**
   * Value of the parameter `base`, in upper or lower case. Only requests with this value are affected.
   * @default all requests
   */
  base: expected('a currency code such as EUR', (error) =>
    // In capitals, so that `eur` and `EUR` have one stub.
    z
      .string(error)
      .regex(/^[\w-]{1,32}$/, error)
      .toUpperCase(),
  )
    .optional()
    .describe('Only requests for this base.'),
});

/** Options of `mock.latest.set()` and `mock.latest.reset()`. */
export type LatestOptions = Readonly<z.input<typeof latestOptions>>;

export function createMockLatest(context: ServiceContext): MockLatest {
  const baseOf = (options: LatestOptions) =>
    checkedInput(latestOptions, options, { what: 'an option of latest.set() and latest.reset()' }).base;
  const put = (source: StubSource, options: LatestOptions = {}) => {
    context.state.stubs = withStub(context.state.stubs, latestStub(source, baseOf(options)));
  };
  return {
    set: (data, options) => put(sourceOf(data), options),
    replay: (recording) => put({ kind: 'replay', recorded: parseReplay(recording) }),
    reset(options = {}) {
      const base = baseOf(options);
      const id = latestStubId(base);
      const isMeant = (stub: { readonly id: string }) =>
        base === undefined ? stub.id === id || stub.id.startsWith(`${id}.`) : stub.id === id;
      context.state.stubs = context.state.stubs.filter((stub) => !isMeant(stub));
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
  const match = { operation: 'latest', ...(base === undefined ? {} : { query: { base: anyCase(base) } }) };
  return { id: latestStubId(base), match, times: null, priority: 0, source, served: 0 };
}

/** Ignores case, as invented rates do. */
function anyCase(base: string) {
  return { matches: `^${base}$`, flags: 'i' };
}

function sourceOf(data: unknown): StubSource {
  if (isAsync(data)) throw invalidOption('latest', data, 'a function that is not async');
  if (typeof data === 'function') return { kind: 'function', latest: data as LatestFunction };
  const texts = textsOf(data);
  if (texts.length === 0) throw invalidOption('latest', data, EXPECTED);
  return {
    kind: 'responses',
    responses: texts.map((text, index) => responseOf(text, texts.length > 1 ? index : undefined)),
  };
}

const EXPECTED = 'an object, an array of objects, a function from the query to an object, or JSON text of one of these';

/** An async function is refused when it is set, because it returns a promise. */
function isAsync(latest: unknown): boolean {
  return latest instanceof Function && latest.constructor.name === 'AsyncFunction';
}

/** The `data` of each response as JSON. */
function textsOf(data: unknown): readonly string[] {
  if (typeof data === 'string') return data.trimStart().startsWith('[') && isJson(data) ? elements(data) : [data];
  if (!Array.isArray(data)) return [textOf(data, 'latest')];
  return data.map((value, index) => (typeof value === 'string' ? value : textOf(value, `latest[${index}]`)));
}

function textOf(value: unknown, place: string): string {
  if (typeof value !== 'object') throw invalidOption(place, value, place === 'latest' ? EXPECTED : 'an object');
  const json = jsonOf(value);
  if (json === undefined) throw invalidOption(place, value, 'a value that JSON can represent');
  return json;
}

function elements(json: string): readonly string[] {
  return jsonParts(json).map(({ text }) => unquoted(text));
}

function responseOf(text: string, index: number | undefined): StubbedResponse {
  const json = text.trim();
  const place = index === undefined ? 'latest' : `latest[${index}]`;
  if (!json.startsWith('{') || !isJson(json)) throw invalidOption(place, json, 'an object');
  return { status: 200, headers: {}, body: successBody(json), code: null };
}
