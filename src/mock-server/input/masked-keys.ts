import { redactKeys } from '../../redactor.ts';

/** Digits of a key. Names of headers are shorter, and need no search. */
const KEY_LENGTH = 48;

/** How many characters of a body the journal keeps. */
export const MOST_BODY_CHARACTERS = 16_384;

/** Values by name; an array for several values of a name. */
export type RecordedValues = Readonly<Record<string, string | readonly string[]>>;

/** As `RecordedValues`, before numbers are text. */
export type GivenValues = Readonly<Record<string, string | number | readonly (string | number)[]>>;

/** One pair for each value of a parameter or header. */
export function valuePairs(given: GivenValues): [string, string][] {
  return Object.entries(given).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, String(value)]),
  );
}

/** A parameter without the key in it. */
export function recordedParameter(name: string, value: string): string {
  return SECRET_PARAMETER.test(name) ? maskedKey(value) : redactKeys(value);
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Headers without the keys in them, also in their names, which are in lower case. Of a client, most requests have the same
 * ones: then it returns `last`, those of the request before.
 */
export function recordedHeaders(headers: Headers, last: RecordedHeaders = {}): RecordedHeaders {
  if (areSame(headers, last)) return last;
  const shown: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    shown[name.length < KEY_LENGTH ? name : redactKeys(name)] = SECRET_HEADERS.has(name)
      ? maskedCredential(value)
      : redactKeys(value);
  }
  return Object.freeze(shown);
}

type RecordedHeaders = Readonly<Record<string, string>>;

/** Whether headers are the recorded ones, in the same order. A text that equals a recorded one has no key. */
function areSame(headers: Headers, recorded: RecordedHeaders): boolean {
  const names = Object.keys(recorded);
  let place = 0;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    if (names[place] !== name) return false;
    const shown = SECRET_HEADERS.has(name) ? maskedCredential(value) : value;
    if (shown !== recorded[name]) return false;
    place += 1;
  }
  return place === names.length;
}

/** Values without the keys in them. Most have none, so that the entry of the journal shares them with the response. */
export function recordedValues(values: RecordedValues): RecordedValues {
  for (const name in values) {
    const text = String(values[name]);
    if (name.length >= KEY_LENGTH || redactKeys(text) !== text)
      return maskedValues(values, (_, value) => redactKeys(value));
  }
  return values;
}

/** Parameters by name, without the keys in them, also in their names. */
export function recordedQuery(parameters: URLSearchParams): RecordedValues {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of parameters) {
    const earlier = values.get(name);
    if (Array.isArray(earlier)) earlier.push(value);
    else values.set(name, earlier === undefined ? value : [earlier, value]);
  }
  return maskedValues(Object.fromEntries(values), recordedParameter);
}

function maskedValues(values: RecordedValues, mask: (name: string, value: string) => string): RecordedValues {
  const masked = Object.entries(values).map(([name, value]) => [
    redactKeys(name),
    typeof value === 'string' ? mask(name, value) : value.map((one) => mask(name, one)),
  ]);
  return Object.fromEntries(masked);
}

/** A header without the key in it. `name` is in lower case. */
export function recordedHeader(name: string, value: string): string {
  return recordedHeaders({ [name]: value })[name] ?? value;
}

const SECRET_PARAMETER = /^(?:api[_-]?key|access_token)$/i;
const SECRET_HEADERS = new Set([
  ...['authorization', 'proxy-authorization', 'cookie'],
  ...['apikey', 'api-key', 'xapikey', 'x-apikey', 'x-api-key'],
]);

/** Keeps the scheme: `Bearer fx_live_…`. */
function maskedCredential(value: string): string {
  // The header of nearly all requests. All entries of the journal share this text.
  if (value.startsWith('Bearer fx_live_')) return 'Bearer fx_live_…';
  const scheme = /^(?:bearer|basic|digest) +/i.exec(value)?.[0] ?? '';
  return scheme + maskedKey(value.slice(scheme.length));
}

/** Masks a key except its prefix, which shows the kind of key. */
function maskedKey(value: string): string {
  return /^[\w-]{1,16}_live_(?=[0-9a-f]+$)/i.exec(value)?.[0].concat('…') ?? '…';
}
