import * as z from 'zod';

/** Raised when the shape below changes: versions of the package that differ in it share nothing. */
export const SAVED_LIMIT_VERSION = 1;

/** JSON has no infinity: it is written as null. */
const orNever = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.POSITIVE_INFINITY);
const orEver = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NEGATIVE_INFINITY);

const savedWindow = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('log') }),
  z.object({ kind: z.literal('fixed'), startsAt: z.number(), guardMs: z.number() }),
  z.object({
    kind: z.literal('bucket'),
    perMs: z.number(),
    capacity: z.number(),
    tokens: z.number(),
    at: z.number(),
  }),
]);

const savedTrial = z.object({
  startedAt: z.number(),
  exhaustedAt: z.number(),
  opensAt: z.number(),
  boundaryAfter: z.number(),
  hint: z.enum(['long', 'short', 'none']),
  isOwnSlot: z.boolean(),
  tries: z.number(),
});

const savedGate = z.object({
  opensAt: orEver,
  newsFrom: orEver,
  isHalfOpen: z.boolean(),
  wasClosed: z.boolean(),
  accepted: z.number(),
  pressure: z.number(),
});

const savedGrowth = z.object({
  step: z.number(),
  acceptedAtStep: z.number(),
  train: z.number(),
  outstanding: z.number(),
  dueAt: z.number(),
  pauseMs: z.number(),
});

const savedBeliefs = z.object({
  /** Of each accepted call: milliseconds since the answer before it, and its round trip. */
  log: z.array(z.number()),
  gate: savedGate,
  growth: savedGrowth,
  perSecond: orNever,
  roundTrips: z.object({ shortestMs: orNever, longestMs: z.number() }),
  serverAhead: z.object({ atLeast: orEver, atMost: orNever }),
  told: orNever,
  limit: orNever,
  inFlight: z.number(),
  phase: z.enum(['free', 'trying', 'sure']),
  window: savedWindow,
  trial: savedTrial,
  knownAt: z.number(),
  firstBurst: z.number(),
  isAlone: z.boolean(),
  countsLateAnswers: z.boolean(),
});

const savedUnit = z.object({
  evidence: z.enum(['assumed', 'on-trial', 'confirmed', 'refuted', 'set']),
  trial: z.object({ value: z.number(), refusedAt: z.number(), endsAt: z.number(), countdowns: z.number() }).optional(),
  moment: z.object({ startedAt: z.number(), values: z.array(z.number()) }),
});

/** All that was learned about one key's limit, as JSON can hold it: what processes share. */
export const savedLimit = z.object({ beliefs: savedBeliefs, unit: savedUnit, datedAt: orEver });

export type SavedLimit = z.infer<typeof savedLimit>;
export type SavedBeliefs = z.infer<typeof savedBeliefs>;
export type SavedGate = z.infer<typeof savedGate>;
export type SavedGrowth = z.infer<typeof savedGrowth>;
export type SavedUnit = z.infer<typeof savedUnit>;
