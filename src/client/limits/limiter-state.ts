import { AcceptedLog } from './accepted-log.ts';

/** Increased when the record below changes: versions of the package with different records do not share a limit. */
export const LIMITER_STATE_VERSION = 5;

/** How the server counts requests, as learned from its responses: see window.ts. */
export type WindowState =
  | { readonly kind: 'log' }
  | {
      readonly kind: 'fixed';
      readonly startsAt: number;
      readonly guardMs: number;
      /** `testing`: the first boundary after the window became known, which tests the assumption. */
      readonly boundary: 'assumed' | 'testing' | 'confirmed';
    }
  | {
      readonly kind: 'bucket';
      readonly perMs: number;
      readonly capacity: number;
      readonly tokens: number;
      readonly at: number;
    };

/** What a refusal suggests about the window, until the responses after the gate opens confirm or contradict it. */
export interface Hypothesis {
  /** The refusal that ended a run of accepted requests. */
  readonly startedAt: number;
  /** Time of the last refusal, when the server had no slot left. */
  readonly exhaustedAt: number;
  /** Time at which the gate opens: a fixed window starts between it and the first request accepted after it. */
  readonly opensAt: number;
  readonly hint: 'long' | 'short' | 'none';
  /** Whether the gate opens when our own oldest request expires. */
  readonly isOwnSlot: boolean;
  /** Attempts without a usable hint. */
  readonly tries: number;
}

/** See grant.ts. */
export interface GateState {
  readonly opensAt: number;
  /** Responses to requests sent before this time have no new information. */
  readonly staleBefore: number;
  /** The gate has opened, and the first request since has no response yet. */
  readonly isHalfOpen: boolean;
  readonly wasClosed: boolean;
  /** Requests accepted since the gate opened. */
  readonly accepted: number;
  /** Refusals minus the accepted requests since, at least 0. */
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
  /** Time at which a bucket was last empty; Infinity if it was full after that. */
  readonly emptyAt: number;
  /** Accepted requests of the gate at that time. */
  readonly acceptedAtEmpty: number;
}

/** See burst-limit.ts. */
export interface BurstState {
  /** Requests per `periodMs`; Infinity for no such limit. */
  readonly calls: number;
  readonly periodMs: number;
  /** The learned number. `calls` grows beyond it, to test whether the limit is higher. */
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
 * Everything the limiter has learned about one key, in one plain record. The functions of transitions.ts return the
 * next record, the history shows its changes, and processes share it. Times are milliseconds of the limiter's clock.
 */
export interface LimiterState {
  /** Requests per minute, from the options or from `quota`; Infinity for unknown. */
  readonly configured: number;
  /** Time at which the configured limit was read; -Infinity for never. */
  readonly configuredAt: number;
  /** Whether a request was refused long before that limit was used up. */
  readonly isContradicted: boolean;
  /** The limit in use: the configured one, a learned one, or this process's share of it. */
  readonly limit: number;
  readonly inFlight: number;
  /**
   * `unknown`: nothing was refused; `learning`: the responses after the gate opens will show the window; `known`: they
   * have.
   */
  readonly phase: 'unknown' | 'learning' | 'known';
  readonly window: WindowState;
  readonly hypothesis: Hypothesis;
  readonly gate: GateState;
  readonly probe: ProbeState;
  readonly burst: BurstState;
  readonly unit: RetryAfterUnitState;
  readonly roundTrips: { readonly shortestMs: number; readonly longestMs: number };
  /** Milliseconds by which the server's clock is ahead of ours. */
  readonly serverAhead: { readonly atLeast: number; readonly atMost: number };
  /** Time at which a `Date` header was last read. */
  readonly datedAt: number;
  /** Accepted requests before the first refusal: the capacity of a bucket. */
  readonly firstBurst: number;
  /** Whether the first refusal came after nearly the whole configured limit: this process then has all of it. */
  readonly isWhole: boolean;
  /** Whether responses that arrive after the first refusal still raise the limit learned from it. */
  readonly countsLateAnswers: boolean;
  /** The service asked for a wait longer than `maxRetryAfterMs`: nothing is sent before this time. */
  readonly blockedUntil: number;
  readonly log: AcceptedLog;
}

/**
 * Returns a mutable copy. The fields are written out, because each request makes two copies, and a spread of so many
 * fields takes thirty times as long.
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
    firstBurst: state.firstBurst,
    isWhole: state.isWhole,
    countsLateAnswers: state.countsLateAnswers,
    blockedUntil: state.blockedUntil,
    log: state.log,
  };
}

const WINDOW_EXAMPLES: readonly WindowState[] = [
  { kind: 'log' },
  { kind: 'fixed', startsAt: 0, guardMs: 0, boundary: 'assumed' },
  { kind: 'bucket', perMs: 0, capacity: 0, tokens: 0, at: 0 },
];
const TRIAL_EXAMPLE = { value: 0, refusedAt: 0, endsAt: 0, refusals: 0, repeats: 0 };

/**
 * Reads a state that was written as JSON. It must have the shape of `example`, an initial state; JSON writes infinity
 * as null. An example is faster than a schema: each command, which runs for a tenth of a second, reads a state.
 *
 * @throws TypeError for any other shape
 */
export function parseLimiterState(value: unknown, example: LimiterState): LimiterState {
  const { log, window, unit, ...rest } = requireRecord(value, 'state');
  const { log: _log, window: _window, unit: _unit, ...plain } = example;
  const { kind } = requireRecord(window, 'window');
  const windowExample = WINDOW_EXAMPLES.find((known) => known.kind === kind);
  const { evidence, trial } = requireRecord(unit, 'unit');
  return {
    ...likeExample(rest, plain, 'state'),
    window: likeExample(window, windowExample, 'window'),
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

/** A hypothesis that starts with a refusal at `now`, before the time of its gate is set. */
export function newHypothesis(now: number): Hypothesis {
  return {
    startedAt: now,
    exhaustedAt: now,
    opensAt: 0,
    hint: 'none',
    isOwnSlot: false,
    tries: 0,
  };
}

export function hasConfiguredLimit({ configured }: LimiterState): boolean {
  return configured !== Number.POSITIVE_INFINITY;
}

/** Whether the process uses less than the configured limit: others may not use the rest. */
export function isBelowConfigured({ window, limit, configured }: LimiterState): boolean {
  return (window.kind === 'bucket' ? window.perMs * 60_000 : limit) < configured;
}
