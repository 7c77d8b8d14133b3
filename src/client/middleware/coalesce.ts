import type { ResponseMeta } from '../api-call.ts';
import { Cancellation } from '../cancellation.ts';
import { AbortError } from '../errors/abort-error.ts';
import { type Patience, withPatience } from '../patience.ts';
import type { ApiRequest, ApiResponse, CallSettings, Endpoint, Handler } from '../request.ts';
import { AttemptLog } from '../request.ts';
import type { Timers } from '../timers.ts';

/** One caller of a call: what it asks for, and how long it waits. */
export interface Caller extends Patience {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
  /** Longest age of a kept answer in milliseconds; `undefined`: as the client's `cache` says. */
  readonly maxAgeMs: number | undefined;
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

/**
 * Identical calls under way at the same time share one request. Each caller keeps its own signal and deadline: leaving
 * early ends the request only for the last one. Calls with other settings (retries, timeouts) do not mix.
 */
export function coalesce({ timers, now }: { readonly timers: Timers; readonly now: () => number }) {
  const flights = new Map<string, Flight>();

  return (next: Handler<ApiRequest>) =>
    async (caller: Caller): Promise<Answer> => {
      const { signal, deadlineAt } = caller;
      if (signal?.aborted) throw new AbortError({ cause: signal.reason });
      const key = flightKey(caller);
      const existing = flights.get(key);
      const flight = existing ?? takeOff(caller, next);
      const land = () => {
        if (flights.get(key) === flight) flights.delete(key);
      };
      if (existing === undefined) {
        flights.set(key, flight);
        flight.response.then(land, land);
      }
      flight.callers += 1;
      flight.deadlineAt = Math.max(flight.deadlineAt, deadlineAt);
      const leave = () => {
        flight.callers -= 1;
        if (flight.callers > 0) return;
        land();
        flight.cancellation.cancel(new AbortError());
      };
      const { log, response: landing } = flight;
      const response = await withPatience(landing, caller, { timers, nowMs: now(), attempts: log.attempts, leave });
      if (existing === undefined) return { response, log, source: 'network', ageMs: 0 };
      return { response: copyOf(response), log, source: 'coalesced', ageMs: 0 };
    };
}

function flightKey({ endpoint, settings: { timeoutMs, maxRetries, onLimit, useReserve } }: Caller): string {
  return `${endpoint.target} ${timeoutMs} ${maxRetries} ${onLimit} ${useReserve}`;
}

function takeOff({ endpoint, settings }: Caller, next: Handler<ApiRequest>): Flight {
  const cancellation = new Cancellation();
  const log = new AttemptLog();
  const deadlineAt = () => flight.deadlineAt;
  // The flight must exist before its request starts: the request reads the deadline that its callers set.
  const response = Promise.resolve().then(() => next({ endpoint, settings, signal: cancellation, deadlineAt, log }));
  const flight: Flight = { cancellation, log, response, callers: 0, deadlineAt: 0 };
  return flight;
}

/** What one caller changes in its data, the others must not see. */
function copyOf(response: ApiResponse): ApiResponse {
  return { ...response, data: structuredClone(response.data) };
}
