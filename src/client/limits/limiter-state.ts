import { AcceptedLog } from './accepted-log.ts';
import type { BurstLimit } from './burst-limit.ts';
import type { ServerAhead, UnitState } from './retry-after.ts';
import type { Window } from './window.ts';

/** Increased when the record below changes: versions of the package with different records do not share a limit. */
export const LIMITER_STATE_VERSION = 8;

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

/**
 * The gate: every refusal closes it for all calls. When it opens, one request is sent first, then one more than were
 * accepted since, which doubles per round trip. A gate that opened too early then costs one refusal, not one per
 * waiting call.
 */
export interface Gate {
  readonly opensAt: number;
  /** Responses to requests sent before this time have no new information. */
  readonly staleBefore: number;
  readonly wasClosed: boolean;
  /** Requests accepted since the gate opened. */
  readonly accepted: number;
  /** Refusals minus the accepted requests since, at least 0. */
  readonly pressure: number;
}

/**
 * Tests whether a share that is smaller than the limit can be larger. In a window, the probe sends requests beyond the
 * known slots: first one, then twice as many after each batch that was completely accepted, until one is refused. A
 * bucket raises its rate instead.
 */
export interface CapacityProbe {
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
  /** The rate of a bucket when it was last refused; 0 if never. */
  readonly refusedPerMs: number;
}

/**
 * Everything the limiter has learned about one key, in one plain record. The functions of transitions.ts return the
 * next record, the history shows its changes, and processes share it. Times are milliseconds of the limiter's clock.
 */
export interface LimiterState {
  /** Requests per minute, from the options or from `quota`; Infinity for unknown. */
  readonly configured: number;
  /** Time at which the configured limit was read; -Infinity if never, or if a request was refused long before it was used up. */
  readonly configuredAt: number;
  /** The limit in use: the configured one, a learned one, or this process's share of it. */
  readonly limit: number;
  readonly inFlight: number;
  /**
   * `unknown`: nothing was refused; `learning`: the responses after the gate opens will show the window; `known`: they
   * have.
   */
  readonly phase: 'unknown' | 'learning' | 'known';
  readonly window: Window;
  readonly hypothesis: Hypothesis;
  readonly gate: Gate;
  readonly probe: CapacityProbe;
  readonly burst: BurstLimit;
  readonly unit: UnitState;
  readonly roundTrips: { readonly shortestMs: number; readonly longestMs: number };
  readonly serverAhead: ServerAhead;
  /** Time at which a `Date` header was last read. */
  readonly datedAt: number;
  /** Accepted requests before the first refusal: the capacity of a bucket. */
  readonly firstBurst: number;
  /** Whether responses that arrive after the first refusal still raise the limit learned from it. */
  readonly countsLateResponses: boolean;
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
    countsLateResponses: state.countsLateResponses,
    blockedUntil: state.blockedUntil,
    log: state.log,
  };
}

/** Bounds of the measured jitter: a smaller one is a coincidence, a larger one a slow server. */
const JITTER_AT_LEAST_MS = 50;
const JITTER_AT_MOST_MS = 1_000;

const WINDOW_EXAMPLES: readonly Window[] = [
  { kind: 'log' },
  { kind: 'fixed', startsAt: 0, guardMs: 0, boundary: 'assumed' },
  { kind: 'bucket', perMs: 0, capacity: 0, tokens: 0, at: 0 },
];

/**
 * Reads a state that was written as JSON. It must have the shape of `example`, an initial state; JSON writes infinity
 * as null. An example is faster than a schema: each command, which runs for a tenth of a second, reads a state.
 *
 * @throws TypeError for any other shape
 */
export function parseLimiterState(value: unknown, example: LimiterState): LimiterState {
  const { log, window, ...rest } = requireRecord(value, 'state');
  const { log: _log, window: _window, ...plain } = example;
  const { kind } = requireRecord(window, 'window');
  return {
    ...likeExample(rest, plain, 'state'),
    window: likeExample(
      window,
      WINDOW_EXAMPLES.find((known) => known.kind === kind),
      'window',
    ),
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
  return { startedAt: now, exhaustedAt: now, opensAt: 0, hint: 'none', isOwnSlot: false, tries: 0 };
}

/** The time before which no request is sent, because of a refusal. */
export function closedUntil({ gate, blockedUntil }: LimiterState): number {
  return Math.max(gate.opensAt, blockedUntil);
}

/** Milliseconds by which a request may arrive earlier than planned, relative to others. */
export function jitterMs({ roundTrips: { shortestMs, longestMs } }: LimiterState): number {
  return Math.min(JITTER_AT_MOST_MS, Math.max(JITTER_AT_LEAST_MS, longestMs - shortestMs));
}

export function hasConfiguredLimit({ configured }: LimiterState): boolean {
  return configured !== Number.POSITIVE_INFINITY;
}

/** Whether the process uses less than the configured limit: others may not use the rest. */
export function isBelowConfigured({ window, limit, configured }: LimiterState): boolean {
  return (window.kind === 'bucket' ? window.perMs * 60_000 : limit) < configured;
}
