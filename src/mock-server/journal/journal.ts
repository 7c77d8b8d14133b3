import type { SwitchName } from '../behaviour/switches.ts';
import type { RequestPattern } from '../matching/request-pattern.ts';
import { type RecordedRequest, type RecordedValues, redactKeys } from '../redact-keys.ts';
import type { RateUse } from '../service/decide.ts';
import type { QuotaUse } from '../service/quota.ts';

/** A request, its response and the reason for it. Never contains an API key. */
export interface JournalEntry extends RecordedRequest {
  /** Number of the request, counted from 1. */
  readonly number: number;
  /** Name of the space; `undefined` for the mock itself. Each space numbers its requests separately. */
  readonly space: string | undefined;
  /** Time of arrival in milliseconds since the Unix epoch, by the mock's clock. */
  readonly at: number;
  /** Id of the operation at the path; `undefined` if the path has none. */
  readonly operation: string | undefined;
  /**
   * Whether the path is unknown, also to handlers of `mock.use()`. `why` then names the nearest known path, and stubs that
   * nearly match.
   */
  readonly isUnknownRoute: boolean;
  /** Id of the API key; `undefined` without a known key. */
  readonly keyId: string | undefined;
  /** How the key was sent: with the scheme word, as the bare header, or in the query. */
  readonly keyTransport: 'bearer' | 'header' | 'query' | undefined;
  /**
   * HTTP status that the client received; 0 if the connection ended without a response. A delayed response has its status from
   * the arrival of the request on; if the client disconnects before it, the status becomes 0.
   */
  readonly status: number;
  /** `error.code` of the response; `undefined` for a success. */
  readonly code: string | undefined;
  /** Reason for the response, in words. */
  readonly why: string;
  /** Usage of the per-minute limit; `undefined` if the request was refused before the limits were checked. */
  readonly rate: RateUse | undefined;
  /** Usage of the monthly quota; `undefined` as for `rate`. */
  readonly quota: QuotaUse | undefined;
  /**
   * Milliseconds that were left of the last Retry-After when the request arrived; `undefined` if it had passed. In process,
   * also `undefined` for requests that were sent before the client had received that Retry-After.
   */
  readonly earlyByMs: number | undefined;
  /** Switches that the response depends on. */
  readonly switches: readonly SwitchName[];
  /** Ids of the faults that struck the request, in order. */
  readonly faults: readonly string[];
  /** Id of the stub that the request received; `undefined` for none. */
  readonly stub: string | undefined;
  /**
   * Headers of the response by name in lower case; `set-cookie` has an array of values. API keys are masked. `undefined` if
   * the client received no response.
   */
  readonly responseHeaders: RecordedValues | undefined;
  /** The first 16,384 characters of the response body, as sent; `undefined` without a body. Binary data is read as UTF-8. */
  readonly responseBody: string | undefined;
}

/** The key of a request, in words. */
export function keyText({ keyId, keyTransport, headers, hasKeyInUrl }: JournalEntry): string {
  if (keyId !== undefined) return keyId;
  if (keyTransport !== undefined) return 'unknown key';
  // Such as an unknown path, which is refused first.
  return headers['authorization'] !== undefined || hasKeyInUrl ? 'key not read' : 'no key';
}

export function statusText(status: number): string {
  return status === 0 ? 'no response' : String(status);
}

/** One pair for each value of a parameter or header. */
export function valuePairs(recorded: RecordedValues): [string, string][] {
  return Object.entries(recorded).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
}

interface JournalOptions {
  /** Of a space: its name, and the journal of its mock. */
  readonly name?: string | undefined;
  readonly parent?: Journal | undefined;
  /** Whether the mock has a key with this id. Default: any id is known. */
  readonly knowsKey?: ((keyId: string) => boolean) | undefined;
  /** Returns the pattern of a stub or a fault; `undefined` if it does not exist any more. */
  readonly patternOf?: PatternOf | undefined;
}

/** Returns the requests that a stub or a fault is for. */
export type PatternOf = (kind: 'stub' | 'fault', id: string) => RequestPattern | undefined;

/** The newest requests. Older ones are dropped, so that memory use is bounded. */
export class Journal {
  readonly #size: number;
  readonly #parent: Journal | undefined;
  /** Name of the space; `undefined` for the mock itself. */
  readonly space: string | undefined;
  readonly knowsKey: JournalOptions['knowsKey'];
  readonly patternOf: PatternOf;
  /** A ring: entry number n is at (n - 1) % size. */
  #ring: JournalEntry[] = [];
  #last = 0;
  readonly #listeners = new Set<(entry: JournalEntry) => void>();
  readonly #spaceListeners = new Set<(entry: JournalEntry) => void>();
  readonly #closeListeners = new Set<() => void>();

  constructor(size: number, { name, parent, knowsKey, patternOf = () => undefined }: JournalOptions = {}) {
    this.#size = size;
    this.#parent = parent;
    this.space = name;
    this.knowsKey = knowsKey;
    this.patternOf = patternOf;
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

  /** Stores an entry, whose number is one more than the last. */
  add(entry: JournalEntry): void {
    if (this.#size > 0) this.#ring[this.#last % this.#size] = entry;
    this.#last += 1;
    for (const listener of this.#listeners) notify(listener, entry);
    this.#parent?.notifyOfSpace(entry);
  }

  /** Stores an entry in place of an earlier one of the same request, if that is still in the journal. Returns the entry. */
  replace(earlier: JournalEntry, entry: JournalEntry): JournalEntry {
    const place = (earlier.number - 1) % this.#size;
    if (this.#ring[place] === earlier) this.#ring[place] = entry;
    return entry;
  }

  /** Calls the listeners that also receive the entries of spaces. */
  notifyOfSpace(entry: JournalEntry): void {
    for (const listener of this.#spaceListeners) notify(listener, entry);
  }

  /** Number of open event streams. */
  get streams(): number {
    return this.#closeListeners.size;
  }

  /**
   * Calls `listener` for each new entry; with `spaces`, also for those of spaces. Calls `onClose` when the mock or the space
   * is closed. Returns a function that cancels it.
   */
  subscribe(
    listener: (entry: JournalEntry) => void,
    { spaces = false, onClose }: { readonly spaces?: boolean; readonly onClose?: () => void } = {},
  ): () => void {
    this.#listeners.add(listener);
    if (spaces) this.#spaceListeners.add(listener);
    if (onClose !== undefined) this.#closeListeners.add(onClose);
    return () => {
      this.#listeners.delete(listener);
      this.#spaceListeners.delete(listener);
      if (onClose !== undefined) this.#closeListeners.delete(onClose);
    };
  }

  /** Ends waits and event streams. The entries stay, because a closed mock can still be called in process. */
  close(): void {
    for (const end of this.#closeListeners) end();
  }

  clear(): void {
    this.#ring = [];
    this.#last = 0;
  }
}

/** Reports an error of the listener as a warning: it must not change the response to the request. */
function notify(listener: (entry: JournalEntry) => unknown, entry: JournalEntry): void {
  try {
    const returned = listener(entry);
    if (returned instanceof Promise) returned.catch(warnOfListener);
  } catch (error) {
    warnOfListener(error);
  }
}

function warnOfListener(error: unknown): void {
  const detail = error instanceof Error ? redactKeys(error.stack ?? '') : '';
  process.emitWarning(redactKeys(`A listener of journal.subscribe() threw ${error}`), {
    type: 'FxratesMockWarning',
    code: 'FXRATES_LISTENER',
    detail,
  });
}
