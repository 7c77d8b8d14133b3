import { type Context, createContext, Script } from 'node:vm';
import * as z from 'zod';
import { codeOf, isPromise, isRegExp } from '../../foreign-values.ts';
import { operations } from '../../generated/operations.ts';
import { editDistance } from '../../nearest-name.ts';
import { redactKeys } from '../../redactor.ts';
import { expected, type Immutable, recordOf, type Steps, strictObject, type ValueOf } from '../input/checked-input.ts';
import { type RecordedValues, recordedHeader, recordedParameter } from '../input/masked-keys.ts';
import { fieldError } from '../input/mock-server-error.ts';

const plain = z.union([z.string(), z.number(), z.boolean()]);

function compiles({ matches, flags }: RegExpText): boolean {
  if (matches.length > MOST_CHARACTERS) return false; // one of megabytes compiles for half a second
  try {
    new RegExp(matches, flags);
    return true;
  } catch {
    return false;
  }
}

/** Of a path or a regular expression. No target or header of a request is longer. */
const MOST_CHARACTERS = 16_384;

/** A regular expression in JSON. */
export interface RegExpText {
  readonly matches: string;
  readonly flags?: string | undefined;
}

/** A regular expression as JSON has it. Another value is returned unchanged. */
export function regExpText<Value>(value: Value | RegExp): Value | RegExpText {
  if (!isRegExp(value)) return value;
  return { matches: value.source, ...(value.flags === '' ? {} : { flags: value.flags }) };
}

/** A full key would never match, because keys are masked in recorded requests. */
function hasNoKey(value: unknown): boolean {
  const text = JSON.stringify(value);
  return redactKeys(text) === text;
}

const MASKED = { error: "no API key, because recorded requests have it masked; use keyId, such as 'key_1'" };

const CREDENTIAL = {
  error:
    'no credential, because recorded requests have it masked (Bearer fx_live_…); use keyId, or a regular expression',
};

type RecordedText = (name: string, value: string) => string;

/** Whether a recorded request can have these values: another credential than the masked form would never match. */
function canBeRecorded(values: Readonly<Record<string, unknown>>, recorded: RecordedText): boolean {
  return Object.entries(values).every(([name, wanted]) =>
    [wanted].flat().every((value) => typeof value === 'object' || recorded(name, String(value)) === String(value)),
  );
}

const regularExpression = z.preprocess(
  (value: RegExp | RegExpText) => (isPromise(value) ? null : regExpText(value)), // zod would wait for a promise
  z.strictObject({ matches: z.string(), flags: z.string().optional() }).refine(compiles, {
    error: `a regular expression that compiles, of at most ${MOST_CHARACTERS} characters`,
  }),
);
const absence = z.strictObject({ absent: z.boolean() });

const valuePattern = expected(
  'text, { "matches": a regular expression } or { "absent": true }',
  z.union([plain, regularExpression, absence]).refine(hasNoKey, MASKED),
);
const listPattern = expected(
  'text, an array, { "matches": a regular expression } or { "absent": true }',
  z.union([plain, z.array(plain), regularExpression, absence]).refine(hasNoKey, MASKED),
);

