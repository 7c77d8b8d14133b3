import * as z from 'zod';
import {
  isJson,
  isJsonObject,
  type JsonDocument,
  type JsonObject,
  jsonDocuments,
  members,
  parseJson,
} from '../../json.ts';
import { successBody, withoutTags } from '../http/responses.ts';
import { checkedInput, eachOf, expected, strictObject, type ValueOf } from '../input/checked-input.ts';
import { recordedQuery } from '../input/masked-keys.ts';
import { checkLength, expectedText, fieldError, invalidOption, show, within } from '../input/mock-server-error.ts';
import { MOST_ANSWERS, preparedAnswer } from './answers.ts';
import {
  addRules,
  isLatest,
  isRecorded,
  LATEST,
  MOST_RULES,
  RECORDED,
  type RuleContext,
  removeRules,
} from './mock-rules.ts';
import type { Answer, RuleMatch, RuleOptions, SentAnswer } from './rule-schema.ts';

/**
 * The `data` of `latest`: an object, an array with one element per request (the last one repeats), or JSON text of an object
 * or an array. Numbers in JSON text keep their digits (`1.10`).
 */
export type LatestData = object | readonly (object | string)[] | string;

/** Sets the response of `latest`, with rules that lie below all others. */
export interface MockLatest {
  /**
   * Sets the `data` of `latest` from the next request on, for all queries or for one `base`: adds the rule `latest` or
   * `latest.EUR`.
   * @throws MockServerError with code `invalid_option`.
   * @example mock.latest.set({ base: 'EUR', rates: { USD: 1.1 } }, { base: 'EUR' })
   */
  set(data: LatestData, options?: LatestOptions): void;
  /**
   * Removes the rules of `set` and of a recording; with `base`, only the rule for that base. Without such a rule, it has no effect.
   * @throws MockServerError with code `invalid_option`, for an invalid base.
   */
  reset(options?: LatestOptions): void;
}

