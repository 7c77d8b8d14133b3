import * as z from 'zod';
import { AcceptedLog } from './accepted-log.ts';

/** Raised when the record below changes: versions of the package that differ in it share nothing. */
export const LIMITER_STATE_VERSION = 2;

/** JSON has no infinity: it is written as null. */
const orInfinity = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.POSITIVE_INFINITY);
const orMinusInfinity = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NEGATIVE_INFINITY);

/** Which windows there are: see window.ts. */
const windowState = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('log') }),
  z.object({
    kind: z.literal('fixed'),
    startsAt: z.number(),
    guardMs: z.number(),
    /** The first boundary after the window became known is `testing` the assumption. */
    boundary: z.enum(['assumed', 'testing', 'confirmed']),
  }),
  z.object({
    kind: z.literal('bucket'),
    perMs: z.number(),
    capacity: z.number(),
    tokens: z.number(),
    at: z.number(),
  }),
]);

/** What a refusal suggests about the window, until the answers after the gate confirm or contradict it. */
const hypothesisState = z.object({
  /** The refusal that ended a run of accepted requests. */
  startedAt: z.number(),
  /** The last refusal: at this time the server had no slot left. */
  exhaustedAt: z.number(),
  opensAt: z.number(),
  /** The boundary of a fixed window lies between this time and the first request accepted after it. */
  boundaryAfter: z.number(),
  hint: z.enum(['long', 'short', 'none']),
  /** The gate opens when our own oldest request expires. */
  isOwnSlot: z.boolean(),
  /** Attempts without a usable hint. */
  tries: z.number(),
});

const gateState = z.object({
  opensAt: orMinusInfinity,
  /** Answers to requests sent before this time say nothing new. */
  staleBefore: orMinusInfinity,
  /** Open again, and the first request since then has not been answered. */
  isHalfOpen: z.boolean(),
  wasClosed: z.boolean(),
  /** Requests accepted since the gate opened. */
  accepted: z.number(),
  /** Refusals that no accepted request has made up for. */
  pressure: z.number(),
});

const probeState = z.object({
  /** Requests that the next probe sends. */
  batch: z.number(),
  outstanding: z.number(),
  dueAt: z.number(),
  pauseMs: z.number(),
  /** Factor by which the rate of a bucket grows next. */
  step: z.number(),
  acceptedAtStep: z.number(),
});

const burstState = z.object({
  /** Requests per `periodMs`; Infinity for no such limit. */
  calls: orInfinity,
  periodMs: z.number(),
  /** The number that was learned: `calls` grows beyond it to try for more. */
  proven: orInfinity,
  growsAt: z.number(),
  pauseMs: z.number(),
});

const unitState = z.object({
  evidence: z.enum(['assumed', 'on-trial', 'confirmed', 'refuted']),
  trial: z
    .object({ value: z.number(), refusedAt: z.number(), endsAt: z.number(), refusals: z.number(), repeats: z.number() })
    .optional(),
});

/**
 * Everything the limiter has learned about one key, in one plain record: what the functions of transitions.ts turn into
 * the next one, what the history is made of, and what processes share. Times are milliseconds of the limiter's clock.
 */
export const limiterState = z.object({
  /** Requests per minute, from the options or from `quota`; Infinity for unknown. */
  configured: orInfinity,
  /** The limit in use: the configured one, a learned one, or this process's share of it. */
  limit: orInfinity,
  inFlight: z.number(),
  /** `unknown`: nothing was refused; `learning`: the answers after the gate will tell the window; `known`: they have. */
  phase: z.enum(['unknown', 'learning', 'known']),
  window: windowState,
  hypothesis: hypothesisState,
  gate: gateState,
  probe: probeState,
  burst: burstState,
  unit: unitState,
  roundTrips: z.object({ shortestMs: orInfinity, longestMs: z.number() }),
  /** How far the server's clock is ahead of ours. */
  serverAhead: z.object({ atLeast: orMinusInfinity, atMost: orInfinity }),
  /** When a `Date` header was last read. */
  datedAt: orMinusInfinity,
  /** When the window became known. */
  knownSince: z.number(),
  /** Accepted requests before the first refusal: the capacity of a bucket. */
  firstBurst: z.number(),
  /** Whether the first refusal came after nearly the whole configured limit: then this process has all of it. */
  isWhole: z.boolean(),
  /** Whether answers that arrive after the first refusal still raise the limit learned from it. */
  countsLateAnswers: z.boolean(),
  /** The service asked for a wait that is too long to wait for: nothing is sent before this time. */
  blockedUntil: orMinusInfinity,
  log: z.array(z.number()).transform((saved) => new AcceptedLog(saved)),
});

export type LimiterState = Readonly<z.output<typeof limiterState>>;
export type Hypothesis = Readonly<LimiterState['hypothesis']>;

/** A hypothesis that starts with a refusal at `now`; its gate is still to be set. */
export function newHypothesis(now: number): Hypothesis {
  return {
    startedAt: now,
    exhaustedAt: now,
    opensAt: 0,
    boundaryAfter: 0,
    hint: 'none',
    isOwnSlot: false,
    tries: 0,
  };
}

export function hasConfiguredLimit({ configured }: LimiterState): boolean {
  return configured !== Number.POSITIVE_INFINITY;
}

/** Whether the process uses less than the configured limit: others may have left some of it. */
export function isBelowConfigured({ window, limit, configured }: LimiterState): boolean {
  return (window.kind === 'bucket' ? window.perMs * 60_000 : limit) < configured;
}
