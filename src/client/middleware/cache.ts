import { Shelf, type ShelfParts } from '../cache/shelf.ts';
import type { CacheSettings } from '../config/quota-settings.ts';
import { QuotaExhaustedError, RateLimitError } from '../errors/errors.ts';
import type { ClientEvents } from '../events.ts';
import { parseJson } from '../parse-response.ts';
import { granularityMs } from '../quota/granularity.ts';
import type { RefreshQuota } from '../quota/refresh-quota.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import type { KeyStates } from '../state/key-states.ts';
import { WebHeaders } from '../transport/fetch-transport.ts';

/** An entry from further in the future than this is not taken: nobody knows how old it really is. */
const CLOCK_SKEW_MS = 60_000;

type CacheOptions = CacheSettings & ShelfParts & SnapshotAgeParts;

/** Answers from a store while an answer is young enough. Only what costs quota is kept. */
export function cache({ maxAgeMs, staleIfLimitedMs, ...parts }: CacheOptions) {
  const shelf = new Shelf(parts);
  // Asked per call, since the plan's snapshot interval can change.
  const usualAgeMs = maxAgeMs === 'snapshot' ? snapshotAge(parts) : async () => maxAgeMs;

  return (next: Handler): Handler =>
    async (request) => {
      if (!request.endpoint.consumesQuota) return next(request);
      const usualMs = await usualAgeMs(request);
      return answer(request, { next, shelf, now: parts.now, usualMs, staleIfLimitedMs });
    };
}

interface Cached {
  readonly next: Handler;
  readonly shelf: Shelf;
  readonly now: () => number;
  readonly usualMs: number;
  readonly staleIfLimitedMs: number;
}

async function answer(
  request: KeyedRequest,
  { next, shelf, now, usualMs, staleIfLimitedMs }: Cached,
): Promise<ApiResponse> {
  const { maxAgeMs = usualMs } = request.settings;
  const kept = await findKept(request, { shelf, now });
  if (kept !== undefined && kept.ageMs() < maxAgeMs) return given(kept, 'cache');
  try {
    const response = await next(request);
    shelf.write(request, response, Math.max(usualMs, maxAgeMs, staleIfLimitedMs));
    return response;
  } catch (error) {
    // Its age by now: the call may have waited for long before it failed.
    if (kept === undefined || kept.ageMs() >= staleIfLimitedMs || !isLimit(error)) throw error;
    return given(kept, 'stale');
  }
}

interface KeptAnswer {
  readonly response: ApiResponse;
  readonly ageMs: () => number;
}

function given({ response, ageMs }: KeptAnswer, source: 'cache' | 'stale'): ApiResponse {
  return { ...response, kept: { source, ageMs: ageMs() } };
}

function isLimit(error: unknown): boolean {
  return error instanceof RateLimitError || error instanceof QuotaExhaustedError;
}

/** `undefined` when nothing is kept, or what is kept is not what the endpoint gives. */
async function findKept(
  request: KeyedRequest,
  { shelf, now }: { readonly shelf: Shelf; readonly now: () => number },
): Promise<KeptAnswer | undefined> {
  const entry = await shelf.read(request);
  if (entry === undefined || entry.storedAtMs > now() + CLOCK_SKEW_MS) return undefined;
  const { status, rawBody, headers, storedAtMs } = entry;
  const parsed = request.endpoint.parse(parseJson(rawBody));
  if (parsed.issues !== undefined) return undefined;
  const response = { status, rawBody, headers: new WebHeaders(headers), data: parsed.data };
  return { response, ageMs: () => Math.max(0, now() - storedAtMs) };
}

/** The interval belongs to the plan, and plans seldom change. */
const PLAN_MS = 3_600_000;

export interface SnapshotAgeParts {
  readonly states: KeyStates;
  readonly events: ClientEvents;
  readonly refreshQuota: RefreshQuota;
}

/**
 * How long an answer is worth keeping: the plan's interval between snapshots, from the last quota record or from a
 * free question. 0, which keeps nothing, when the service cannot be asked or its text cannot be read.
 */
export function snapshotAge({ states, events, refreshQuota }: SnapshotAgeParts) {
  return async (request: KeyedRequest): Promise<number> => {
    await refreshQuota(request, PLAN_MS);
    const quota = states.of(request.key).ledger.estimate()?.quota;
    if (quota === undefined) return 0;
    const ageMs = granularityMs(quota.snapshot_granularity);
    if (ageMs !== undefined) return ageMs;
    events.warnOnce(
      `cache: cannot read snapshot_granularity '${quota.snapshot_granularity}', so nothing is kept; give cache.maxAgeMs a number`,
    );
    return 0;
  };
}
