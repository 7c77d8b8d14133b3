import * as z from 'zod/mini';
import type { RetryAfterUnit } from './retry-after.ts';

/** Increased when the record below changes: versions of the package with different records do not share a limit. */
export const LIMITER_STATE_VERSION = 18;

/** Every limit of the service is per minute. */
export const WINDOW_MS = 60_000;
/** A plan can change: one request per day is sent even if the service asked for a longer wait. */
export const LONGEST_WAIT_MS = 86_400_000;
/** A time before all others. */
export const LONG_AGO = Number.NEGATIVE_INFINITY;
/** An unknown limit, a number without a bound, and a time after all others. */
export const UNBOUNDED = Number.POSITIVE_INFINITY;
/** Every plan allows so many requests per minute. */
export const SMALLEST_LIMIT = 30;
/** Most requests in flight during a ramp. */
export const LARGEST_RAMP = 16;

const time = z.number();
const count = z.int().check(z.gte(0));
const perMinute = z.int().check(z.positive());

/** JSON has `null` instead of an infinite number; the field determines which one. */
function orInfinite<const Infinite extends number>(schema: z.ZodMiniType<number, number>, infinite: Infinite) {
  return z.pipe(
    z.nullable(schema),
    z.transform((value: number | null) => value ?? infinite),
  );
}

const timeOrNever = orInfinite(time, LONG_AGO);
const countOrUnbounded = orInfinite(perMinute, UNBOUNDED);

const GATE = z.object({
  opensAt: timeOrNever,
  /** A request that was sent before this time has met the last refusal: its response has no new information. */
  staleBefore: timeOrNever,
  /** Most requests in flight; infinity without a ramp. */
  room: countOrUnbounded,
  /** Requests accepted since it opened. */
  accepted: count,
  /** Requests accepted in the window before. After as many, the ramp begins again, because others may use the rest. */
  acceptedBefore: count,
  /** Refusals minus the accepted requests since, at least 0. */
  refusals: count,
  /**
   * Why requests are sent although the log is full: the service may have started a new window, or a learned limit may be
   * too low.
   */
  test: z.enum(['none', 'window', 'limit']),
});

/** Every refusal closes the gate for all calls. When it opens, one request is sent first, then one more per response. */
export type Gate = Readonly<z.infer<typeof GATE>>;

const PACE = z.object({
  perMs: z.number().check(z.gte(1 / LONGEST_WAIT_MS)), // a lower rate would never send
  capacity: z.number().check(z.gte(1)),
  tokens: z.number(),
  at: time,
  /** Factor by which the rate grows next. */
  step: z.number().check(z.gte(1), z.lte(2)),
  /** Whether it has grown since the last refusal. */
  grew: z.boolean(),
  growsAt: time,
});

/** Even sending: one request per `1 / perMs`, and up to `capacity` at once after a pause. */
export type Pace = Readonly<z.infer<typeof PACE>>;

const LOG = z.pipe(
  z.string().check(z.regex(/^(-?\d+(,\d+)*)?$/)),
  z.transform((saved: string) => new AcceptedLog(saved)),
);

/** Checks and parses the state of another process. */
export const LIMITER_STATE = z.object({
  /** Requests per minute, from the options or from `quota()`; infinity for unknown. */
  configured: countOrUnbounded,
  /** Whether `configured` is a number of the options, which no test may exceed. */
  isCap: z.boolean(),
  /** Time at which it was read; -Infinity if never, or if a request was refused although the limit was not used up. */
  configuredAt: timeOrNever,
  /** Requests per minute: the configured number, or the one that was accepted before a refusal. */
  limit: countOrUnbounded,
  inFlight: count,
  gate: GATE,
  /** Whether a request beyond the full log tests the window in this busy period. `sliding`: the service counts like the log. */
  test: z.enum(['due', 'done', 'sliding']),
  /** Time from which a request tests a learned limit, or the window if the requests of the log are spread over the minute. */
  testAt: timeOrNever,
  /** `null` if requests are sent as soon as the log has room. */
  pace: z.nullable(PACE),
  unit: z.object({ evidence: z.enum(['assumed', 'on-trial', 'confirmed', 'refuted']), endsAt: time }),
  /** The service asked for a wait longer than `maxRetryAfterMs`: nothing is sent before this time. */
  blockedUntil: timeOrNever,
  /** When the service accepted a request last. */
  acceptedAt: timeOrNever,
  /** When a call of normal or high priority arrived last; later if a refusal shows that others use the key. */
  calledAt: timeOrNever,
  /** While others call, calls of low priority are due at equal intervals: the time of the next one, and since when they wait. */
  lowAt: timeOrNever,
  lowWaitsSince: timeOrNever,
  /** Requests that the service accepted, or may have accepted. With a cap, also those that it refused. */
  log: LOG,
});

/**
 * All that the limiter knows about one key, in one record that processes can share. The functions of limit-rules.ts
 * and key-limit.ts return the next record; they change nothing but the log. Times are milliseconds of the
 * limiter's clock.
 */
export type LimiterState = Readonly<z.infer<typeof LIMITER_STATE>>;

export interface LimiterSettings {
  /** Requests per minute, a cap; `'learn'` reads or learns the number. */
  readonly perMinute: 'learn' | number;
  /** Maximum number of requests in flight. */
  readonly maxConcurrent: number;
  /** Longest Retry-After to wait for, in milliseconds. */
  readonly maxRetryAfterMs: number;
  /** The unit of an integer Retry-After; `'auto'` is seconds unless the responses show milliseconds. */
  readonly retryAfterUnit: 'auto' | RetryAfterUnit;
}

