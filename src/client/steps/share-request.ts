import { parseJson } from '../../json-object.ts';
import type { ResponseMeta } from '../api-call.ts';
import { requestIdOf } from '../attempt.ts';
import { type ApiResponse, Call, type CallSettings, type Endpoint, type Handler } from '../call.ts';
import { Cancellation } from '../cancellation.ts';
import { sortedTarget } from '../endpoints.ts';
import { shareError, withCallId } from '../errors/caller-error.ts';
import { AbortError } from '../errors/errors.ts';
import type { Lifetime } from '../lifetime.ts';
import type { CallDeadline, Timers } from '../timers.ts';

/** One caller of a call, with its signal and deadline. */
export interface Caller extends CallDeadline {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
}

/** The response for one caller, with the attempts, its source and its age. */
export interface CallResponse {
  readonly response: ApiResponse;
  readonly call: Call;
  readonly source: ResponseMeta['source'];
  readonly ageMs: number;
}

export function metaOf({ response, call, source, ageMs }: CallResponse, durationMs: number): ResponseMeta {
  const { status, rawBody } = response;
  const headers = response.headers.toHeaders();
  const ids = { requestId: requestIdOf(headers), callId: call.id };
  return { status, headers, rawBody, source, ageMs, attempts: call.attempts, ...ids, durationMs };
}

interface SharedCall {
  readonly call: Call;
  readonly cancellation: Cancellation;
  readonly response: Promise<ApiResponse>;
  callers: number;
  deadlineAt: number;
}

interface ShareParts {
  readonly timers: Timers;
  readonly lifetime: Lifetime;
}

/**
 * Identical calls in flight share one request. Each caller has its own signal; the request is aborted only with the last
 * caller. Calls with different settings (deadlines, retries, ages) do not share a request.
 */
export function shareRequest({ timers, lifetime }: ShareParts) {
  const calls = new Map<string, SharedCall>();
  const textOf = createSettingsText();

  /** Other callers can join the call if it has a `key`. */
  const start = (caller: Caller, next: Handler, key?: string): SharedCall => {
    const shared = createCall(caller, next);
    const finish = () => {
      lifetime.removeCall(shared);
      if (key !== undefined && calls.get(key) === shared) calls.delete(key);
    };
    shared.response.then(finish, finish);
    shared.cancellation.addEventListener('abort', finish);
    if (key !== undefined) calls.set(key, shared);
    lifetime.addCall(shared);
    return shared;
  };

  const join = (caller: Caller, next: Handler): SharedCall => {
    if (caller.signal?.aborted) throw new AbortError({ cause: caller.signal.reason });
    if (!caller.settings.coalesce) return start(caller, next);
    const key = `${caller.deadlineMs} ${sortedTarget(caller.endpoint.target)} ${textOf(caller.settings)}`;
    return calls.get(key) ?? start(caller, next, key);
  };

  return (next: Handler) =>
    async (caller: Caller): Promise<CallResponse> => {
      const shared = join(caller, next);
      const { call, response: pending } = shared;
      const isOwn = shared.callers === 0;
      if (!isOwn) pending.catch(shareError);
      const leave = addCaller(shared, caller);
      try {
        const response = await timers.withDeadline(pending, caller, { attempts: call.attempts, leave });
        return isOwn ? ownResponse(response, call) : sharedResponse(response, call);
      } catch (error) {
        throw withCallId(error, call);
      }
    };
}

/** Returns a function for a caller that stops waiting; the last one aborts the request. */
function addCaller(shared: SharedCall, { deadlineAt }: Caller): () => void {
  shared.callers += 1;
  shared.deadlineAt = Math.max(shared.deadlineAt, deadlineAt);
  return () => {
    shared.callers -= 1;
    if (shared.callers === 0) shared.cancellation.cancel(new AbortError());
  };
}

function ownResponse(response: ApiResponse, call: Call): CallResponse {
  const { source, ageMs } = response.cached ?? { source: 'network', ageMs: 0 };
  return { response, call, source, ageMs };
}

/**
 * With separate data, so that a change by one caller does not affect the others. Parsed again from the text, because a
 * recursive copy could overflow the stack with deeply nested data.
 */
function sharedResponse(response: ApiResponse, call: Call): CallResponse {
  const { source, ageMs } = response.cached ?? { source: 'coalesced', ageMs: 0 };
  const parsed = call.endpoint.parse(parseJson(response.rawBody));
  if (parsed.issues !== undefined) throw new Error('a valid response cannot be parsed again');
  return { response: { ...response, data: parsed.data }, call, source, ageMs };
}

/** The settings that calls must have in common to share a request. */
const SHARING_SETTINGS = ['timeoutMs', 'maxRetries', 'onLimit', 'priority', 'maxAgeMs', 'headers'] as const;

/** Creates a function that returns equal texts for equal settings. Most calls reuse the text of the last one. */
function createSettingsText(): (settings: CallSettings) => string {
  let last: { readonly settings: CallSettings; readonly text: string } | undefined;
  return (settings) => {
    if (last && SHARING_SETTINGS.every((name) => settings[name] === last?.settings[name])) return last.text;
    const headers = Object.entries(settings.headers).sort();
    last = { settings, text: JSON.stringify({ ...settings, headers }, [...SHARING_SETTINGS]) };
    return last.text;
  };
}

function createCall({ endpoint, settings, deadlineAt }: Caller, next: Handler): SharedCall {
  const cancellation = new Cancellation();
  const call = new Call({ endpoint, settings, signal: cancellation, deadlineAt: () => shared.deadlineAt });
  const send = async () => {
    await undefined; // a caller that aborts in the same tick sends nothing
    return await next(call);
  };
  const shared: SharedCall = { call, cancellation, response: send(), callers: 0, deadlineAt };
  return shared;
}
