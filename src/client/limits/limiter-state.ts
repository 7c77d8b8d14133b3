import { AcceptedLog } from './accepted-log.ts';

/** Raised when the record below changes: versions of the package that differ in it share nothing. */
export const LIMITER_STATE_VERSION = 4;

/** How the server counts, as far as its answers have shown: see window.ts. */
export type WindowState =
  | { readonly kind: 'log' }
  | {
      readonly kind: 'fixed';
      readonly startsAt: number;
      readonly guardMs: number;
      /** The first boundary after the window became known is `testing` the assumption. */
      readonly boundary: 'assumed' | 'testing' | 'confirmed';
    }
  | {
      readonly kind: 'bucket';
      readonly perMs: number;
      readonly capacity: number;
      readonly tokens: number;
      readonly at: number;
    };

/** What a refusal suggests about the window, until the answers after the gate confirm or contradict it. */
export interface Hypothesis {
  /** The refusal that ended a run of accepted requests. */
  readonly startedAt: number;
  /** The last refusal: at this time the server had no slot left. */
  readonly exhaustedAt: number;
  readonly opensAt: number;
  /** The boundary of a fixed window lies between this time and the first request accepted after it. */
  readonly boundaryAfter: number;
  readonly hint: 'long' | 'short' | 'none';
  /** The gate opens when our own oldest request expires. */
  readonly isOwnSlot: boolean;
  /** Attempts without a usable hint. */
  readonly tries: number;
}

/** See grant.ts. */
export interface GateState {
  readonly opensAt: number;
  /** Answers to requests sent before this time say nothing new. */
  readonly staleBefore: number;
  /** Open again, and the first request since then has not been answered. */
  readonly isHalfOpen: boolean;
  readonly wasClosed: boolean;
  /** Requests accepted since the gate opened. */
  readonly accepted: number;
  /** Refusals that no accepted request has made up for. */
  readonly pressure: number;
}

/** See capacity-probe.ts. */
export interface ProbeState {
  /** Requests that the next probe sends. */
  readonly batch: number;
  readonly outstanding: number;
  readonly dueAt: number;
  readonly pauseMs: number;
  /** Factor by which the rate of a bucket grows next. */
  readonly step: number;
  readonly acceptedAtStep: number;
  /** When a bucket was empty, if it was never full since: else Infinity. */
  readonly emptyAt: number;
  /** Accepted requests of the gate at that time. */
  readonly acceptedAtEmpty: number;
}

/** See burst-limit.ts. */
export interface BurstState {
  /** Requests per `periodMs`; Infinity for no such limit. */
  readonly calls: number;
  readonly periodMs: number;
  /** The number that was learned: `calls` grows beyond it to try for more. */
  readonly proven: number;
  readonly growsAt: number;
  readonly pauseMs: number;
}

/** See retry-after.ts. */
export interface RetryAfterUnitState {
  readonly evidence: 'assumed' | 'on-trial' | 'confirmed' | 'refuted';
  readonly trial?:
    | {
        readonly value: number;
        readonly refusedAt: number;
        readonly endsAt: number;
        readonly refusals: number;
        readonly repeats: number;
      }
    | undefined;
}

/**
 * Everything the limiter has learned about one key, in one plain record: what the functions of transitions.ts turn into
 * the next one, what the history is made of, and what processes share. Times are milliseconds of the limiter's clock.
 */
export interface LimiterState {
  /** Requests per minute, from the options or from `quota`; Infinity for unknown. */
  readonly configured: number;
  /** When the configured limit was read; -Infinity for never. */
  readonly configuredAt: number;
  /** Whether a refusal came long before that limit was used up. */
  readonly isContradicted: boolean;
  /** The limit in use: the configured one, a learned one, or this process's share of it. */
  readonly limit: number;
  readonly inFlight: number;
  /** `unknown`: nothing was refused; `learning`: the answers after the gate will tell the window; `known`: they have. */
  readonly phase: 'unknown' | 'learning' | 'known';
  readonly window: WindowState;
  readonly hypothesis: Hypothesis;
  readonly gate: GateState;
  readonly probe: ProbeState;
  readonly burst: BurstState;
  readonly unit: RetryAfterUnitState;
  readonly roundTrips: { readonly shortestMs: number; readonly longestMs: number };
  /** How far the server's clock is ahead of ours. */
  readonly serverAhead: { readonly atLeast: number; readonly atMost: number };
  /** When a `Date` header was last read. */
  readonly datedAt: number;
  /** When the window became known. */
  readonly knownSince: number;
  /** Accepted requests before the first refusal: the capacity of a bucket. */
  readonly firstBurst: number;
  /** Whether the first refusal came after nearly the whole configured limit: then this process has all of it. */
  readonly isWhole: boolean;
  /** Whether answers that arrive after the first refusal still raise the limit learned from it. */
  readonly countsLateAnswers: boolean;
  /** The service asked for a wait that is too long to wait for: nothing is sent before this time. */
  readonly blockedUntil: number;
  readonly log: AcceptedLog;
}

