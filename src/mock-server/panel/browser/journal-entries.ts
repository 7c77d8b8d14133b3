import { targetOf } from '../../../text.ts';
import { valuePairs } from '../../input/masked-keys.ts';
import { keyText, statusText } from '../../journal/entry-text.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { type MockView, type PanelQuery, windowText } from './mock-view.ts';

/** Whether the client got a response that is no refusal. A connection that broke off brought none. */
export function isServed({ status }: Pick<JournalEntry, 'status'>): boolean {
  return status > 0 && status < 400;
}

/** The requests that the filters let through. */
export function matchingEntries(entries: readonly JournalEntry[], query: PanelQuery): readonly JournalEntry[] {
  const text = query.text.trim().toLowerCase();
  return entries.filter(
    (entry) =>
      matchesStatus(entry, query.status) &&
      (query.operation === '' || operationFilterOf(entry) === query.operation) &&
      (query.key === '' || keyFilterOf(entry) === query.key) &&
      (text === '' || textOf(entry).includes(text)),
  );
}

/** The value of the filter for the operation of an entry: `other` if it has none, and its path does not count as unknown. */
export function operationFilterOf({ operation, isUnknownRoute }: JournalEntry): string {
  return operation ?? (isUnknownRoute ? 'unknown' : 'other');
}

/** The value of the filter for the key of an entry. */
export function keyFilterOf({ keyId, keyTransport }: JournalEntry): string {
  return keyId ?? (keyTransport === undefined ? 'none' : 'unknown');
}

function matchesStatus(entry: JournalEntry, wanted: string): boolean {
  if (wanted === '') return true;
  if (wanted === 'served') return isServed(entry);
  return wanted === 'refused' ? !isServed(entry) : String(entry.status) === wanted;
}

function textOf(entry: JournalEntry): string {
  const { method, path, query, status, code = '', why, headers, body = '', rules } = entry;
  const names = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const values = valuePairs(query).map(([name, value]) => `${name}=${value}`);
  const words = [
    method,
    targetOf(entry),
    decoded(path),
    ...values,
    statusText(status),
    code,
    why,
    keyText(entry),
    ...names,
    body,
  ];
  return [...words, ...rules].join('\n').toLowerCase();
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // its percent signs encode no text
  }
}

/**
 * A command for a POSIX shell that sends the request again; `undefined` if curl or a terminal would change the request. The key
 * comes from the environment: the journal has none.
 */
export function curlCommand(entry: JournalEntry, origin: string): string | undefined {
  const { method, headers, body } = entry;
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    // curl sends no `name: ` without a value.
    LEFT_OUT.test(name) ? [] : [`-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`, MASKED.inHeader)}`],
  );
  const target = targetOf(entry);
  const isPlainGet = method === 'GET' && body === undefined;
  const parts = [
    `curl ${quoted(origin + target, MASKED.inUrl)}`,
    // With -X HEAD, curl waits for a body.
    ...(isPlainGet ? [] : [method === 'HEAD' ? '--head' : `-X ${quoted(method, MASKED.anywhere)}`]),
    ...lines,
    ...(body === undefined ? [] : [`--data-raw ${quoted(body, MASKED.anywhere)}`]),
  ];
  const isChanged = CHANGED_IN_URL.test(target) || parts.some((part) => CONTROL.test(part));
  return isChanged ? undefined : parts.join(' \\\n  ');
}

/** In a URL, curl would connect to another host, remove segments of dots, or expand `{a,b}` and `[1-3]`. */
const CHANGED_IN_URL = /^[^/?]|\/(?:\.|%2e){1,2}(?:[/?]|$)|[{}[\]\\]/i;

/** A terminal obeys control characters, and some change the direction or the look of the text after them. */
const CONTROL = /(?!\n)[\p{Cc}\p{Cf}]/u;

/** curl sets these by itself; the journal has no cookies. */
const LEFT_OUT = /^(?:cookie|host|connection|content-length|transfer-encoding|accept-encoding|keep-alive)$/;

/** A masked key becomes a variable outside the quotes; any other `…` stays. */
function quoted(text: string, masked: RegExp): string {
  const words = `'${text.replaceAll("'", `'\\''`)}'`.replace(masked, () => `'"$FXRATES_API_KEY"'`);
  return words.endsWith(`"''`) ? words.slice(0, -2) : words;
}

/** A key of another form is masked as `…` alone: in parameters for keys, and in headers, which have no other `…`. */
const MASKED = {
  anywhere: /[\w-]{1,64}_live_…/g,
  inHeader: /(?:[\w-]{1,64}_live_)?…/g,
  inUrl: /[\w-]{1,64}_live_…|(?<=[?&](?:api[_-]?key|access_token)=)…/gi,
};

const SECONDS = 120;

type ChartView = Pick<MockView, 'entries' | 'total' | 'keys' | 'clock'>;

/**
 * For each second with requests of the key `chosen`, or else of the newest request: how many requests the mock had counted
 * in the window of the key, and above these the requests that were not served. So only a
 * refused request is above the limit. `at` is in seconds since the Unix epoch, `all` are the used requests and those that
 * were not served, and `summary` is the same in words, for a screen reader.
 */
export function minuteChart({ entries, total, keys, clock }: ChartView, chosen: string) {
  const start = Math.floor(clock.now / 1000) - SECONDS + 1;
  const newest = entries.find(({ rate, keyId }) => rate !== undefined && (chosen === '' || keyId === chosen));
  const { keyId, rate: { limit } = {} } = newest ?? {};
  const window = windowText(keys.find(({ id }) => id === keyId));
  const secondOf = ({ at }: JournalEntry) => Math.floor(at / 1000) - start;
  const ofKey = newest === undefined ? [] : entries.filter((entry) => entry.keyId === keyId);
  const shown = ofKey.filter((entry) => secondOf(entry) >= 0 && secondOf(entry) < SECONDS);
  const notServed = shown.filter((entry) => !isServed(entry));
  const seconds = Array.from({ length: SECONDS }, (_, second) => {
    const used = Math.max(0, ...shown.filter((entry) => secondOf(entry) === second).map(usedAt));
    const all = used + notServed.filter((entry) => secondOf(entry) === second).length;
    return { at: start + second, used, all };
  });
  const oldest = entries.at(-1);
  const isCut = entries.length < total && oldest !== undefined && secondOf(oldest) >= 0;
  const counts = `${isCut ? 'at least ' : ''}${shown.length - notServed.length} requests of ${keyId} were served and ${notServed.length} not`;
  const summary =
    keyId === undefined
      ? `No request${chosen === '' ? '' : ' of the chosen key'} was checked against a limit yet.`
      : `In the last two minutes, ${counts}; the limit is ${limit} per ${window}.`;
  return { seconds, keyId, limit, window, summary };
}

/** With a switch, refused requests count too, and the sum can exceed the limit. */
function usedAt({ rate }: JournalEntry): number {
  return rate === undefined ? 0 : Math.min(rate.used, rate.limit);
}
