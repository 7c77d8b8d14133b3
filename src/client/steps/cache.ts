import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { parseJson } from '../../json.ts';
import type { ApiResponse, Handler, KeyedCall } from '../call/call.ts';
import { parseBody, sortedTarget } from '../call/endpoint.ts';
import { QuotaExhaustedError, RateLimitError } from '../errors/errors.ts';
import { describeValue, thrownMessage } from '../errors/program-values.ts';
import { StoreGuard } from '../limits/shared/store-guard.ts';
import { type CacheSettings, MemoryStore } from '../options/option-table.ts';
import { granularityMs } from '../state/quota-record.ts';
import type { HeaderList } from '../transport/transport.ts';
import { refreshQuota } from './quota.ts';
import type { StepContext } from './send.ts';

/** An entry that is further in the future is ignored, because its age is unknown. */
const CLOCK_SKEW_MS = 60_000;

/** For this time, the snapshot interval of a plan is used without asking again: plans seldom change. */
const PLAN_MS = 3_600_000;
/** If the store takes longer, the request is sent, because the service takes about as long. */
const STORE_TIMEOUT_MS = 500;
/** Characters of a SHA-256 that distinguish the keys of one store. */
const HASH_LENGTH = 16;

/** Returns a stored response while it is young enough. Stores only responses that count toward the quota. */
export function cache(context: StepContext, settings: CacheSettings, next: Handler): Handler {
  const responses = new ResponseCache(context, settings, next);
  return (call) => (call.endpoint.consumesQuota ? responses.send(call) : next(call));
}

type CachedResponse = CacheEntry & ApiResponse;

/**
 * Responses in a store. A store that fails or hangs neither rejects nor delays a call; while it is away, the responses are in
 * memory, because each call would otherwise be a request of the quota.
 */
class ResponseCache {
  readonly #context: StepContext;
  readonly #settings: CacheSettings;
  readonly #next: Handler;
  readonly #guard: StoreGuard;
  /** What this client has stored while the store was away. */
  #memory: MemoryStore | undefined;

  constructor(context: StepContext, settings: CacheSettings, next: Handler) {
    this.#context = context;
    this.#settings = settings;
    this.#next = next;
    const onOutage = (error: unknown) => this.#reportOutage(thrownMessage(error));
    this.#guard = new StoreGuard({ time: context.settings.time, timeoutMs: STORE_TIMEOUT_MS, onOutage });
  }

