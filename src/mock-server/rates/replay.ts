import { isJsonObject, type JsonObject } from '../../json-object.ts';
import {
  errorResponse,
  type ServiceResponse,
  successResponse,
  successResponseOfJson,
  withoutTags,
} from '../http/service-response.ts';
import { invalidOption } from '../mock-server-error.ts';
import { jsonParts, unquoted } from '../stubs/json-parts.ts';

/**
 * Recorded responses of `latest`: one envelope (`{ success, data }`) for every query, or an object with one response per
 * query, as an envelope or as `data`. The order of parameters does not matter; `*` is the response to all other queries.
 * In JSON text, of the whole recording or of one response, numbers keep their digits (`1.10`).
 * @example { 'base=EUR': { base: 'EUR', rates: { USD: 1.1 } }, '*': { base: 'USD', rates: { EUR: 0.9 } } }
 */
export type Replay = string | Readonly<Record<string, unknown>>;

/** Recorded responses by query, with its parameters in order. */
export type RecordedResponses = Pick<ReadonlyMap<string, ServiceResponse>, 'get' | 'keys'>;

/** Returns the recorded response, and 501 `not_recorded` without one. */
export function recordedResponseTo(responses: RecordedResponses, query: URLSearchParams): ServiceResponse {
  const canonical = canonicalQuery(query);
  return responses.get(canonical) ?? responses.get(ANY) ?? notRecorded(canonical, responses);
}

const ANY = '*';

/** Parses a recording. Throws `MockServerError` with code `invalid_option`, if it is invalid. */
export function parseReplay(replay: unknown): ReadonlyMap<string, ServiceResponse> {
  const single = readRecording(replay);
  if (single !== undefined && isEnvelope(single.value)) return new Map([[ANY, parseRecorded('replay', replay)]]);
  const byQuery = typeof replay === 'string' ? membersOf(single?.json ?? '{}') : replay;
  if (!isJsonObject(byQuery) || Object.keys(byQuery).length === 0) throw invalidOption('replay', replay, EXPECTED);
  return responsesByQuery(byQuery);
}

function responsesByQuery(byQuery: JsonObject): ReadonlyMap<string, ServiceResponse> {
  const responses = new Map<string, ServiceResponse>();
  for (const [text, recorded] of Object.entries(byQuery)) {
    const query = text === ANY ? ANY : canonicalQuery(new URLSearchParams(text));
    if (responses.has(query))
      throw invalidOption('replay', text, 'each query once; the order of its parameters does not matter');
    responses.set(query, parseRecorded(`replay[${JSON.stringify(text)}]`, recorded));
  }
  return responses;
}

function membersOf(json: string): Readonly<Record<string, string>> {
  return Object.fromEntries(jsonParts(json).map(({ name, text }) => [name, unquoted(text)]));
}

const EXPECTED = "a recorded envelope, or an object of responses by query such as { 'base=EUR': … }";

function parseRecorded(option: string, recorded: unknown): ServiceResponse {
  const recording = readRecording(recorded);
  if (recording === undefined) throw invalidOption(option, recorded, 'an envelope, or the data of one');
  const { json, value } = recording;
  if (!isEnvelope(value)) return successResponseOfJson(json);
  const body = withoutTags(json);
  if (value['success'] === true) return { ...successResponse({}), body };
  const { code, message, status } = isJsonObject(value['error']) ? value['error'] : {};
  if (typeof code !== 'string' || !Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) {
    throw invalidOption(`${option}.error`, value['error'], 'a recorded error with its code, message and status');
  }
  return { ...errorResponse({ code, message: String(message), status: Number(status) }), body };
}

interface Recording {
  /** The text to send. */
  readonly json: string;
  readonly value: JsonObject;
}

/** A recorded object, or the JSON text of one; `undefined` for another value. */
function readRecording(recorded: unknown): Recording | undefined {
  const json = typeof recorded === 'string' ? recorded.trim() : JSON.stringify(recorded);
  try {
    const value: unknown = JSON.parse(json);
    return isJsonObject(value) ? { json, value } : undefined;
  } catch {
    // Not JSON: the caller reports it.
    return undefined;
  }
}

function notRecorded(query: string, responses: RecordedResponses): ServiceResponse {
  const known = Array.from(responses.keys(), (text) => `'${text}'`).join(', ');
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