export const latestOptions = strictObject({
  /**
   * Value of the parameter `base`, in upper or lower case. Only requests with this value are affected.
   * @default all requests
   */
  base: expected(
    'a currency code such as EUR',
    // In capitals, so that `eur` and `EUR` have one rule.
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

export function createMockLatest(context: RuleContext): MockLatest {
  return {
    set(data, options = {}) {
      const base = baseOf(options);
      const respond = checkedLatest(data);
      if (base === undefined) removeRules(context, isRecorded);
      addRules(context, [{ id: latestId(base), match: latestMatch(base), counted: true, respond }]);
    },
    reset(options = {}) {
      const base = baseOf(options);
      removeRules(context, (id) => (base === undefined ? isLatest(id) : id === latestId(base)));
    },
  };
}

function baseOf(options: LatestOptions): string | undefined {
  return checkedInput(latestOptions, options, { what: 'an option of latest.set() and latest.reset()' }).base;
}

function latestId(base: string | undefined): string {
  return base === undefined ? LATEST : `${LATEST}.${base}`;
}

function latestMatch(base: string | undefined): RuleMatch {
  const operation = LATEST;
  // Ignores case, as invented rates do.
  return base === undefined ? { operation } : { operation, query: { base: { matches: `^${base}$`, flags: 'i' } } };
}

const DATA = 'an object, an array of objects, or JSON text of one of these';
const USE_RULE = `${DATA}; for a function, use mock.rules.add({ match: { operation: 'latest' }, respond: … })`;

/** The responses of `mock.latest.set()`. */
function checkedLatest(data: unknown): readonly SentAnswer[] {
  if (typeof data === 'function') throw invalidOption('latest', data, USE_RULE);
  const isList = typeof data === 'string' && data.trimStart().startsWith('[') && isJson(data);
  const values = isList ? Array.from(members(data), ({ text }) => unquoted(text)) : data;
  if (!Array.isArray(values)) return [within('latest', () => latestAnswer(values, DATA))];
  if (values.length === 0) throw invalidOption('latest', data, DATA);
  checkLength('latest', values, MOST_ANSWERS);
  return eachOf('latest', values, (value) => latestAnswer(value, OBJECT));
}

const OBJECT = 'an object';

function latestAnswer(data: unknown, expected: string): SentAnswer {
  if (typeof data !== 'string') {
    if (isJsonObject(data)) return preparedAnswer({ data });
    throw invalidOption('response', data, expected);
  }
  if (!isJsonObject(parseJson(data))) throw invalidOption('response', data, OBJECT);
  return { status: 200, headers: {}, body: successBody(data.trim()) };
}

/** The parsed value of a part that is a string of JSON text; otherwise the part. */
function unquoted(json: string): string {
  return json.startsWith('"') ? JSON.parse(json) : json;
}

/**
 * The rules of a recording of `fxrates latest --fixture-out`, for the option `rules` or `mock.setUp()`: one for each recorded
 * query, and one below them, which responds to other queries with `*` of the recording or with 501 `not_recorded`.
 * `mock.latest.reset()` removes them. The recording is the JSON text of one envelope
 * (`{ success, data }`) for every query, or of objects with one response per query, as an envelope or as `data`. The order of
 * parameters does not matter. Numbers keep their digits (`1.10`).
 * @throws MockServerError with code `invalid_option`.
 * @example createMockServer({ rules: recordedRules(await readFile('rates.ndjson', 'utf8')) })
 */
export function recordedRules(recording: string): readonly RuleOptions[] {
  if (typeof recording !== 'string') throw invalidOption('recording', recording, EXPECTED);
  const documents = documentsIn(recording.trim()); // also removes a byte order mark
  const [first] = documents;
  if (documents.length === 1 && first !== undefined && isEnvelope(first.value)) {
    return [recordedRule(RECORDED, {}, recordedAnswer('recording', first))];
  }
  const byQuery = recordedMembers(documents);
  if (byQuery.size === 0)
    throw invalidOption('recording', first?.value ?? recording, expectedText(recording, EXPECTED));
  return rulesByQuery(byQuery);
}

const EXPECTED = 'the text of a recorded envelope, or of an object of responses by query such as { "base=EUR": … }';
const ANY = '*';

/** One more rule is for the other queries. */
const MOST_QUERIES = MOST_RULES - 1;

/** Refuses too many queries before the text is parsed, which takes long with many names. */
function documentsIn(text: string): readonly JsonDocument[] {
  let queries = 0;
  for (const { name } of members(text)) {
    queries += 1;
    if (queries <= MOST_QUERIES) continue;
    throw fieldError('recording', `has more than ${MOST_QUERIES} queries, such as ${show(name)}; record fewer.`);
  }
  return jsonDocuments(text);
}

type RecordedByQuery = ReadonlyMap<string, JsonDocument>;

function rulesByQuery(byQuery: RecordedByQuery): readonly RuleOptions[] {
  checkLength('recording', Array.from(byQuery.keys()), MOST_QUERIES);
  const answers = new Map<string, Answer>();
  for (const [text, recorded] of byQuery) {
    const query = text === ANY ? ANY : canonicalQuery(text);
    if (answers.has(query))
      throw invalidOption('recording', text, 'each query once; the order of its parameters does not matter');
    answers.set(query, recordedAnswer(placeOf(text), recorded));
  }
  const { [ANY]: other, ...known } = Object.fromEntries(answers);
  const rules = Object.entries(known).map(([query, answer], index) =>
    recordedRule(`${RECORDED}.${index + 1}`, exactQuery(query), answer),
  );
  return [recordedRule(RECORDED, {}, other ?? notRecorded(Object.keys(known))), ...rules];
}

function placeOf(query: string): string {
  return `recording[${JSON.stringify(query)}]`;
}

function recordedRule(id: string, match: RuleMatch, respond: Answer): RuleOptions {
  return { id, match: { operation: LATEST, ...match }, respond };
}

/** A pattern for these parameters and no others. */
function exactQuery(query: string): RuleMatch {
  const values = Object.entries(recordedQuery(new URLSearchParams(query)));
  const all = values.map(([name, value]) => [name, [value].flat()]); // a list is the whole list of the values
  return { query: { ...Object.fromEntries(all), [ANY]: { absent: true } } };
}

function notRecorded(queries: readonly string[]): Answer {
  const shown = queries.slice(0, MOST_SHOWN).map((query) => `'${query}'`);
  const more = queries.length > MOST_SHOWN ? ` and ${queries.length - MOST_SHOWN} more` : '';
  const message = `No response is recorded for this query; recorded queries: ${shown.join(', ')}${more}.`;
  return { status: 501, error: { code: 'not_recorded', message } };
}

const MOST_SHOWN = 20;

/**
 * The responses by query of one object, or of the lines that `fxrates latest --fixture-out` appends, of which the last one
 * counts. A line that a killed command has left incomplete is skipped.
 */
function recordedMembers(documents: readonly JsonDocument[]): RecordedByQuery {
  const byQuery = new Map<string, JsonDocument>();
  for (const { text, value } of documents) {
    if (!isJsonObject(value)) continue;
    for (const { name, text: part } of members(text)) byQuery.set(name, { text: part, value: value[name] });
  }
  return byQuery;
}

function recordedAnswer(option: string, { text, value }: JsonDocument): Answer {
  if (!isJsonObject(value)) throw invalidOption(option, value ?? text, 'an envelope, or the data of one');
  if (!isEnvelope(value)) return { body: successBody(text) };
  const body = withoutTags(text);
  if (value['success'] === true) return { body };
  const { code, status } = isJsonObject(value['error']) ? value['error'] : {};
  if (typeof code !== 'string' || !Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) {
    throw invalidOption(`${option}.error`, value['error'], 'a recorded error with its code, message and status');
  }
  return { status: Number(status), body };
}

/** The parameters in the order of their names; without `api_key`. */
function canonicalQuery(query: string): string {
  const sorted = new URLSearchParams(query);
  sorted.delete('api_key');
  sorted.sort();
  return sorted.toString();
}

function isEnvelope(value: unknown): value is JsonObject {
  return isJsonObject(value) && typeof value['success'] === 'boolean' && ('data' in value || 'error' in value);
}
