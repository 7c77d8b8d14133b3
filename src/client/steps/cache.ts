import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { parseJson } from '../../json.ts';
import { isolatesRequests } from '../../process-state.ts';
import { type ApiResponse, Call, type Handler, type StaleReason, type StoredResponse } from '../call/call.ts';
import { parseBody, sortedTarget } from '../call/endpoint.ts';
import { isTemporary } from '../errors/errors.ts';
import { describeValue, thrownMessage } from '../errors/program-values.ts';
import { HEADER_VALUE, TOKEN } from '../options/checks.ts';
import { type CacheSettings, MemoryStore } from '../options/option-table.ts';
import type { ClientSettings } from '../options/resolve-options.ts';
import type { Lifetime } from '../state/lifetime.ts';
import { granularityMs } from '../state/quota-record.ts';
import { Cancellation } from '../time/abort.ts';
import type { SteadyTime } from '../time/clock.ts';
import { StoreGuard } from '../time/store-guard.ts';
import { refreshQuota } from './quota-lookup.ts';
import type { StepContext } from './send.ts';

/** An entry that is further in the future is ignored, because its age is unknown. */
const CLOCK_SKEW_MS = 60_000;

/** For this time, the snapshot interval of a plan is used without asking again: plans seldom change. */
const PLAN_MS = 3_600_000;
/** Long enough for a slot of the next minute. A program that has finished its work waits for the end of a renewal. */
const RENEWAL_MS = 60_000;
/** If the store takes longer, the request is sent, because the service takes about as long. */
const STORE_TIMEOUT_MS = 500;
const OTHER_VALUE =
  'cache: the store has a value that is not a stored response, so the call sends a request; get() must return the text of set()';
