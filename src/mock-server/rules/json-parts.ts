import { isJsonObject, type JsonObject, jsonDocuments, members, parseJson } from '../../json.ts';
import type { MockResponse } from '../http/message.ts';
import { errorResponse, successBody, withoutTags } from '../http/responses.ts';
import { invalidOption } from '../input/mock-server-error.ts';
import type { StubbedResponse } from './stub-schemas.ts';

/** The parsed value of a part that is a string of JSON text; otherwise the part. */
export function unquoted(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : json;
}

/** JSON that is sent as it was written: its numbers keep their digits. */
export class JsonText {
  constructor(readonly text: string) {}

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** A stub as JSON, with `data` and `body` of each response as `JsonText`. */
export function withDigits(json: string): unknown {
  const stub = parseJson(json);
  if (!isJsonObject(stub)) return stub;
  const exact: { data?: unknown; body?: unknown; responses?: unknown } = {};
  for (const { name, text } of members(json)) {
    if (name === 'responses' && text.startsWith('[')) {
      exact[name] = Array.from(members(text), (part) => withDigits(part.text));
    } else if ((name === 'data' || name === 'body') && !text.startsWith('"')) {
      exact[name] = new JsonText(text);
    }
  }
  return { ...stub, ...exact };
}

/**
 * A value as JSON; `undefined` if JSON cannot represent it: it is cyclic, binary, or an object without content for JSON,
 * such as a Map or a promise, or it has a bigint, NaN or Infinity.
 */
export function jsonOf(value: unknown): string | undefined {
  if (ArrayBuffer.isView(value)) return undefined;
  try {
    const json = JSON.stringify(value, finite);
    return json === '{}' && !isPlain(value) ? undefined : json;
  } catch {
    return undefined;
  }
}

function isPlain(value: unknown): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** JSON.stringify would write null. */
function finite(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('JSON has only finite numbers.');
  return value;
}

/**
 * Recorded responses of `latest`: one envelope (`{ success, data }`) for every query, or an object with one response per
 * query, as an envelope or as `data`. The order of parameters does not matter; `*` is the response to all other queries.
 * In JSON text, of the whole recording or of one response, numbers keep their digits (`1.10`).
 * @example { 'base=EUR': { base: 'EUR', rates: { USD: 1.1 } }, '*': { base: 'USD', rates: { EUR: 0.9 } } }
 */
export type Replay = string | Readonly<Record<string, unknown>>;

/** Recorded responses by query, with its parameters in order. */
type RecordedResponses = Readonly<Record<string, StubbedResponse>>;

/** Returns the recorded response, and 501 `not_recorded` without one. */
export function recordedResponseTo(responses: RecordedResponses, query: URLSearchParams): MockResponse {
  const canonical = canonicalQuery(query);
  const name = [canonical, ANY].find((known) => Object.hasOwn(responses, known));
  const response = name === undefined ? undefined : responses[name];
  if (response === undefined) return notRecorded(canonical, Object.keys(responses));
  return { ...response, delayMs: 0, code: response.code, why: 'served' };
}

const ANY = '*';

/** Parses a recording. Throws `MockServerError` with code `invalid_option`, if it is invalid. */
export function parseReplay(replay: unknown): RecordedResponses {
  const single = readRecording(replay);
  if (single !== undefined && isEnvelope(single.value)) return { [ANY]: parseRecorded('replay', replay) };
  const byQuery = typeof replay === 'string' ? recordedMembers(replay) : replay;
  if (!isJsonObject(byQuery) || Object.keys(byQuery).length === 0)
    throw invalidOption('replay', parsedOf(replay), EXPECTED);
  return responsesByQuery(byQuery);
}

function responsesByQuery(byQuery: JsonObject): RecordedResponses {
  const responses = new Map<string, StubbedResponse>();
  for (const [text, recorded] of Object.entries(byQuery)) {
    const query = text === ANY ? ANY : canonicalQuery(new URLSearchParams(text));
    if (responses.has(query))
      throw invalidOption('replay', text, 'each query once; the order of its parameters does not matter');
    responses.set(query, parseRecorded(`replay[${JSON.stringify(text)}]`, recorded));
  }
  return Object.fromEntries(responses);
}

/**
 * The responses by query of one object, or of the lines that `fxrates latest --fixture-out` appends, of which the last one
 * counts. A line that a killed command has left incomplete is skipped.
 */
function recordedMembers(text: string): Readonly<Record<string, string>> {
  const objects = jsonDocuments(text).flatMap((json) => readRecording(json) ?? []);
  return Object.fromEntries(
    objects.flatMap(({ json }) => [...members(json)]).map(({ name, text: recorded }) => [name, unquoted(recorded)]),
  );
}

const EXPECTED = "a recorded envelope, or an object of responses by query such as { 'base=EUR': … }";

function parseRecorded(option: string, recorded: unknown): StubbedResponse {
  const recording = readRecording(recorded);
  if (recording === undefined) throw invalidOption(option, parsedOf(recorded), 'an envelope, or the data of one');
  const { json, value } = recording;
  if (!isEnvelope(value)) return { status: 200, headers: {}, body: successBody(json) };
  const body = withoutTags(json);
  if (value['success'] === true) return { status: 200, headers: {}, body };
  const { code, status } = isJsonObject(value['error']) ? value['error'] : {};
  if (typeof code !== 'string' || !Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) {
    throw invalidOption(`${option}.error`, value['error'], 'a recorded error with its code, message and status');
  }
  return { status: Number(status), headers: {}, body, code };
}

/** The value of JSON text, which a message shows without quotes. */
function parsedOf(recorded: unknown): unknown {
  return typeof recorded === 'string' ? (parseJson(recorded) ?? recorded) : recorded;
}

interface Recording {
  /** The text to send. */
  readonly json: string;
  readonly value: JsonObject;
}

/** A recorded object, or the JSON text of one; `undefined` for another value. */
function readRecording(recorded: unknown): Recording | undefined {
  const json = typeof recorded === 'string' ? recorded.trim() : JSON.stringify(recorded);
  const value = parseJson(json);
  return isJsonObject(value) ? { json, value } : undefined;
}

function notRecorded(query: string, recorded: readonly string[]): MockResponse {
  const known = recorded.map((text) => `'${text}'`).join(', ');
  return errorResponse({
    status: 501,
    code: 'not_recorded',
    message: `No response is recorded for the query '${query}'; recorded queries: ${known}.`,
  });
}

/** The parameters in the order of their names; without `api_key`. */
function canonicalQuery(query: URLSearchParams): string {
  const sorted = new URLSearchParams(query);
  sorted.delete('api_key');
  sorted.sort();
  return sorted.toString();
}

function isEnvelope(value: JsonObject): boolean {
  return typeof value['success'] === 'boolean' && ('data' in value || 'error' in value);
}
