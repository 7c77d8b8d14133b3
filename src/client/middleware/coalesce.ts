import type { ResponseMeta } from '../api-call.ts';
import { Cancellation } from '../cancellation.ts';
import { AbortError } from '../errors/abort-error.ts';
import { TimeoutError } from '../errors/timeout-error.ts';
import type { ApiRequest, ApiResponse, CallSettings, Endpoint, Handler } from '../request.ts';
import { AttemptLog } from '../request.ts';
import type { Timers } from '../timers.ts';

/** One caller of a call: what it asks for, and how long it waits. */
export interface Caller {
  readonly endpoint: Endpoint;
  readonly settings: CallSettings;
  readonly signal: AbortSignal | undefined;
  /** Milliseconds; Infinity for no deadline. */
  readonly deadlineMs: number;
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
      const { signal, deadlineMs } = caller;
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
      flight.deadlineAt = Math.max(flight.deadlineAt, now() + deadlineMs);
      const leave = () => {
        flight.callers -= 1;
        if (flight.callers > 0) return;
        land();
        flight.cancellation.cancel(new AbortError());
      };
      const response = await board(flight, caller, { timers, leave });
      return { response, log: flight.log, source: existing === undefined ? 'network' : 'coalesced', ageMs: 0 };
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

/** Waits for the flight, but not longer than the caller's signal and deadline allow. */
function board(
  flight: Flight,
  { signal, deadlineMs }: Caller,
  { timers, leave }: { readonly timers: Timers; readonly leave: () => void },
): Promise<ApiResponse> {
  flight.callers += 1;
  return new Promise((resolve, reject) => {
    const quit = (error: Error) => {
      cleanUp();
      reject(error);
      leave();
    };
    const { attempts } = flight.log;
    const onAbort = () => quit(new AbortError({ cause: signal?.reason, attempts }));
    const cancel =
      deadlineMs === Number.POSITIVE_INFINITY
        ? undefined
        : timers.after(deadlineMs, () => quit(new TimeoutError({ scope: 'deadline', limitMs: deadlineMs, attempts })));
    signal?.addEventListener('abort', onAbort, { once: true });
    const cleanUp = () => {
      cancel?.();
      signal?.removeEventListener('abort', onAbort);
    };
    flight.response.then(
      (response) => {
        cleanUp();
        resolve(response);
      },
      (error: unknown) => {
        cleanUp();
        reject(error);
      },
    );
  });
}
