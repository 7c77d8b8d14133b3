import { Shelf, type ShelfParts } from '../cache/shelf.ts';
import { type SnapshotAgeParts, snapshotAge } from '../cache/snapshot-age.ts';
import type { CacheSettings } from '../config/quota-settings.ts';
import { QuotaExhaustedError, RateLimitError } from '../errors/errors.ts';
import { parseJson } from '../parse-json.ts';
import type { ApiResponse, Handler, KeyedRequest } from '../request.ts';
import { WebHeaders } from '../transport/web-headers.ts';

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