/** The beginning of each entry. One of another version of the package is no fault of the store. */
const ENTRY = /^\{"version":/;
/** Characters of a SHA-256 that distinguish the keys of one store. */
const HASH_LENGTH = 16;

/** Sends a call through the cache of its batch, then through that of the client, as far as they exist. */
export type CachedHandler = (call: Call, batch: CacheSettings | undefined) => Promise<ApiResponse>;

/** Returns a stored response while it is young enough. Stores only responses that count toward the quota. */
export function cache(context: StepContext, next: Handler): CachedHandler {
  const caches = new WeakMap<CacheSettings, ResponseCache>();
  const through = (settings: CacheSettings | undefined, after: Handler): Handler => {
    if (settings === undefined) return after;
    const responses = caches.get(settings) ?? new ResponseCache(context, settings, after);
    caches.set(settings, responses);
    return (call) => responses.send(call);
  };
  const ofClient = through(context.settings.cache, next);
  return (call, batch) => (call.endpoint.consumesQuota ? through(batch, ofClient) : next)(call);
}

/**
 * The names of the responses that are renewed, by store: the clients of `withOptions()` share one. Where requests are
 * isolated, by client, because a renewal whose request has ended never settles.
 */
const renewals = new WeakMap<CacheSettings['store'] | Lifetime, Set<string>>();

/** The stored response that replaces `error`; `undefined` if it is missing or too old, or the error is not temporary. */
export function storedInstead(
  { fallback }: Call,
  error: unknown,
  { cache: settings, clock }: ClientSettings,
): ApiResponse | undefined {
  if (fallback === undefined || settings === undefined || !isTemporary(error)) return undefined;
  const now = clock.now();
  const isLimit = error.kind === 'rate_limited' || error.kind === 'quota_exhausted';
  const isLate = error.kind === 'rate_limited' && error.reason === 'deadline';
  const { staleIfLimitedMs, staleIfErrorMs } = settings;
  const staleMs = Math.max(isLimit ? staleIfLimitedMs : 0, !isLimit || isLate ? staleIfErrorMs : 0);
  return isYounger(fallback, staleMs, now) ? fromStore(fallback, now, error.kind) : undefined;
}

function isYounger(stored: StoredResponse | undefined, maxAgeMs: number, now: number): stored is StoredResponse {
  return stored !== undefined && ageMs(stored, now) < maxAgeMs;
}

function ageMs({ storedAtMs }: StoredResponse, now: number): number {
  return Math.max(0, now - storedAtMs);
}

function fromStore(found: StoredResponse, now: number, staleReason?: StaleReason): ApiResponse {
  const source = staleReason === undefined ? 'cache' : 'stale';
  return { ...found, cached: { source, staleReason, ageMs: ageMs(found, now) } };
}

/**
 * Responses in a store. A store that fails or hangs neither rejects nor delays a call; while it is away, the responses are in
 * memory, because each call would otherwise be a request of the quota.
 */
class ResponseCache {
  readonly #context: StepContext;
  readonly #settings: CacheSettings;
  readonly #next: Handler;
  /** What this client could not write to the store. A store that can still be read may refuse writes. */
  #memory: MemoryStore | undefined;

  constructor(context: StepContext, settings: CacheSettings, next: Handler) {
    this.#context = context;
    this.#settings = settings;
    this.#next = next;
  }

  get #guard(): StoreGuard {
    return guardOf(this.#settings.store, this.#context);
  }

  async send(call: Call): Promise<ApiResponse> {
    const found = await this.#find(call);
    return this.#atOnce(call, found) ?? this.#respond(call, found);
  }

  /** The response of `staleWhileRevalidateMs`, which a call of the client renews. */
  #atOnce(call: Call, found: StoredResponse | undefined): ApiResponse | undefined {
    const { maxAgeMs: option, staleWhileRevalidateMs } = this.#settings;
    if (call.settings.maxAgeMs === 0 || !this.#isYounger(found, staleWhileRevalidateMs)) return undefined;
    const { quota } = this.#context.states.of(call.key);
    const isPlanKnown = option !== 'snapshot' || quota.isUpToDate(PLAN_MS) || this.#hasInterval(found);
    const plan = quota.estimate()?.quota;
    const snapshotMs = plan === undefined ? found.snapshotMs : granularityMs(plan.snapshot_granularity);
    const { maxAgeMs = option === 'snapshot' ? (snapshotMs ?? 0) : option } = call.settings;
    const isYoung = this.#isYounger(found, maxAgeMs);
    if (!isYoung || !isPlanKnown) this.#renew(call);
    return this.#from(found, isYoung ? undefined : 'revalidate');
  }

  /** Renews a response that a caller has received already: one call per response. */
  #renew({ endpoint, settings, key }: Call): void {
    const owner = isolatesRequests() ? this.#context.lifetime.root : this.#settings.store;
    const renewing = renewals.get(owner) ?? new Set();
    renewals.set(owner, renewing);
    const own = new Call({
      endpoint,
      key,
      settings: { ...settings, priority: 'low', onLimit: 'wait' },
      deadlineAt: this.#context.settings.time.now() + RENEWAL_MS,
      signal: new Cancellation(),
    });
    const name = this.#nameOf(own);
    if (renewing.has(name)) return;
    renewing.add(name);
    const renewed = this.#find(own).then((found) => this.#respond(own, found));
    const remove = this.#context.lifetime.add(own, renewed);
    const end = () => {
      remove();
      renewing.delete(name);
    };
    renewed.then(end, end); // the next call tries again
  }

  async #respond(call: Call, found: StoredResponse | undefined): Promise<ApiResponse> {
    const { maxAgeMs: option, staleIfLimitedMs, staleIfErrorMs, staleWhileRevalidateMs } = this.#settings;
    const snapshotMs = option === 'snapshot' ? await this.#snapshotMs(call, found) : undefined;
    const usualMs = snapshotMs ?? Number(option);
    const isOfClient = this.#settings === this.#context.settings.cache; // a batch limits the age itself
    const maxAgeMs = (isOfClient ? call.settings.maxAgeMs : undefined) ?? usualMs;
    if (this.#isYounger(found, maxAgeMs)) return this.#from(found);
    if (isOfClient && call.settings.maxAgeMs !== 0) call.fallback = found; // 0 asks for the current state
    const response = await this.#next(call);
    if (response.cached !== undefined) return response; // the client has stored it, with its age
    const { status, headers, rawBody } = response;
    const entry = { storedAtMs: this.#now(), snapshotMs, status, headers, rawBody };
    const staleMs = Math.max(staleIfLimitedMs, staleIfErrorMs, staleWhileRevalidateMs);
    this.#write(call, entry, Math.max(usualMs, maxAgeMs, staleMs));
    return response;
  }

  /** Checked now, because the call may have waited since the entry was read. */
  #isYounger(cached: StoredResponse | undefined, maxAgeMs: number): cached is StoredResponse {
    return isYounger(cached, maxAgeMs, this.#now());
  }

  #from(found: StoredResponse, staleReason?: StaleReason): ApiResponse {
    return fromStore(found, this.#now(), staleReason);
  }

  #now(): number {
    return this.#context.settings.clock.now();
  }

  /**
   * Maximum age of a response: the snapshot interval of the plan, from the last quota record, the stored response or
   * `quota()`. If `quota()` fails and no response is stored, or the interval cannot be parsed: 0, so each call sends a request.
   * Read for each call, because the plan can change.
   */
  async #snapshotMs(call: Call, cached: StoredResponse | undefined): Promise<number> {
    const { snapshotMs = 0 } = cached ?? {};
    const state = this.#context.states.of(call.key);
    const { quota: ofKey } = state;
    if (!ofKey.isUpToDate(PLAN_MS) && this.#hasInterval(cached)) return snapshotMs;
    await refreshQuota(this.#context, { call, state, send: this.#next }, PLAN_MS);
    const quota = ofKey.estimate()?.quota;
    if (quota === undefined) return snapshotMs;
    const ageMs = granularityMs(quota.snapshot_granularity);
    if (ageMs !== undefined) return ageMs;
    const shown = call.key.redact(describeValue(quota.snapshot_granularity));
    this.#context.events.warnOnce(
      `cache: cannot parse snapshot_granularity ${shown}, so each call sends a request; set cache.maxAgeMs to a number of milliseconds`,
    );
    return 0;
  }

  /** Whether the response is younger than its interval. Then a new process need not call `quota()` before its first call. */
  #hasInterval(stored: StoredResponse | undefined): boolean {
    return this.#isYounger(stored, Math.min(stored?.snapshotMs ?? 0, PLAN_MS));
  }

  /** Waits for the store for a part of the time until the deadline. Rejects if the call is cancelled. */
  async #find(call: Call): Promise<StoredResponse | undefined> {
    const name = this.#nameOf(call);
    const kept = this.#decode(call, this.#memory?.get(name));
    const stored = await this.#guard.useFor(call, async () => {
      const value: unknown = await this.#settings.store.get(name);
      // Some stores return null or '' for a missing entry.
      if (value && !ENTRY.test(String(value))) this.#context.events.warnOnce(OTHER_VALUE);
      return this.#decode(call, value);
    });
    return stored !== undefined && stored.storedAtMs >= (kept?.storedAtMs ?? 0) ? stored : kept;
  }

  /** `undefined` if the entry is missing or invalid. */
  #decode(call: Call, stored: unknown): StoredResponse | undefined {
    const entry = decodeEntry(stored);
    if (entry === undefined || entry.storedAtMs > this.#now() + CLOCK_SKEW_MS) return undefined;
    const { issues, data } = parseBody(call.endpoint, parseJson(entry.rawBody));
    return issues === undefined ? { ...entry, data } : undefined;
  }

  /** Only `close()` waits for the store. A response that contains the key is not stored, because others may read the store. */
  #write(call: Call, entry: CacheEntry, ttlMs: number): void {
    if (ttlMs === 0) return; // for a store, 0 means no expiry
    if ([entry.rawBody, ...entry.headers.flat()].some((part) => call.key.redact(part) !== part)) return;
    const [name, text] = [this.#nameOf(call), encodeEntry(entry)];
    const keep = () => {
      this.#memory ??= new MemoryStore();
      this.#memory.set(name, text);
    };
    if (this.#guard.awayUntil !== undefined) return keep();
    const set = async () => this.#settings.store.set(name, text, Math.ceil(ttlMs));
    const written = (result: unknown) => {
      if (result !== false) return this.#memory?.delete(name); // the others are in memory alone
      keep(); // Keyv catches the errors of its adapter
      this.#context.events.warnOnce(
        'cache: the store keeps no responses (set() returned false); they are cached in memory',
      );
    };
    const write = this.#guard.use(set).then(written, keep);
    void write.finally(this.#context.lifetime.add(call, write));
  }

  /** Responses are stored per key, because plans may differ in their data. */
  #nameOf({ endpoint: { target }, key, settings: { headers } }: Call): string {
    const name = `fxrates:${this.#context.settings.baseUrl}:${key.hash.slice(0, HASH_LENGTH)}:${key.redact(sortedTarget(target))}`;
    const sent = Object.entries(headers).sort();
    if (sent.length === 0) return name;
    // Hashed, because a header can contain a secret. The response may depend on any header.
    return `${name}:${createHash('sha256').update(JSON.stringify(sent)).digest('hex').slice(0, HASH_LENGTH)}`;
  }
}

