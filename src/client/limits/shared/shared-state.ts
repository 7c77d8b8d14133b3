import * as z from 'zod/mini';
import { parseJson } from '../../../json.ts';
import {
  AcceptedLog,
  LIMITER_STATE_VERSION,
  type LimiterState,
  LONG_AGO,
  LONGEST_WAIT_MS,
  UNBOUNDED,
} from '../limit-state.ts';

/** A larger text, such as one of another program, is not read. The state of a limit of 1,000 per minute has 6 kB. */
const MOST_CHARACTERS = 1 << 20;
/** A process with more requests in flight would be an error. */
const MOST_IN_FLIGHT = 10_000;
/** Times of the past can be this much later than that of the state, because the clock of the store was set back. */
const CLOCK_STEP_MS = 10_000;
/** A rate below one request per day would never send. */
const SLOWEST_PER_MS = 1 / LONGEST_WAIT_MS;

const count = z.int().check(z.gte(0), z.lte(MOST_IN_FLIGHT));
const perMinute = z.int().check(z.positive());
const time = z.number();

/** JSON has `null` instead of an infinite number; the field determines which one. */
function orInfinite<const Infinite extends number>(schema: z.ZodMiniType<number, number>, infinite: Infinite) {
  return z.pipe(
    z.nullable(schema),
    z.transform((value: number | null) => value ?? infinite),
  );
}

const gate = z.object({
  opensAt: orInfinite(time, LONG_AGO),
  staleBefore: orInfinite(time, LONG_AGO),
  room: orInfinite(perMinute, UNBOUNDED),
  accepted: z.int().check(z.gte(0)),
  refusals: z.int().check(z.gte(0)),
  test: z.enum(['none', 'window', 'limit']),
});

const pace = z.object({
  perMs: z.number().check(z.gte(SLOWEST_PER_MS)),
  capacity: z.number().check(z.gte(1)),
  tokens: z.number(),
  at: time,
  step: z.number().check(z.gte(1), z.lte(2)),
  grew: z.boolean(),
  growsAt: time,
  refusedAt: time,
});

const log = z.pipe(
  z.string().check(z.regex(/^(-?\d+l?(,\d+l?)*)?$/)),
  z.transform((saved: string) => new AcceptedLog(saved)),
);

const limiterState = z.object({
  configured: orInfinite(perMinute, UNBOUNDED),
  isCap: z.boolean(),
  configuredAt: orInfinite(time, LONG_AGO),
  limit: orInfinite(perMinute, UNBOUNDED),
  inFlight: z.int().check(z.gte(0)),
  gate,
  test: z.enum(['due', 'done', 'never']),
  testAt: orInfinite(time, LONG_AGO),
  pace: z.nullable(pace),
  unit: z.object({ evidence: z.enum(['assumed', 'on-trial', 'confirmed', 'refuted']), endsAt: time }),
  blockedUntil: orInfinite(time, LONG_AGO),
  calledAt: orInfinite(time, LONG_AGO),
  log,
});

/** The requests of one process in flight, and the number of its waiting calls. */
const lease = z.object({
  inFlight: count,
  waiting: z.int().check(z.gte(0)),
  /** How many of these have low priority. */
  low: z.int().check(z.gte(0)),
  seenAt: time,
  /** Time at which it called `quota()` for the limit; 0 for never. */
  askedAt: time,
});

/** The state that processes with one key share, as a store has it. */
const sharedState = z
  .object({
    version: z.literal(LIMITER_STATE_VERSION),
    /** The last write, by the store's clock. */
    at: time,
    limit: limiterState,
    leases: z.record(z.string(), lease),
  })
  .check(z.refine(({ at, limit, leases }) => areTimesUsable(at, limit, leases) && hasAllInFlight(limit, leases)));

export type Lease = Readonly<z.infer<typeof lease>>;
type Leases = Readonly<Record<string, Lease>>;

export interface SharedState {
  readonly at: number;
  readonly limit: LimiterState;
  readonly leases: Leases;
}

export function textOf(state: SharedState): string {
  return JSON.stringify({ version: LIMITER_STATE_VERSION, ...state });
}

/** `undefined` for a text that is damaged, of another program or of another version; the next write replaces it. */
export function parseState(text: string): SharedState | undefined {
  return text.length > MOST_CHARACTERS ? undefined : sharedState.safeParse(parseJson(text)).data;
}

/** Events are in the past, and no wait is longer than the limiter would wait. */
function areTimesUsable(
  at: number,
  { gate, unit, pace, blockedUntil, testAt, configuredAt, calledAt, log }: LimiterState,
  leases: Leases,
): boolean {
  const seen = Object.values(leases).flatMap(({ seenAt, askedAt }) => [seenAt, askedAt]);
  const events = [configuredAt, calledAt, log.lastAt, pace?.refusedAt ?? at, ...seen];
  const paceAt = pace === null ? at : pace.at + Math.max(0, 1 - pace.tokens) / pace.perMs;
  const waits = [gate.opensAt, gate.staleBefore, unit.endsAt, paceAt, blockedUntil, testAt];
  return Math.max(...events) <= at + CLOCK_STEP_MS && Math.max(...waits) <= at + 2 * LONGEST_WAIT_MS;
}

/** Each request in flight belongs to a process: otherwise its slot would never be free. */
function hasAllInFlight({ inFlight }: LimiterState, leases: Leases): boolean {
  return Object.values(leases).reduce((sum, lease) => sum + lease.inFlight, 0) === inFlight;
}
