import { ofCall, type ResponseMeta, shareError } from '../api-call.ts';
import { Cancellation } from '../cancellation.ts';
import { AbortError } from '../errors/errors.ts';
import { type CallDeadline, type Lifetime, type OpenCall, withDeadline } from '../lifetime.ts';
import { parseJson } from '../parse-response.ts';
import {
  type ApiRequest,
  type ApiResponse,
  AttemptLog,
  type CallSettings,
  type Endpoint,
  type Handler,
} from '../request.ts';
import type { Timers } from '../timers.ts';

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

interface SharedCall {
  readonly cancellation: Cancellation;
  readonly log: AttemptLog;
  readonly response: Promise<ApiResponse>;
  callers: number;
  deadlineAt: number;
}

/** Emptied when the call ends: V8 keeps the old tables of a growing Map, and all responses in them, until a full collection. */
interface SharedCallEntry extends OpenCall {
  call: SharedCall | undefined;
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
  const calls = new Map<string, SharedCallEntry>();

  /** Other callers can join the call if it has a `key`. */
  const start = (caller: Caller, next: Handler<ApiRequest>, key?: string): SharedCall => {
    const call = createCall(caller, next);
    const entry: SharedCallEntry = { call };
    const finish = () => {
      entry.call = undefined;
      lifetime.calls.delete(entry);
      if (key !== undefined && calls.get(key) === entry) calls.delete(key);
    };
    call.response.then(finish, finish);
    call.cancellation.addEventListener('abort', finish);
    if (key !== undefined) calls.set(key, entry);
    lifetime.calls.add(entry);
    return call;
  };

  const join = (caller: Caller, next: Handler<ApiRequest>): SharedCall => {
    if (!caller.settings.coalesce) return start(caller, next);
    const key = callKey(caller);
    const underWay = calls.get(key)?.call;
    if (underWay === undefined) return start(caller, next, key);
    // If the call in flight waits beyond the caller's deadline, a separate call rejects immediately, with the reason.
    return underWay.log.slotAt > caller.deadlineAt ? start(caller, next) : underWay;
  };

  const answered = async (call: SharedCall, caller: Caller, leave: () => void): Promise<ApiResponse> => {
    const { attempts } = call.log;
    try {
      return await withDeadline(call.response, caller, { timers, nowMs: now(), attempts, leave });
    } catch (error) {
      throw ofCall(error, call.log);
    }
  };

  return (next: Handler<ApiRequest>) =>
    async (caller: Caller): Promise<CallResponse> => {
      if (caller.signal?.aborted) throw new AbortError({ cause: caller.signal.reason });
      const call = join(caller, next);
      const isOwn = call.callers === 0;
      if (!isOwn) call.response.catch(shareError);
      call.callers += 1;
      call.deadlineAt = Math.max(call.deadlineAt, caller.deadlineAt);
      const leave = () => {
        call.callers -= 1;
        if (call.callers === 0) call.cancellation.cancel(new AbortError());
      };
      const response = await answered(call, caller, leave);
      return isOwn ? own(response, call.log) : shared(response, call.log, caller.endpoint);
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
  if (parsed.issues !== undefined) throw new Error('the text of a valid answer is read as an invalid one');
  return { response: { ...response, data: parsed.data }, log, source, ageMs };
}

function callKey({ endpoint, settings }: Caller): string {
  const { timeoutMs, maxRetries, onLimit, useReserve, priority, maxAgeMs, headers } = settings;
  const shown = Object.keys(headers).length === 0 ? '' : JSON.stringify(Object.entries(headers).sort());
  return [endpoint.target, timeoutMs, maxRetries, onLimit, useReserve, priority, maxAgeMs, shown].join(' ');
}

function createCall({ endpoint, settings }: Caller, next: Handler<ApiRequest>): SharedCall {
  const cancellation = new Cancellation();
  const log = new AttemptLog();
  const deadlineAt = () => call.deadlineAt;
  // The call must exist before its request starts: the request reads the deadline that its callers set.
  const response = Promise.resolve().then(() => next({ endpoint, settings, signal: cancellation, deadlineAt, log }));
  const call: SharedCall = { cancellation, log, response, callers: 0, deadlineAt: 0 };
  return call;
}
