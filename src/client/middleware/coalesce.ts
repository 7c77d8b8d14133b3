import { parseJson } from '../../json-object.ts';
import type { ResponseMeta } from '../api-call.ts';
import { requestIdOf } from '../attempt.ts';
import { Cancellation } from '../cancellation.ts';
import { sortedTarget } from '../endpoints.ts';
import { shareError, withCallId } from '../errors/caller-error.ts';
import { AbortError } from '../errors/errors.ts';
import type { Lifetime } from '../lifetime.ts';
import {
  type ApiRequest,
  type ApiResponse,
  AttemptLog,
  type CallSettings,
  type Endpoint,
  type Handler,
} from '../request.ts';
import type { CallDeadline, Timers } from '../timers.ts';

/** One caller of a call, with its signal and deadline. */
export interface Caller extends CallDeadline {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
}

/** The response for one caller, with the attempts, its source and its age. */
export interface CallResponse {
  readonly response: ApiResponse;
  readonly log: AttemptLog;
  readonly source: ResponseMeta['source'];
  readonly ageMs: number;
}

export function metaOf({ response, log, source, ageMs }: CallResponse, durationMs: number): ResponseMeta {
  const { status, rawBody } = response;
  const headers = response.headers.toHeaders();
  const ids = { requestId: requestIdOf(headers), callId: log.callId };
  return { status, headers, rawBody, source, ageMs, attempts: log.attempts, ...ids, durationMs };
}

interface SharedCall {
  readonly cancellation: Cancellation;
  readonly log: AttemptLog;
  readonly response: Promise<ApiResponse>;
  callers: number;
  deadlineAt: number;
}

interface CoalesceParts {
  readonly timers: Timers;
  readonly lifetime: Lifetime;
  readonly now: () => number;
}

/**
 * Identical calls in flight share one request. Each caller has its own signal and deadline; the request is aborted only
 * with the last caller. Calls with different settings (retries, ages) do not share a request.
 */
export function coalesce({ timers, lifetime, now }: CoalesceParts) {
  const calls = new Map<string, SharedCall>();
  const textOf = createSettingsText();

  /** Other callers can join the call if it has a `key`. */
  const start = (caller: Caller, next: Handler<ApiRequest>, key?: string): SharedCall => {
    const call = createCall(caller, next);
    const finish = () => {
      lifetime.removeCall(call);
      if (key !== undefined && calls.get(key) === call) calls.delete(key);
    };
    call.response.then(finish, finish);
    call.cancellation.addEventListener('abort', finish);
    if (key !== undefined) calls.set(key, call);
    lifetime.addCall(call);
    return call;
  };

  const join = (caller: Caller, next: Handler<ApiRequest>): SharedCall => {
    if (caller.signal?.aborted) throw new AbortError({ cause: caller.signal.reason });
    if (!caller.settings.coalesce) return start(caller, next);
    const key = `${sortedTarget(caller.endpoint.target)} ${textOf(caller.settings)}`;
    const call = calls.get(key);
    if (call === undefined) return start(caller, next, key);
    // If the call in flight waits beyond the caller's deadline, a separate call rejects immediately, with the reason.
    return call.log.isSlotAfter(caller.deadlineAt) ? start(caller, next) : call;
  };

  return (next: Handler<ApiRequest>) =>
    async (caller: Caller): Promise<CallResponse> => {
      const call = join(caller, next);
      const { log, response: pending } = call;
      const isOwn = call.callers === 0;
      if (!isOwn) pending.catch(shareError);
      const leave = addCaller(call, caller, now);
      try {
        const response = await timers.withDeadline(pending, caller, { attempts: log.attempts, leave });
        return isOwn ? own(response, log) : shared(response, log, caller.endpoint);
      } catch (error) {
        throw withCallId(error, log);
      }
    };
}

/** Returns a function for a caller that stops waiting; the last one aborts the request. */
function addCaller(call: SharedCall, { endpoint, deadlineAt }: Caller, now: () => number): () => void {
  call.callers += 1;
  call.deadlineAt = Math.max(call.deadlineAt, deadlineAt);
  return () => {
    call.callers -= 1;
    // If every deadline is too short for `quota()`, the next call still gets its record. `timeoutMs` ends it.
    const isForNext = endpoint.purpose === 'refresh' && now() >= call.deadlineAt;
    if (call.callers === 0 && !isForNext) call.cancellation.cancel(new AbortError());
  };
}

function own(response: ApiResponse, log: AttemptLog): CallResponse {
  const { source, ageMs } = response.cached ?? { source: 'network', ageMs: 0 };
  return { response, log, source, ageMs };
}

/**
 * With separate data, so that a change by one caller does not affect the others. Parsed again from the text, because a
 * recursive copy could overflow the stack with deeply nested data.
 */
function shared(response: ApiResponse, log: AttemptLog, { parse }: Endpoint): CallResponse {
  const { source, ageMs } = response.cached ?? { source: 'coalesced', ageMs: 0 };
  const parsed = parse(parseJson(response.rawBody));
  if (parsed.issues !== undefined) throw new Error('a valid response cannot be parsed again');
  return { response: { ...response, data: parsed.data }, log, source, ageMs };
}

/** The settings that calls must have in common to share a request. */
const SHARING_SETTINGS = [
  'timeoutMs',
  'maxRetries',
  'onLimit',
  'useReserve',
  'priority',
  'maxAgeMs',
  'headers',
] as const;

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

function createCall({ endpoint, settings, deadlineAt }: Caller, next: Handler<ApiRequest>): SharedCall {
  const cancellation = new Cancellation();
  const log = new AttemptLog();
  const send = async () => {
    await undefined; // a caller that aborts in the same tick sends nothing
    return await next({ endpoint, settings, signal: cancellation, deadlineAt: () => call.deadlineAt, log });
  };
  const call: SharedCall = { cancellation, log, response: send(), callers: 0, deadlineAt };
  return call;
}
