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

interface SharedCall extends OpenCall {
  readonly cancellation: Cancellation;
  readonly log: AttemptLog;
  response: Promise<ApiResponse> | undefined;
  callers: number;
  deadlineAt: number;
}

/** A call with its response. The call itself contains the response only while it is in flight. */
interface JoinedCall {
  readonly call: SharedCall;
  readonly response: Promise<ApiResponse>;
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

  /** Other callers can join the call if it has a `key`. */
  const start = (caller: Caller, next: Handler<ApiRequest>, key?: string): JoinedCall => {
    const { call, response } = createCall(caller, next);
    const finish = () => {
      // V8 retains replaced tables of a Map or Set, with their contents, until a full garbage collection.
      call.response = undefined;
      lifetime.calls.delete(call);
      if (key !== undefined && calls.get(key) === call) calls.delete(key);
    };
    response.then(finish, finish);
    call.cancellation.addEventListener('abort', finish);
    if (key !== undefined) calls.set(key, call);
    lifetime.calls.add(call);
    return { call, response };
  };

  const join = (caller: Caller, next: Handler<ApiRequest>): JoinedCall => {
    if (!caller.settings.coalesce) return start(caller, next);
    const key = callKey(caller);
    const call = calls.get(key);
    if (call?.response === undefined) return start(caller, next, key);
    // If the call in flight waits beyond the caller's deadline, a separate call rejects immediately, with the reason.
    return call.log.isSlotAfter(caller.deadlineAt) ? start(caller, next) : { call, response: call.response };
  };

  const answered = async ({ call, response }: JoinedCall, caller: Caller, leave: () => void): Promise<ApiResponse> => {
    const { attempts } = call.log;
    try {
      return await withDeadline(response, caller, { timers, nowMs: now(), attempts, leave });
    } catch (error) {
      throw ofCall(error, call.log);
    }
  };

  return (next: Handler<ApiRequest>) =>
    async (caller: Caller): Promise<CallResponse> => {
      if (caller.signal?.aborted) throw new AbortError({ cause: caller.signal.reason });
      const joined = join(caller, next);
      const { call } = joined;
      const isOwn = call.callers === 0;
      if (!isOwn) joined.response.catch(shareError);
      call.callers += 1;
      call.deadlineAt = Math.max(call.deadlineAt, caller.deadlineAt);
      const leave = () => {
        call.callers -= 1;
        if (call.callers === 0) call.cancellation.cancel(new AbortError());
      };
      const response = await answered(joined, caller, leave);
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
  if (parsed.issues !== undefined) throw new Error('a valid response cannot be parsed again');
  return { response: { ...response, data: parsed.data }, log, source, ageMs };
}

function callKey({ endpoint, settings }: Caller): string {
  const { timeoutMs, maxRetries, onLimit, useReserve, priority, maxAgeMs, headers } = settings;
  const shown = Object.keys(headers).length === 0 ? '' : JSON.stringify(Object.entries(headers).sort());
  return `${endpoint.target} ${timeoutMs} ${maxRetries} ${onLimit} ${useReserve} ${priority} ${maxAgeMs} ${shown}`;
}

function createCall({ endpoint, settings }: Caller, next: Handler<ApiRequest>): JoinedCall {
  const cancellation = new Cancellation();
  const log = new AttemptLog();
  const deadlineAt = () => call.deadlineAt;
  // The call must exist before its request starts: the request reads the deadline that its callers set.
  const response = Promise.resolve().then(() => next({ endpoint, settings, signal: cancellation, deadlineAt, log }));
  const call: SharedCall = { cancellation, log, response, callers: 0, deadlineAt: 0 };
  return { call, response };
}
