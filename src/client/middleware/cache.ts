import { ResponseCache, type ResponseCacheParts } from '../cache/response-cache.ts';
import type { CacheSettings } from '../config/quota-settings.ts';
import { QuotaExhaustedError, RateLimitError } from '../errors/errors.ts';
import type { ClientEvents } from '../events.ts';
import { parseJson } from '../parse-response.ts';
import { granularityMs } from '../quota/granularity.ts';
import type { RefreshQuota } from '../quota/refresh-quota.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';
import { WebHeaders } from '../transport/fetch-transport.ts';

/** An entry from further in the future than this is ignored: its real age is not known. */
const CLOCK_SKEW_MS = 60_000;

type CacheParts = CacheSettings & ResponseCacheParts & SnapshotAgeParts;

/** Answers from a store while an answer is young enough. Only what costs quota is kept. */
export function cache({ maxAgeMs, staleIfLimitedMs, ...parts }: CacheParts) {
  const responses = new ResponseCache(parts);
  // Asked per call, since the plan's snapshot interval can change.
  const usualAgeMs = maxAgeMs === 'snapshot' ? snapshotAge(parts) : async () => maxAgeMs;

  return (next: Handler): Handler =>
    async (request) => {
      if (!request.endpoint.consumesQuota) return next(request);
      const usualMs = await usualAgeMs(request);
      return cachedOrSent(request, { next, responses, now: parts.now, usualMs, staleIfLimitedMs });
    };
}

interface Lookup {
  readonly next: Handler;
  readonly responses: ResponseCache;
  readonly now: () => number;
  readonly usualMs: number;
  readonly staleIfLimitedMs: number;
}

async function cachedOrSent(
  request: KeyedRequest,
  { next, responses, now, usualMs, staleIfLimitedMs }: Lookup,
): Promise<ApiResponse> {
  const { maxAgeMs = usualMs } = request.settings;
  const cached = await findCached(request, { responses, now });
  if (cached !== undefined && cached.ageMs() < maxAgeMs) return given(cached, 'cache');
  try {
    const response = await next(request);
    responses.write(request, response, Math.max(usualMs, maxAgeMs, staleIfLimitedMs));
    return response;
  } catch (error) {
    // Its age by now: the call may have waited for long before it failed.
    if (cached === undefined || cached.ageMs() >= staleIfLimitedMs || !isLimit(error)) throw error;
    return given(cached, 'stale');
  }
}

interface CachedResponse {
  readonly response: ApiResponse;
  readonly ageMs: () => number;
}

function given({ response, ageMs }: CachedResponse, source: 'cache' | 'stale'): ApiResponse {
  return { ...response, cached: { source, ageMs: ageMs() } };
}

function isLimit(error: unknown): boolean {
  return error instanceof RateLimitError || error instanceof QuotaExhaustedError;
}

/** `undefined` when nothing is kept, or what is kept is not what the endpoint gives. */
async function findCached(
  request: KeyedRequest,
  { responses, now }: { readonly responses: ResponseCache; readonly now: () => number },
): Promise<CachedResponse | undefined> {
  const entry = await responses.read(request);
  if (entry === undefined || entry.storedAtMs > now() + CLOCK_SKEW_MS) return undefined;
  const { status, rawBody, headers, storedAtMs } = entry;
  const parsed = request.endpoint.parse(parseJson(rawBody));
  if (parsed.issues !== undefined) return undefined;
  const response = { status, rawBody, headers: new WebHeaders(headers), data: parsed.data };
  return { response, ageMs: () => Math.max(0, now() - storedAtMs) };
}

/** The interval belongs to the plan, and plans seldom change. */
const PLAN_MS = 3_600_000;

interface SnapshotAgeParts {
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly refreshQuota: RefreshQuota;
}

/**
 * How long an answer is worth keeping: the plan's interval between snapshots, from the last quota record or from a
 * free question. 0, which keeps nothing, when the service cannot be asked or its text cannot be read.
 */
function snapshotAge({ states, events, refreshQuota }: SnapshotAgeParts) {
  return async (request: KeyedRequest): Promise<number> => {
    await refreshQuota(request, PLAN_MS);
    const quota = states.of(request.key).ledger.estimate()?.quota;
    if (quota === undefined) return 0;
    const ageMs = granularityMs(quota.snapshot_granularity);
    if (ageMs !== undefined) return ageMs;
    events.warnOnce(
      `cache: cannot parse snapshot_granularity '${quota.snapshot_granularity}', so nothing is cached; set cache.maxAgeMs to a number of milliseconds`,
    );
    return 0;
  };
}