/**
 * A copy whose fields can be set. Written out, because each request makes two: a spread of so many fields takes thirty
 * times as long.
 */
export function copyState(state: LimiterState): { -readonly [Field in keyof LimiterState]: LimiterState[Field] } {
  return {
    configured: state.configured,
    configuredAt: state.configuredAt,
    isContradicted: state.isContradicted,
    limit: state.limit,
    inFlight: state.inFlight,
    phase: state.phase,
    window: state.window,
    hypothesis: state.hypothesis,
    gate: state.gate,
    probe: state.probe,
    burst: state.burst,
    unit: state.unit,
    roundTrips: state.roundTrips,
    serverAhead: state.serverAhead,
    datedAt: state.datedAt,
    knownSince: state.knownSince,
    firstBurst: state.firstBurst,
    isWhole: state.isWhole,
    countsLateAnswers: state.countsLateAnswers,
    blockedUntil: state.blockedUntil,
    log: state.log,
  };
}

const WINDOW_EXAMPLES: Readonly<Record<string, WindowState>> = {
  log: { kind: 'log' },
  fixed: { kind: 'fixed', startsAt: 0, guardMs: 0, boundary: 'assumed' },
  bucket: { kind: 'bucket', perMs: 0, capacity: 0, tokens: 0, at: 0 },
};
const TRIAL_EXAMPLE = { value: 0, refusedAt: 0, endsAt: 0, refusals: 0, repeats: 0 };

/**
 * Reads a state that was written as JSON. It must have the shape of `example`, an initial state; JSON writes infinity as
 * null. By example and not by a schema: commands that live for a tenth of a second read one each.
 *
 * @throws TypeError for any other shape
 */
export function parseLimiterState(value: unknown, example: LimiterState): LimiterState {
  const { log, window, unit, ...rest } = requireRecord(value, 'state');
  const { log: _log, window: _window, unit: _unit, ...plain } = example;
  const kind = String(requireRecord(window, 'window')['kind']);
  const { evidence, trial } = requireRecord(unit, 'unit');
  return {
    ...likeExample(rest, plain, 'state'),
    window: likeExample(window, WINDOW_EXAMPLES[kind], 'window'),
    unit: {
      evidence: likeExample(evidence, example.unit.evidence, 'unit.evidence'),
      trial: trial === undefined ? undefined : likeExample(trial, TRIAL_EXAMPLE, 'unit.trial'),
    },
    log: new AcceptedLog(requireNumbers(log)),
  };
}

function likeExample<Shape>(value: unknown, example: Shape | undefined, name: string): Shape {
  if (typeof example === 'object' && example !== null) {
    const record = requireRecord(value, name);
    const entries = Object.entries(example).map(([key, part]) => [
      key,
      likeExample(record[key], part, `${name}.${key}`),
    ]);
    return Object.fromEntries(entries) as Shape; // each part was compared with the example
  }
  if (value === null && typeof example === 'number' && !Number.isFinite(example)) return example;
  if (typeof value !== typeof example || value === undefined) throw new TypeError(`${name} is ${String(value)}`);
  return value as Shape; // it has the same type as the example
}

function requireRecord(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${name} is ${String(value)}, not a record`);
  return value as Readonly<Record<string, unknown>>;
}

function requireNumbers(value: unknown): readonly number[] {
  if (Array.isArray(value) && value.every((part) => typeof part === 'number')) return value;
  throw new TypeError('log is not a list of numbers');
}

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