/** The state before the first request. */
export function initialState(): LimiterState {
  return {
    configured: UNBOUNDED,
    isCap: false,
    configuredAt: LONG_AGO,
    limit: UNBOUNDED,
    inFlight: 0,
    gate: {
      opensAt: LONG_AGO,
      staleBefore: LONG_AGO,
      room: UNBOUNDED,
      accepted: 0,
      acceptedBefore: 0,
      refusals: 0,
      test: 'none',
    },
    test: 'due',
    testAt: LONG_AGO,
    pace: null,
    unit: { evidence: 'assumed', endsAt: 0 },
    blockedUntil: LONG_AGO,
    acceptedAt: LONG_AGO,
    calledAt: LONG_AGO,
    lowAt: LONG_AGO,
    lowWaitsSince: LONG_AGO,
    log: new AcceptedLog(),
  };
}

/** The time before which no request is sent, because of a refusal. */
export function closedUntil({ gate, blockedUntil }: LimiterState): number {
  return Math.max(gate.opensAt, blockedUntil);
}

/** Whether neither the options nor `quota()` nor a refusal has shown a limit. */
export function isUnknown({ limit }: LimiterState): boolean {
  return limit === UNBOUNDED;
}

/** While others call, calls of low priority leave this part of the limit free. */
const PART_FOR_OTHERS = 0.2;

/** Between two calls of low priority beside others. An unknown limit counts as the smallest, or as what was accepted of it. */
export function lowIntervalMs({ limit, log }: Pick<LimiterState, 'limit' | 'log'>): number {
  const most = limit === UNBOUNDED ? Math.max(SMALLEST_LIMIT, log.size) : limit;
  // One less, because a slot is free only after a round trip.
  return WINDOW_MS / Math.max(most / 2, (1 - PART_FOR_OTHERS) * most - 1);
}

/** How the service counts requests, as far as its refusals have shown. */
export function windowKind({ pace, test, gate }: LimiterState): 'unknown' | 'sliding' | 'fixed' | 'token-bucket' {
  if (pace !== null) return 'token-bucket';
  if (test === 'sliding') return 'sliding';
  return gate.staleBefore === LONG_AGO ? 'unknown' : 'fixed';
}

/** Changes the number of requests in flight, and takes tokens: by default, those of requests that are sent. */
export function addInFlight(state: LimiterState, calls: number, tokens = Math.max(0, calls)): LimiterState {
  if (calls === 0) return state;
  const { pace } = state;
  return { ...state, inFlight: state.inFlight + calls, pace: pace && { ...pace, tokens: pace.tokens - tokens } };
}

/** A copy of the state with its times in a clock that is `aheadMs` ahead. */
export function copyOf(state: LimiterState, aheadMs = 0): LimiterState {
  const { gate, pace, unit } = state;
  const at = (time: number) => time + aheadMs;
  return {
    ...state,
    configuredAt: at(state.configuredAt),
    gate: { ...gate, opensAt: at(gate.opensAt), staleBefore: at(gate.staleBefore) },
    testAt: at(state.testAt),
    pace: pace && { ...pace, at: at(pace.at), growsAt: at(pace.growsAt) },
    unit: { ...unit, endsAt: at(unit.endsAt) },
    blockedUntil: at(state.blockedUntil),
    acceptedAt: at(state.acceptedAt),
    calledAt: at(state.calledAt),
    lowAt: at(state.lowAt),
    lowWaitsSince: at(state.lowWaitsSince),
    log: state.log.copy(aheadMs),
  };
}

/**
 * Requests of the last minute, by the times of their responses. The service counts a request before it responds, so one
 * minute after the response its slot is certainly free.
 *
 * Only the log of the limiter's state is changed in place: a copy per response would cost more than the call.
 */
export class AcceptedLog {
  #times: number[] = [];
  /** Those before have expired. They are removed together: to remove each would move all others. */
  #first = 0;

  /** `saved`: the milliseconds between the responses, as `toJSON` returns them. */
  constructor(saved = '') {
    let at = 0;
    for (const ms of saved === '' ? [] : saved.split(',')) {
      at += Number(ms);
      this.#times.push(at);
    }
  }

  /**
   * Differences are short numbers: a thousand requests take about 4 kB. One text, because `JSON.parse` with a function
   * calls it for each value.
   */
  toJSON(): string {
    return this.#times
      .slice(this.#first)
      .map((at, index, all) => at - (all[index - 1] ?? 0))
      .join();
  }

  /** A log of every `n`th request, in a clock that is `aheadMs` ahead. */
  copy(aheadMs = 0, n = 1): AcceptedLog {
    const copy = new AcceptedLog();
    for (let index = this.#first; index < this.#times.length; index += n) {
      copy.#times.push((this.#times[index] ?? 0) + aheadMs);
    }
    return copy;
  }

  get size(): number {
    return this.#times.length - this.#first;
  }

  /** The time of the last request; long ago for none. */
  get lastAt(): number {
    return this.#times.at(-1) ?? LONG_AGO;
  }

  add(now: number): void {
    this.#times.push(Math.max(now, this.#times.at(-1) ?? now));
  }

  /** Drops the oldest `forgotten` requests, and all that expired. */
  expire(now: number, forgotten = 0): void {
    this.#first += forgotten;
    while ((this.#times[this.#first] ?? UNBOUNDED) + WINDOW_MS <= now) this.#first += 1;
    if (2 * this.#first < this.#times.length || this.#first === 0) return;
    this.#times = this.#times.slice(this.#first);
    this.#first = 0;
  }

  /** When the request at `index` (0 is the oldest) expires; `undefined` if the log has fewer. */
  expiresAt(index: number): number | undefined {
    const at = this.#times[this.#first + index];
    return at === undefined ? undefined : at + WINDOW_MS;
  }
}
