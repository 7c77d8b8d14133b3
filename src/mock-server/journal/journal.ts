import * as z from 'zod';
import { isError } from '../../foreign-values.ts';
import { redactKeys } from '../../redactor.ts';
import { SWITCH_NAMES } from '../behaviour/switches.ts';
import type { MockLifetime } from '../clock/response-delays.ts';
import { expected, plainObject, strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { MOST_BODY_CHARACTERS } from '../input/masked-keys.ts';
import { thrownText } from '../input/mock-server-error.ts';
import { type Difference, differences, type RequestPattern, requestPattern } from '../matching/request-pattern.ts';
import { minuteUsage, monthUsage } from '../service/decide.ts';

/** Parameters, or headers of a response. */
const valuesByName = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

export const journalEntry = plainObject({
  /** Number of the request, counted from 1. */
  number: z.int(),
  /** Name of the space; `undefined` for the mock itself. Each space numbers its requests separately. */
  space: z.string().optional().describe('Name of the space.'),
  /** Time of arrival in milliseconds since the Unix epoch, by the mock's clock. */
  at: z.number().describe('Milliseconds since the Unix epoch, by the clock of the mock.'),
  /** HTTP method, in capitals. */
  method: z.string(),
  /** Path without the query. */
  path: z.string(),
  /** Parameters by name; a repeated parameter has an array of values. API keys are masked. */
  query: valuesByName.describe('Parameters by name, an array for a repeated one. Keys are masked.'),
  /** Headers by name in lower case. API keys are masked. */
  headers: z.record(z.string(), z.string()).describe('Names in lower case. Keys are masked.'),
  /** The first 16,384 characters of the body; `undefined` without a body. */
  body: z.string().optional().describe('The first 16,384 characters.'),
  /** Whether the URL contains an API key, where logs would show it. */
  hasKeyInUrl: z.boolean().describe('Whether the URL contains an API key.'),
  /** Id of the operation at the path; `undefined` if the path has none. */
  operation: z.string().optional().describe('Id of the operation at the path.'),
  /** Whether neither the service nor a rule has this path. `why` then names the nearest known path, and rules that nearly match. */
  isUnknownRoute: z.boolean().describe('Whether the path is unknown.'),
  /** Id of the API key; `undefined` without a known key. */
  keyId: z.string().optional(),
  /** How the key was sent: with the scheme word, as the bare header, or in the query. */
  keyTransport: z.enum(['bearer', 'header', 'query']).optional(),
  /**
   * HTTP status that the client received; 0 if the connection ended without a response. A delayed response has its status from
   * the arrival of the request on; if the client disconnects before it, the status becomes 0.
   */
  status: z.int().describe('0 if the connection ended without a response.'),
  /** `error.code` of the response; `undefined` for a success. */
  code: z.string().optional(),
  /** Reason for the response, in words. */
  why: z.string().describe('Reason for the response, in words.'),
  /** Usage of the per-minute limit; `undefined` if the request was refused before the limits were checked. */
  rate: minuteUsage.optional(),
  /** Usage of the monthly quota; `undefined` as for `rate`. */
  quota: monthUsage.optional(),
  /**
   * Milliseconds that were left of the last Retry-After when the request arrived; `undefined` if it had passed. In process,
   * also `undefined` for requests that were sent before the client had received that Retry-After. If the month is used up, or
   * `quota` has its own limit, `quota` and the other operations each have their own last Retry-After.
   */
  earlyByMs: z.number().optional().describe('Milliseconds that were left of the last Retry-After.'),
  /** Switches that the response depends on. */
  switches: z.array(z.enum(SWITCH_NAMES)).describe('Switches that the response depends on.'),
  /** Ids of the rules that did something with the request, in the order in which they were added. */
  rules: z.array(z.string()).describe('Ids of the rules that did something with the request.'),
  /**
   * Headers of the response by name in lower case; `set-cookie` has an array of values. API keys are masked. `undefined` if
   * the client received no response.
   */
  responseHeaders: valuesByName.optional().describe('Names in lower case, an array for `set-cookie`. Keys are masked.'),
  /** The first 16,384 characters of the response body, as sent; `undefined` without a body. Binary data is read as UTF-8. */
  responseBody: z.string().optional().describe('The first 16,384 characters of the response body, as sent.'),
});

/** A request, its response and the reason for it. Never contains an API key. */
export interface JournalEntry extends ValueOf<typeof journalEntry> {}

const text = expected('text', z.string());

export const requestFilter = strictObject({
  ...requestPattern.shape,
  body: requestPattern.shape.body.refine((body) => typeof body !== 'string' || body.length <= MOST_BODY_CHARACTERS, {
    error: `at most ${MOST_BODY_CHARACTERS} characters, because the journal keeps no more; use a regular expression`,
  }),
  /** HTTP status that the client received; 0 if the connection ended without a response. */
  status: expected('an HTTP status, or 0 for no response', z.int()).optional(),
  /** `error.code` of the response. */
  code: text.optional().describe('`error.code` of the response.'),
  /** Id of a rule that did something with the request, also of one that was removed. */
  rule: text.optional().describe('Id of a rule that did something with the request, also of one that was removed.'),
  /** Whether neither the service nor a rule has this path. */
  isUnknownRoute: trueOrFalse.optional().describe('Whether neither the service nor a rule has this path.'),
  /** Selects only requests with a larger `number`. */
  after: expected('the number of a request', z.int().min(0))
    .optional()
    .describe('Selects only requests with a larger number.'),
});

/** Selects requests of the journal; by default all. All fields that are set must match. */
export interface RequestFilter extends RequestPattern, ValueOf<typeof requestFilter> {}

/** Whether an entry is meant; of a filter that `checkedFilter` has returned. */
export function createMatcher(filter: RequestFilter): (entry: JournalEntry) => boolean {
  const { after = 0 } = filter;
  return (entry) => entry.number > after && filterDifferences(filter, entry).next().done === true;
}

/** The fields in which an entry differs from the filter, apart from `after`. */
export function* filterDifferences(filter: RequestFilter, entry: JournalEntry): Generator<Difference, undefined> {
  yield* differences(filter, entry);
  for (const field of ['status', 'code', 'isUnknownRoute'] as const) {
    if (filter[field] === undefined || filter[field] === entry[field]) continue;
    yield { field, actual: String(entry[field] ?? 'absent'), expected: String(filter[field]) };
  }
  if (filter.rule !== undefined && !entry.rules.includes(filter.rule)) {
    yield { field: 'rule', actual: entry.rules.join(', ') || 'none', expected: filter.rule };
  }
}

interface Subscription {
  readonly listener: (entry: JournalEntry) => void;
  /** Whether it also receives the entries of spaces. */
  readonly spaces?: boolean | undefined;
  /** Called with an earlier entry, also one that was dropped or cleared, and the entry that replaces it. */
  readonly onReplaced?: ((earlier: JournalEntry, entry: JournalEntry) => void) | undefined;
  /** Called when the mock or the space is closed. */
  readonly onClose?: (() => void) | undefined;
}

/** The newest requests. Older ones are dropped, so that memory use is bounded. */
export class Journal {
  readonly #size: number;
  /** A ring: entry number n is at (n - 1) % size. */
  #ring: JournalEntry[] = [];
  #last = 0;
  #changes = 0;
  static #ids = 0;
  #id = Journal.#nextId();
  readonly #subscriptions = new Set<Subscription>();
  readonly #lifetime: MockLifetime;

  constructor(size: number, lifetime: MockLifetime) {
    this.#size = size;
    this.#lifetime = lifetime;
  }

  /** Oldest first. */
  get entries(): readonly JournalEntry[] {
    if (this.#size === 0 || this.#last <= this.#size) return this.#ring.slice();
    const oldest = this.#last % this.#size;
    return [...this.#ring.slice(oldest), ...this.#ring.slice(0, oldest)];
  }

  /** Number of older entries that were dropped. */
  get dropped(): number {
    return Math.max(0, this.#last - this.#size);
  }

  /** Number of the last request; 0 for none. */
  get last(): number {
    return this.#last;
  }

  static #nextId(): number {
    Journal.#ids += 1;
    return Journal.#ids;
  }

  /** Changes when the journal is emptied, and differs in another journal, such as that of a space that is opened again. */
  get id(): number {
    return this.#id;
  }

  /** How often an entry was added or replaced. */
  get changes(): number {
    return this.#changes;
  }

  /** Stores an entry, whose number is one more than the last. */
  add(entry: JournalEntry): void {
    this.#changes += 1;
    if (this.#size > 0) this.#ring[this.#last % this.#size] = entry;
    this.#last += 1;
    for (const { listener } of this.#subscriptions) notify(listener, entry);
  }

  /** Stores an entry in place of an earlier one of the same request, if that is still in the journal. Returns the entry. */
  replace(earlier: JournalEntry, entry: JournalEntry): JournalEntry {
    this.#changes += 1;
    const place = (earlier.number - 1) % this.#size;
    if (this.#ring[place] === earlier) this.#ring[place] = entry;
    for (const { onReplaced } of this.#subscriptions) onReplaced?.(earlier, entry);
    return entry;
  }

  /** Calls the listeners that also receive the entries of spaces, with one of a space. */
  notifyOfSpace(entry: JournalEntry): void {
    for (const { listener, spaces } of this.#subscriptions) if (spaces) notify(listener, entry);
  }

  /** Calls `listener` for each new entry. Returns a function that cancels it. */
  subscribe(listener: Subscription['listener'], options: Omit<Subscription, 'listener'> = {}): () => void {
    const subscription = { ...options, listener };
    this.#subscriptions.add(subscription);
    if (this.#lifetime.isClosed) options.onClose?.();
    return () => void this.#subscriptions.delete(subscription);
  }

  /** Ends the waits of its subscribers. */
  endWaits(): void {
    for (const { onClose } of this.#subscriptions) onClose?.();
  }

  clear(): void {
    this.#id = Journal.#nextId();
    this.#ring = [];
    this.#last = 0;
  }
}

/** Reports an error of the listener as a warning: it must not change the response to the request. */
function notify(listener: (entry: JournalEntry) => unknown, entry: JournalEntry): void {
  try {
    const returned = listener(entry);
    Promise.resolve(returned).catch(warnOfListener);
  } catch (error) {
    warnOfListener(error);
  }
}

function warnOfListener(error: unknown): void {
  const detail = isError(error) ? redactKeys(error.stack ?? '') : '';
  process.emitWarning(redactKeys(`A listener of journal.subscribe() threw ${thrownText(error)}`), {
    type: 'FxratesMockWarning',
    code: 'FXRATES_LISTENER',
    detail,
  });
}

export const audit = plainObject({
  /** Number of requests in the journal. */
  requests: z.int(),
  /** Number of older requests that the journal has dropped. The audit does not cover them. */
  dropped: z.int().describe('Older requests that were dropped; the audit does not cover them.'),
  /**
   * Requests that arrived before the last Retry-After had passed; `earlyByMs` is by how much. Over sockets, the mock does
   * not know when a request was sent: requests of a burst, sent before the refusal arrived, can be included.
   */
  earlyRetries: z.array(journalEntry).describe('Sent before the last Retry-After had elapsed.'),
  /** Requests with an API key in the URL, where logs show it. */
  keysInUrls: z.array(journalEntry).describe('Sent with an API key in the URL.'),
  /** Requests for unknown paths; `why` names the nearest path that exists. */
  unknownRoutes: z.array(journalEntry).describe('`why` names the nearest path that exists.'),
});

/** Requests in the journal that a well-behaved client does not send. */
export interface Audit extends ValueOf<typeof audit> {}

export function auditOf({ entries, dropped }: Journal): Audit {
  return {
    requests: entries.length,
    dropped,
    earlyRetries: entries.filter(({ earlyByMs }) => earlyByMs !== undefined),
    keysInUrls: entries.filter(({ hasKeyInUrl }) => hasKeyInUrl),
    unknownRoutes: entries.filter(({ isUnknownRoute }) => isUnknownRoute),
  };
}