  async send(call: KeyedCall): Promise<ApiResponse> {
    const { maxAgeMs: option, staleIfLimitedMs } = this.#settings;
    const cached = await this.#read(call);
    const snapshotMs = option === 'snapshot' ? await this.#snapshotMs(call, cached) : undefined;
    const usualMs = snapshotMs ?? Number(option);
    const { maxAgeMs = usualMs } = call.settings;
    if (this.#isYounger(cached, maxAgeMs)) return this.#from('cache', cached);
    try {
      const response = await this.#next(call);
      const { status, headers, rawBody } = response;
      const entry = { storedAtMs: this.#now(), snapshotMs, status, headers, rawBody };
      this.#write(call, entry, Math.max(usualMs, maxAgeMs, staleIfLimitedMs));
      return response;
    } catch (error) {
      const isLimit = error instanceof RateLimitError || error instanceof QuotaExhaustedError;
      const mayBeStale = isLimit && call.settings.maxAgeMs !== 0; // 0 asks for the current state
      if (mayBeStale && this.#isYounger(cached, staleIfLimitedMs)) return this.#from('stale', cached);
      throw error;
    }
  }

  /** Checked now, because the call may have waited since the entry was read. */
  #isYounger(cached: CachedResponse | undefined, maxAgeMs: number): cached is CachedResponse {
    return cached !== undefined && this.#ageMs(cached) < maxAgeMs;
  }

  #ageMs({ storedAtMs }: CachedResponse): number {
    return Math.max(0, this.#now() - storedAtMs);
  }

  #from(source: 'cache' | 'stale', cached: CachedResponse): ApiResponse {
    return { ...cached, cached: { source, ageMs: this.#ageMs(cached) } };
  }

  #now(): number {
    return this.#context.settings.clock.now();
  }

  /**
   * Maximum age of a response: the snapshot interval of the plan, from the last quota record, the stored response or
   * `quota()`. If `quota()` fails and no response is stored, or the interval cannot be parsed: 0, so nothing is stored.
   * Read for each call, because the plan can change.
   */
  async #snapshotMs(call: KeyedCall, cached: CachedResponse | undefined): Promise<number> {
    const { snapshotMs = 0 } = cached ?? {};
    const { quota: ofKey } = this.#context.states.of(call.key);
    // Another process stored it. Without this, each process would call quota() before its first call.
    if (!ofKey.isUpToDate(PLAN_MS) && this.#isYounger(cached, Math.min(snapshotMs, PLAN_MS))) return snapshotMs;
    await refreshQuota(this.#context, call, { maxAgeMs: PLAN_MS, send: this.#next });
    const quota = ofKey.estimate()?.quota;
    if (quota === undefined) return snapshotMs;
    const ageMs = granularityMs(quota.snapshot_granularity);
    if (ageMs !== undefined) return ageMs;
    const shown = call.key.redact(describeValue(quota.snapshot_granularity));
    this.#context.events.warnOnce(
      `cache: cannot parse snapshot_granularity ${shown}, so nothing is cached; set cache.maxAgeMs to a number of milliseconds`,
    );
    return 0;
  }

  /** `undefined` if the entry is missing, invalid or takes too long. Rejects if the call is cancelled. */
  async #read(call: KeyedCall): Promise<CachedResponse | undefined> {
    const name = this.#nameOf(call);
    const found = await this.#guard.useFor(call, async () => this.#settings.store.get(name));
    const stored = found ?? (this.#guard.awayUntil === undefined ? undefined : this.#memory?.get(name));
    const entry = decodeEntry(stored);
    if (entry === undefined || entry.storedAtMs > this.#now() + CLOCK_SKEW_MS) return undefined;
    const { issues, data } = parseBody(call.endpoint, parseJson(entry.rawBody));
    return issues === undefined ? { ...entry, data } : undefined;
  }

  /** Does not wait for the store. A response that contains the key is not stored, because others may read the store. */
  #write(call: KeyedCall, entry: CacheEntry, ttlMs: number): void {
    if (ttlMs === 0) return; // for a store, 0 means no expiry
    if ([entry.rawBody, ...entry.headers.flat()].some((part) => call.key.redact(part) !== part)) return;
    const [name, text] = [this.#nameOf(call), encodeEntry(entry)];
    const keep = () => {
      this.#memory ??= new MemoryStore();
      this.#memory.set(name, text);
    };
    if (this.#guard.awayUntil !== undefined) return keep();
    const set = async () => this.#settings.store.set(name, text, Math.ceil(ttlMs));
    this.#guard.use(set).catch(keep);
  }

  /** Responses are stored per key, because plans may differ in their data. */
  #nameOf({ endpoint: { target }, key, settings: { headers } }: KeyedCall): string {
    const name = `fxrates:${this.#context.settings.baseUrl}:${key.hash.slice(0, HASH_LENGTH)}:${key.redact(sortedTarget(target))}`;
    const sent = Object.entries(headers).sort();
    if (sent.length === 0) return name;
    // Hashed, because a header can contain a secret. The response may depend on any header.
    return `${name}:${createHash('sha256').update(JSON.stringify(sent)).digest('hex').slice(0, HASH_LENGTH)}`;
  }

  #reportOutage(why: string): void {
    this.#context.events.warnOnce(
      `cache: the store failed (${why}); until it responds again, responses are cached in memory`,
    );
  }
}

/** A stored response with its exact text, so that no digit changes. */
export interface CacheEntry {
  /** Epoch milliseconds at which the response arrived. */
  readonly storedAtMs: number;
  /** Milliseconds between the snapshots of the plan; only with `cache: 'snapshot'`. */
  readonly snapshotMs?: number | undefined;
  readonly status: number;
  readonly headers: HeaderList;
  readonly rawBody: string;
}

const VERSION = 1;

const storedEntry = z.object({
  version: z.literal(VERSION),
  storedAtMs: z.number(),
  snapshotMs: z.optional(z.number()),
  status: z.int(),
  headers: z.array(z.tuple([z.string(), z.string()])),
});

/** A line of JSON with the metadata, then the body as received: a body inside JSON would be parsed twice. */
export function encodeEntry({ rawBody, ...entry }: CacheEntry): string {
  return `${JSON.stringify({ version: VERSION, ...entry })}\n${rawBody}`;
}

/** `undefined` for a value that `encodeEntry` did not create: other programs may use the store too. */
export function decodeEntry(stored: unknown): CacheEntry | undefined {
  try {
    const text = String(stored);
    const lineEnd = text.indexOf('\n');
    const { version, ...entry } = storedEntry.parse(JSON.parse(text.slice(0, Math.max(0, lineEnd))));
    return { ...entry, headers: [...new Headers(entry.headers)], rawBody: text.slice(lineEnd + 1) };
  } catch {
    return undefined; // another program wrote it
  }
}
