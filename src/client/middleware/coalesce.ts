import type { ResponseMeta } from '../api-call.ts';
import { Cancellation } from '../cancellation.ts';
import { type Deadline, withDeadline } from '../deadline.ts';
import { AbortError } from '../errors/errors.ts';
import { parseJson } from '../parse-response.ts';
import type { ApiRequest, ApiResponse, CallSettings, Endpoint, Handler } from '../request.ts';
import { AttemptLog } from '../request.ts';
import type { Timers } from '../timers.ts';

/** One caller of a call: what it asks for, and how long it waits. */
export interface Caller extends Deadline {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
}

/** What a caller gets: the answer, the attempts it took, where it came from, and how old it is. */
export interface Answer {
  readonly response: ApiResponse;
  readonly log: AttemptLog;
  readonly source: ResponseMeta['source'];
  readonly ageMs: number;
}

interface Flight {
  readonly cancellation: Cancellation;
  readonly log: AttemptLog;
  readonly response: Promise<ApiResponse>;
  callers: number;
  deadlineAt: number;
}

/** Emptied on landing: V8 keeps what a Map has outgrown until the next full collection, and with it every answer. */
interface Underway {
  flight: Flight | undefined;
}

/**
 * Identical calls under way at the same time share one request. Each caller keeps its own signal and deadline: leaving
 * early ends the request only for the last one. Calls with other settings (retries, ages) do not mix.
 */
export function coalesce({ timers, now }: { readonly timers: Timers; readonly now: () => number }) {
  const flights = new Map<string, Underway>();

  const takeOff = (key: string, caller: Caller, next: Handler<ApiRequest>): Flight => {
    const flight = begin(caller, next);
    const entry: Underway = { flight };
    const land = () => {
      entry.flight = undefined;
      if (flights.get(key) === entry) flights.delete(key);
    };
    flight.response.then(land, land);
    flight.cancellation.addEventListener('abort', land);
    flights.set(key, entry);
    return flight;
  };

  const board = (caller: Caller, next: Handler<ApiRequest>): Flight => {
    const key = flightKey(caller);
    const underWay = flights.get(key)?.flight;
    if (underWay === undefined) return takeOff(key, caller, next);
    // One that waits longer than the caller can is of no use to it: a way of its own ends at once, and says why.
    return underWay.log.slotAt > caller.deadlineAt ? begin(caller, next) : underWay;
  };

  return (next: Handler<ApiRequest>) =>
    async (caller: Caller): Promise<Answer> => {
      if (caller.signal?.aborted) throw new AbortError({ cause: caller.signal.reason });
      const flight = board(caller, next);
      const isOwn = flight.callers === 0;
      flight.callers += 1;
      flight.deadlineAt = Math.max(flight.deadlineAt, caller.deadlineAt);
      const leave = () => {
        flight.callers -= 1;
        if (flight.callers === 0) flight.cancellation.cancel(new AbortError());
      };
      const { attempts } = flight.log;
      const response = await withDeadline(flight.response, caller, { timers, nowMs: now(), attempts, leave });
      return isOwn ? own(response, flight.log) : shared(response, flight.log, caller.endpoint);
    };
}

function own(response: ApiResponse, log: AttemptLog): Answer {
  const { source, ageMs } = response.cached ?? { source: 'network', ageMs: 0 };
  return { response, log, source, ageMs };
}

/**
 * With data of its own: what one caller changes in it, the others must not see. Read again from the text, because a
 * copy of the data would need a stack as deep as the service cares to nest.
 */
function shared(response: ApiResponse, log: AttemptLog, { parse }: Endpoint): Answer {
  const { source, ageMs } = response.cached ?? { source: 'coalesced', ageMs: 0 };
  const parsed = parse(parseJson(response.rawBody));
  if (parsed.issues !== undefined) throw new Error('the text of a valid answer is read as an invalid one');
  return { response: { ...response, data: parsed.data }, log, source, ageMs };
}

function flightKey({ endpoint, settings }: Caller): string {
  const { timeoutMs, maxRetries, onLimit, useReserve, priority, maxAgeMs } = settings;
  return [endpoint.target, timeoutMs, maxRetries, onLimit, useReserve, priority, maxAgeMs].join(' ');
}

function begin({ endpoint, settings }: Caller, next: Handler<ApiRequest>): Flight {
  const cancellation = new Cancellation();
  const log = new AttemptLog();
  const deadlineAt = () => flight.deadlineAt;
  // The flight must exist before its request starts: the request reads the deadline that its callers set.
  const response = Promise.resolve().then(() => next({ endpoint, settings, signal: cancellation, deadlineAt, log }));
  const flight: Flight = { cancellation, log, response, callers: 0, deadlineAt: 0 };
  return flight;
}
