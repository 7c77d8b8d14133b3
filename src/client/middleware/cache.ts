import type { CacheEntry } from '../cache/cache-entry.ts';
import type { Shelf } from '../cache/shelf.ts';
import { Cancellation, type CancelSignal } from '../cancellation.ts';
import { QuotaExhaustedError } from '../errors/quota-exhausted-error.ts';
import { RateLimitError } from '../errors/rate-limit-error.ts';
import { parseJson } from '../parse-json.ts';
import { withPatience } from '../patience.ts';
import { AttemptLog, type Endpoint } from '../request.ts';
import type { Timers } from '../timers.ts';
import { WebHeaders } from '../transport/web-headers.ts';
import type { Answer, Caller } from './coalesce.ts';

interface CacheParts {
  readonly shelf: Shelf;
  /** Longest age of an answer in milliseconds; asked per call, since the plan's snapshot interval can change. */
  readonly maxAgeMs: (signal: CancelSignal) => Promise<number>;
  /** A limited or exhausted key is given answers up to this age; 0 for none. */
  readonly staleIfLimitedMs: number;
  readonly timers: Timers;
  readonly now: () => number;
}

type Send = (caller: Caller) => Promise<Answer>;

/** Answers from a store while an answer is young enough. Only what costs quota is kept. */
export function cache(parts: CacheParts) {
  return (next: Send): Send =>
    (caller) =>
      caller.endpoint.consumesQuota ? askOnceInAWhile(caller, { next, ...parts }) : next(caller);
}

async function askOnceInAWhile(
  caller: Caller,
  { next, ...parts }: CacheParts & { readonly next: Send },
): Promise<Answer> {
  const { shelf, staleIfLimitedMs, timers, now } = parts;
  const cancellation = new Cancellation();
  const leave = (error: unknown) => cancellation.cancel(error);
  const lookingUp = lookUp(caller, cancellation, parts);
  const { name, longestMs, kept } = await withPatience(lookingUp, caller, { timers, nowMs: now(), leave });
  if (kept !== undefined && kept.ageMs < longestMs) return kept;
  try {
    const answer = await next(caller);
    shelf.write(name, answer.response, Math.max(longestMs, staleIfLimitedMs));
    return answer;
  } catch (error) {
    const isUseful = kept !== undefined && kept.ageMs < staleIfLimitedMs;
    if (!isUseful || !isLimit(error)) throw error;
    return { ...kept, source: 'stale' };
  }
}

interface LookUp {
  readonly name: string;
  readonly longestMs: number;
  readonly kept: Answer | undefined;
}

async function lookUp(
  { endpoint, maxAgeMs: ownMaxAgeMs }: Caller,
  signal: CancelSignal,
  { shelf, maxAgeMs, now }: CacheParts,
): Promise<LookUp> {
  const longestMs = ownMaxAgeMs ?? (await maxAgeMs(signal));
  const name = await shelf.nameOf(endpoint, signal);
  const entry = await shelf.read(name);
  return { name, longestMs, kept: entry && keptAnswer(entry, endpoint, now()) };
}

function isLimit(error: unknown): boolean {
  return error instanceof RateLimitError || error instanceof QuotaExhaustedError;
}

/** The answer that an entry holds; `undefined` when its body is not what the endpoint gives. */
function keptAnswer(entry: CacheEntry, endpoint: Endpoint, now: number): Answer | undefined {
  const { status, rawBody, headers } = entry;
  const parsed = endpoint.parse(parseJson(rawBody));
  if (parsed.issues !== undefined) return undefined;
  const response = {
    status,
    rawBody,
    data: parsed.data,
    headers: new WebHeaders(new Headers(headers.map(([n, v]) => [n, v]))),
  };
  return { response, log: new AttemptLog(), source: 'cache', ageMs: Math.max(0, now - entry.storedAtMs) };
}