/** A token (RFC 9110 §5.6.2): another name would never match. */
const headerName = z.string().regex(/^[!#$%&'*+.^`|~\w-]+$/);

/**
 * What a URL encodes in its path, half a surrogate pair as U+FFFD, so that requests have it encoded
 * (https://url.spec.whatwg.org/#path-percent-encode-set).
 */
const ENCODED_IN_PATHS = /[^\x21-\x7e]+|["<>`{}]/g;

/** In `query`: all parameters that the pattern does not name. */
const OTHERS = '*';

function isAbsent(wanted: unknown): boolean {
  return Object(wanted).absent === true;
}

/** Rules, filters and expectations have these fields. */
export const requestPattern = strictObject({
  /** Id of the operation, for example `'latest'`. */
  operation: expected(
    `one of ${Object.keys(operations).join(', ')}`,
    z.string().refine((id) => Object.hasOwn(operations, id)),
  ).optional(),
  /** Id of the API key, for example `'key_1'`. */
  keyId: expected('the id of a key of this mock, such as key_1', z.string()).optional(),
  /**
   * The complete path without the query. `*` matches any characters. Spaces and characters such as `é` are encoded as in a
   * URL.
   * @example '/api/v1/*'
   */
  path: expected(
    "a path such as /api/v1/latest or /api/*; a query is matched with query: { base: 'EUR' }",
    z
      .string()
      .max(MOST_CHARACTERS, { abort: true })
      .regex(/^[/*][^?#]*$/)
      .refine(hasNoKey, MASKED)
      .overwrite((path) =>
        plainPath(path.replace(ENCODED_IN_PATHS, (text) => encodeURIComponent(Buffer.from(text).toString()))),
      ),
  ).optional(),
  /** The HTTP method, in capitals. */
  // ANY is not a method, so it would never match.
  method: expected(
    'a method in capitals, such as GET',
    z
      .string()
      .regex(/^[A-Z]+$/)
      .refine((method) => method !== 'ANY'),
  ).optional(),
  /**
   * Parameters by name. Other parameters are allowed, unless `'*'` is `{ absent: true }`. A repeated parameter matches if one of its values matches; an array
   * is compared with all values. A number is compared as JavaScript writes it: 1.10 matches `1.1`. Upper and lower case differ,
   * unlike in `latest.set()`; `/^eur$/i` ignores them.
   * @example { base: 'EUR', symbols: /USD/, date: { absent: true } }
   */
  query: recordOf('an object of parameters such as { "base": "EUR" }', listPattern)
    .refine((values) => canBeRecorded(values, recordedParameter), CREDENTIAL)
    .refine(({ [OTHERS]: others }) => others === undefined || isAbsent(others), {
      error: '{ "absent": true } for "*", which stands for all other parameters',
    })
    .optional(),
  /** Headers by case-insensitive name. Other headers are allowed. API keys are masked, as in the journal. */
  headers: recordOf('an object of headers with valid names such as { "x-trace": "abc" }', valuePattern, headerName)
    .refine((values) => canBeRecorded(values, (name, value) => recordedHeader(name.toLowerCase(), value)), CREDENTIAL)
    .optional(),
  /** The complete body as text; in filters and expectations its first 16,384 characters, which the journal keeps. */
  body: valuePattern.optional(),
});

/** Selects requests; by default all. All fields that are set must match. */
export interface RequestPattern extends ValueOf<typeof requestPattern> {}

/** The expected text, a regular expression, or `{ absent: true }` (`{ absent: false }`: any value that is present). */
export type ValuePattern = Immutable<z.input<typeof valuePattern>>;

/** One field in which a request differs from a pattern. */
export interface Difference {
  /** `query.base` */
  readonly field: string;
  /** In words: `'USD'`, or `absent`. */
  readonly actual: string;
  readonly expected: string;
}

/** A request as the journal shows it and as patterns match it. API keys are masked. */
export interface RecordedRequest {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Parameters by name; a repeated parameter has an array of values. */
  readonly query: RecordedValues;
  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The complete body; `undefined` without a body. */
  readonly body: string | undefined;
  /** Whether the URL contains an API key, where logs would show it. */
  readonly hasKeyInUrl: boolean;
}

/** A request as patterns see it. */
export interface MatchedRequest extends Pick<RecordedRequest, 'method' | 'path' | 'query' | 'headers'> {
  readonly body?: string | undefined;
  readonly operation?: string | undefined;
  readonly keyId?: string | undefined;
}

export function matchesPattern(pattern: RequestPattern, request: MatchedRequest): boolean {
  return differences(pattern, request).next().done === true;
}

/** The fields in which a request differs from a plain pattern, one by one. */
export function* differences(pattern: RequestPattern, request: MatchedRequest): Generator<Difference, undefined> {
  const limit = { leftMs: LONGEST_TEST_MS };
  for (const [field, wanted, actual] of comparedValues(pattern, request)) {
    if (wanted === undefined) continue;
    const isMatch =
      field === 'path' ? matchesPath(String(wanted), request.path) : matchesValue(wanted, actual, { field, limit });
    if (!isMatch) yield { field, actual: shown(actual), expected: shownPattern(wanted) };
  }
}

function* comparedValues({ query = {}, headers = {}, ...plain }: RequestPattern, request: MatchedRequest) {
  for (const field of PLAIN_FIELDS) yield [field, plain[field], request[field]] as const;
  for (const [name, wanted] of Object.entries(query)) {
    const actual = name === OTHERS ? otherNames(query, request.query) : ownValue(request.query, name);
    yield [`query.${name}`, wanted, actual] as const;
  }
  for (const [name, wanted] of Object.entries(headers)) {
    yield [`headers.${name}`, wanted, ownValue(request.headers, name.toLowerCase())] as const;
  }
  yield ['body', plain.body, request.body] as const;
}

const PLAIN_FIELDS = ['operation', 'keyId', 'method', 'path'] as const;

/** The names of the parameters that a pattern does not name; `undefined` for none. The key is no such parameter. */
function otherNames(query: object, sent: RecordedRequest['query']): readonly string[] | undefined {
  const others = Object.keys(sent).filter((name) => !Object.hasOwn(query, name) && name !== 'api_key');
  return others.length === 0 ? undefined : others;
}

function ownValue<Value>(values: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

type AnyPattern = Immutable<z.input<typeof listPattern>>;
type Actual = string | readonly string[] | undefined;

interface ComparedField {
  readonly field: string;
  /** The time that is left for the regular expressions of the pattern. */
  readonly limit: { leftMs: number };
}

function matchesValue(wanted: AnyPattern, actual: Actual, compared: ComparedField): boolean {
  const values = actual === undefined ? [] : [actual].flat();
  if (Array.isArray(wanted)) {
    return wanted.length === values.length && wanted.every((value, index) => String(value) === values[index]);
  }
  if (typeof wanted !== 'object') return values.includes(String(wanted));
  if ('absent' in wanted) return wanted.absent === (actual === undefined);
  if (!('matches' in wanted)) return false;
  // With `g` and `y`, a match starts after the previous one.
  const regex = new RegExp(wanted.matches, wanted.flags?.replace(/[gy]/g, ''));
  return values.some((value) =>
    isCertainlyFast(regex, value) ? regex.test(value) : testLimited(regex, value, compared),
  );
}

/** A time limit takes 0.2 ms. Without repeated groups, each choice multiplies the steps by the length at most. */
function isCertainlyFast({ source }: RegExp, { length }: string): boolean {
  const choices = source.match(/[*+?{|]/g)?.length ?? 0;
  return !/\)[*+{]/.test(source) && Math.max(length, 2) ** (choices + 1) <= 1_000_000;
}

/**
 * Throws for an expression that takes too long: without a limit, some block the process for hours. What counts is processor
 * time, because on a busy machine a fast expression can wait for longer.
 */
function testLimited(regex: RegExp, text: string, { field, limit }: ComparedField): boolean {
  regexContext ??= createContext();
  do {
    const before = process.cpuUsage();
    try {
      const timeout = Math.max(1, Math.ceil(limit.leftMs));
      return TEST.runInContext(Object.assign(regexContext, { regex, text }), { timeout });
    } catch (error) {
      if (codeOf(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    } finally {
      const { user, system } = process.cpuUsage(before);
      limit.leftMs -= (user + system) / 1000;
      Object.assign(regexContext, { regex: undefined, text: '' });
    }
  } while (limit.leftMs > 0);
  const problem = `takes longer than ${LONGEST_TEST_MS} ms for ${text.length} characters with ${regex}`;
  throw fieldError(field, `${problem}; avoid repetitions in repeated groups.`, { code: SLOW_PATTERN });
}

/** Code of the error for a regular expression that takes too long. */
const SLOW_PATTERN = 'slow_pattern';
const LONGEST_TEST_MS = 50;
const TEST = new Script('regex.test(text)');
let regexContext: Context | undefined;

function shownPattern(wanted: AnyPattern): string {
  if (typeof wanted !== 'object' || Array.isArray(wanted)) return shown(wanted);
  if ('absent' in wanted) return wanted.absent ? 'absent' : 'present';
  return 'matches' in wanted ? `/${wanted.matches}/${wanted.flags ?? ''}` : '';
}

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  if (Array.isArray(value)) return `[${value.map(shown).join(', ')}]`;
  const text = String(value);
  return `'${text.length > 60 ? `${text.slice(0, 57)}...` : text}'`;
}

/** Decodes unreserved characters, and writes the other codes in capitals: `%71uota` is the same as `quota` (RFC 3986 §6.2.2). */
export function plainPath(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(/%[0-9a-f]{2}/gi, (sequence) => {
    const character = String.fromCharCode(Number.parseInt(sequence.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : sequence.toUpperCase();
  });
}

/** Whether a path matches: exactly, or with `*` for any characters. In linear time, for any number of `*`. */
function matchesPath(pattern: string, given: string): boolean {
  const path = plainPath(given);
  const [start = '', ...parts] = pattern.split(/\*+/);
  const end = parts.pop();
  if (end === undefined) return pattern === path;
  if (!path.startsWith(start)) return false;
  // The first place of each part leaves the most for the next ones.
  let at = start.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - end.length >= at && path.endsWith(end);
}

interface Comparison {
  readonly pattern: RequestPattern;
  readonly differences: Iterable<Difference>;
}

/** A pair of request and pattern that nearly match. */
interface NearMiss<Candidate> {
  readonly candidate: Candidate;
  /** `differs in query.base: 'USD', expected 'EUR'` */
  readonly text: string;
}

/**
 * The candidates, requests or patterns, that nearly match: up to three, the nearest first. Of those at the same distance the
 * last one is first: it is the newest request, or the rule that would count. `most` is the largest distance.
 */
export function* nearMisses<Candidate>(
  candidates: readonly Candidate[],
  compare: (candidate: Candidate) => Comparison,
  most = Number.POSITIVE_INFINITY,
): Steps<readonly NearMiss<Candidate>[]> {
  let near: (ReturnType<typeof compared> & Pick<NearMiss<Candidate>, 'candidate'>)[] = [];
  for (const candidate of candidates.toReversed()) {
    const found = { candidate, ...compared(compare(candidate), near[MOST_CLOSE - 1]?.distance ?? most) };
    if (found.isClose) near = [...near, found].sort((one, other) => one.distance - other.distance).slice(0, MOST_CLOSE);
    yield;
  }
  return near.map(({ candidate, differences }) => ({
    candidate,
    text: `differs in ${differences.map(textOf).join('; ')}`,
  }));
}

const MOST_CLOSE = 3;

/** Stops at the difference that makes the distance too large: a mock can have thousands of rules. */
function compared({ pattern, differences: found }: Comparison, most: number) {
  const differences: Difference[] = [];
  let distance = 0;
  for (const difference of found) {
    distance += distanceOf(difference, most);
    if (distance > most) return { differences, distance, isClose: false };
    differences.push(difference);
  }
  // A candidate without any match is no help.
  const hasMatch =
    differences.length < countFields(pattern) ||
    differences.every(({ field }) => /^(?:query|headers)\.|^body$/.test(field));
  return { differences, distance, isClose: differences.length > 0 && hasMatch };
}

/** From 0, for texts that differ in upper and lower case only, to 1, for a value that is absent. Exact up to `most`. */
function distanceOf({ actual, expected }: Difference, most: number): number {
  if (actual === 'absent' || expected === 'absent') return 1;
  const longest = Math.max(actual.length, expected.length);
  const least = Math.abs(actual.length - expected.length) / longest;
  return least > most ? least : editDistance(actual.toLowerCase(), expected.toLowerCase()) / longest;
}

function textOf({ field, actual, expected }: Difference): string {
  return `${field}: ${actual}, expected ${expected}`;
}

function countFields({ query = {}, headers = {}, ...others }: RequestPattern): number {
  return Object.keys(query).length + Object.keys(headers).length + Object.keys(others).length;
}