interface SharedGuard {
  readonly time: SteadyTime;
  readonly guard: StoreGuard;
  /** Those of the client that used the store last; another one may be closed. */
  events: StepContext['events'];
}

/** One for all clients of a store, so that those of `withOptions()` know of an outage, and warn of it once. */
const guards = new WeakMap<CacheSettings['store'], SharedGuard>();

function guardOf(store: CacheSettings['store'], { settings: { time }, events }: StepContext): StoreGuard {
  const known = guards.get(store);
  if (known?.time === time) {
    known.events = events;
    return known.guard;
  }
  const onOutage = (error: unknown, occasion: number) => {
    const why = thrownMessage(error);
    shared.events.warnOnce(
      `cache: the store failed (${why}); until it responds again, responses are cached in memory`,
      {
        occasion,
      },
    );
  };
  const shared = { time, guard: new StoreGuard({ time, timeoutMs: STORE_TIMEOUT_MS, onOutage }), events };
  guards.set(store, shared);
  return shared.guard;
}

/** A stored response with its exact text, so that no digit changes. */
export type CacheEntry = Pick<StoredResponse, 'storedAtMs' | 'snapshotMs' | 'status' | 'headers' | 'rawBody'>;

const VERSION = 1;

const storedEntry = z.object({
  version: z.literal(VERSION),
  storedAtMs: z.number(),
  snapshotMs: z.optional(z.number()),
  status: z.int(),
  headers: z.array(z.tuple([z.string().check(z.regex(TOKEN)), z.string().check(z.regex(HEADER_VALUE))])),
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
    return { ...entry, rawBody: text.slice(lineEnd + 1) };
  } catch {
    return undefined; // another program wrote it
  }
}
