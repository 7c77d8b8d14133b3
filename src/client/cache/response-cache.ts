import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Cancellation, type CancelSignal } from '../cancellation.ts';
import type { ClientEvents } from '../events.ts';
import type { ApiKey } from '../keys/api-key.ts';
import type { ApiResponse, KeyedRequest } from '../request.ts';
import type { Timers } from '../timers.ts';
import type { CacheStore } from './cache-store.ts';

/** If the store takes longer, the call is sent: the service itself is not much slower. */
const STORE_TIMEOUT_MS = 500;
/** A store that did not answer is not used for so long, or each call would wait for its timeout. */
const STORE_PAUSE_MS = 10_000;
/** Enough of a SHA-256 to tell the keys of one store apart. */
const HASH_LENGTH = 16;

export interface ResponseCacheParts {
  readonly store: CacheStore;
  readonly baseUrl: string;
  readonly timers: Timers;
  readonly events: ClientEvents;
  readonly now: () => number;
}

/** The client's part of a store: its entries by name. A store that fails or hangs never fails or holds up a call. */
export class ResponseCache {
  readonly #parts: ResponseCacheParts;
  #restsFromMs = Number.NEGATIVE_INFINITY;
  #hasWarned = false;

  constructor(parts: ResponseCacheParts) {
    this.#parts = parts;
  }

  /** `undefined` for what is not there, cannot be read, or takes too long; rejects when the call is cancelled. */
  async read(request: KeyedRequest): Promise<CacheEntry | undefined> {
    const { store } = this.#parts;
    return decodeEntry(await this.#withTimeout(async () => store.get(this.#nameOf(request)), request.signal));
  }

  /** Does not wait for the store. */
  write(request: KeyedRequest, response: ApiResponse, ttlMs: number): void {
    if (ttlMs === 0) return; // stores take 0 for "for good"
    void this.#withTimeout(async () => this.#put(request, response, ttlMs), new Cancellation());
  }

  #put(request: KeyedRequest, { status, headers, rawBody }: ApiResponse, ttlMs: number): unknown {
    const { store, now } = this.#parts;
    const shown = headers.toHeaders();
    if (repeatsKey(request.key, [rawBody, ...[...shown].flat()])) return undefined;
    const entry = encodeEntry({ storedAtMs: now(), status, headers: shown, rawBody });
    return store.set(this.#nameOf(request), entry, Math.ceil(ttlMs));
  }

  /** Answers belong to the key that got them: plans may differ in what they are shown. */
  #nameOf({ endpoint: { target }, key, settings: { headers } }: KeyedRequest): string {
    const name = `fxrates:${this.#parts.baseUrl}:${key.hash.slice(0, HASH_LENGTH)}:${key.redact(target)}`;
    const sent = Object.entries(headers).sort();
    if (sent.length === 0) return name;
    // A hash, since a header can hold a secret; the answer may depend on any of them.
    return `${name}:${createHash('sha256').update(JSON.stringify(sent)).digest('hex').slice(0, HASH_LENGTH)}`;
  }

  async #withTimeout(work: () => Promise<unknown>, signal: CancelSignal): Promise<unknown> {
    if (this.#isResting()) return undefined;
    const errorOf = () => {
      this.#restsFromMs = this.#parts.now();
      return new Error(`no response within ${STORE_TIMEOUT_MS} ms`);
    };
    try {
      return await this.#parts.timers.withTimeout(work, { ms: STORE_TIMEOUT_MS, signal, errorOf });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#warn(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  #isResting(): boolean {
    const restedMs = this.#parts.now() - this.#restsFromMs;
    return restedMs >= 0 && restedMs < STORE_PAUSE_MS;
  }

  /** Once, since the text of a store's errors may differ each time. */
  #warn(why: string): void {
    if (!this.#hasWarned)
      this.#parts.events.warnOnce(`cache: the store failed (${why}); requests are sent to the service`);
    this.#hasWarned = true;
  }
}

/** An answer that repeats the key stays out of a store that others may read. */
function repeatsKey(key: ApiKey, texts: readonly string[]): boolean {
  return texts.some((text) => key.redact(text) !== text);
}

/** An answer as it is stored: the exact text, so that no digit changes on the way through a store. */
export interface CacheEntry {
  /** Epoch milliseconds at which the answer arrived. */
  readonly storedAtMs: number;
  readonly status: number;
  readonly headers: Headers;
  readonly rawBody: string;
}

const VERSION = 1;

const storedEntry = z.object({
  version: z.literal(VERSION),
  storedAtMs: z.number(),
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
});

/** A line of JSON about the answer, and below it the answer as it came: JSON in JSON would have to be read twice. */
export function encodeEntry({ headers, rawBody, ...entry }: CacheEntry): string {
  return `${JSON.stringify({ version: VERSION, ...entry, headers: [...headers] })}\n${rawBody}`;
}

/** `undefined` for anything else than what `encodeEntry` made: a store is shared, and may hold what others left. */
export function decodeEntry(stored: unknown): CacheEntry | undefined {
  try {
    const text = String(stored);
    const lineEnd = text.indexOf('\n');
    const { storedAtMs, status, headers } = storedEntry.parse(JSON.parse(text.slice(0, Math.max(0, lineEnd))));
    return { storedAtMs, status, headers: new Headers(headers), rawBody: text.slice(lineEnd + 1) };
  } catch {
    return undefined; // not ours
  }
}
