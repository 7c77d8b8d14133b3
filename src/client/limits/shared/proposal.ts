import { WINDOW_MS } from '../accepted-log.ts';
import { learnBurstLimit } from '../burst-limit.ts';
import { addInFlight, advance, closeGate, type Grant, grant, knownSlots, stayClosedUntil } from '../grant.ts';
import { type LimiterSettings, startingState } from '../limiter-core.ts';
import type { LimiterState } from '../limiter-state.ts';
import { applyReport, isLimitWanted, type Report } from '../transitions.ts';
import type { Lease, SharedState } from './store-exchange.ts';

/** A process that has not written for this long is dead; attempts take less time. */
const LEASE_MS = 30_000;
/** A process that waited this recently still waits. */
const WAITS_MS = 2_000;
/** A hint up to this is the time until one slot is free; a longer one can be the end of a window. */
const ONE_SLOT_MS = 2_500;
/** Longest duration of a `quota()` call for the limit, which may have to wait for the next window. */
const QUOTA_CALL_MS = WINDOW_MS;

const NO_LEASE: Lease = { inFlight: 0, waiting: 0, seenAt: 0, askedAt: 0 };

export interface ProposalParts {
  readonly settings: LimiterSettings;
  /** The id of this process in the store. */
  readonly id: string;
  /** The state that was last read from the store. */
  readonly known: SharedState | undefined;
  /** Calls of this process in flight, without those that `reports` end. */
  readonly inFlight: number;
  /** Reports that are not in the store yet, in the time of the store. */
  readonly reports: readonly Report[];
  /** Number of calls that this process can send now. */
  readonly wanted: number;
  /** Number of its waiting calls, including those that it cannot send yet. */
  readonly queued: number;
  /** The end of the longest Retry-After of this process, which the store may have lost. */
  readonly refusedUntil: number;
  /** The store's time. */
  readonly now: number;
}

/**
 * The next state that a process offers to the store, and the number of calls that it may send when the state is
 * written.
 */
export interface Proposal {
  readonly state: SharedState;
  readonly grant: Grant;
  /** Whether this process, and no other, must call `quota()` for the limit. */
  readonly asks: boolean;
  /** Number of reports in the state. */
  readonly reported: number;
  readonly isNews: boolean;
}

/** The report with its times in a clock that is `byMs` ahead. */
export function shiftReport(report: Report, byMs: number): Report {
  const now = report.now + byMs;
  return report.kind === 'configured' ? { ...report, now } : { ...report, now, sentAt: report.sentAt + byMs };
}

/** Applies the reports of this process to the shared state, and requests a grant for its calls. Pure. */
export function propose(parts: ProposalParts): Proposal {
  const { settings, id, known, inFlight, reports, wanted } = parts;
  const { at: since, leases: before } = known ?? { at: Number.NEGATIVE_INFINITY, leases: {} };
  const now = Math.max(parts.now, since);
  const leases = new Map(Object.entries(before));
  const own = leases.get(id) ?? NO_LEASE;
  const dead = reclaimDead(leases, { id, now });
  // The log is changed in place, and the known state is needed again if another process writes first.
  let limit = startingState(settings, known && { ...known.limit, log: known.limit.log.copy() });
  // Zero, except after an outage of the store, or if the other processes assumed that this one was dead.
  limit = addInFlight(limit, inFlight + reports.filter(({ kind }) => kind !== 'configured').length - own.inFlight);
  for (const report of [...dead.reports, ...reports.map((report) => respondedBetween(report, since, now))]) {
    limit = applyReport(limit, report, settings);
  }
  limit = { ...limit, gate: stayClosedUntil(limit.gate, parts.refusedUntil) };
  const contenders = contendersOf(leases, id, now);
  const share = fairShare(limit, contenders.length + 1, now);
  const granted = grant(limit, { now, wanted: Math.min(wanted, share), mayProbe: settings.probe });
  const { count } = granted.grant;
  const waiting = wanted - count;
  const queued = contenders.reduce((sum, lease) => sum + lease.waiting, parts.queued - count);
  const isWanted = settings.perMinute === 'learn' && isLimitWanted(granted.state, { now, waiting: queued });
  const asks = isWanted && !isAsked(leases, id, now);
  leases.set(id, { inFlight: inFlight + count, waiting, seenAt: now, askedAt: asks ? now : own.askedAt });
  const beginsToWait = waiting > 0 && own.waiting === 0;
  return {
    state: { at: now, limit: granted.state, leases: Object.fromEntries(leases) },
    // If its share is used, the grant has no time to ask again: the process checks soon whether others used the rest.
    grant: granted.grant,
    reported: reports.length,
    asks,
    isNews: asks || beginsToWait || reports.length + count + dead.processes > 0,
  };
}

/** The state with which one of several processes continues when the store fails: an equal share of everything. */
export function shareOf(
  state: LimiterState,
  { processes, inFlight, now }: { readonly processes: number; readonly inFlight: number; readonly now: number },
): LimiterState {
  const { window, limit, log, phase, configured, gate, hypothesis } = state;
  const isBucket = window.kind === 'bucket';
  // Facts about the whole limit do not apply to a share: learning starts again, with one request.
  const isKnown = phase === 'known';
  const waitMs =
    phase === 'learning' && hypothesis.hint !== 'none' ? hypothesis.opensAt - hypothesis.exhaustedAt : undefined;
  return {
    ...state,
    inFlight,
    burst: isKnown ? state.burst : takeTurns(state, { now, waitMs }, processes).burst,
    phase: isKnown ? phase : 'unknown',
    gate: isKnown || processes === 1 ? gate : closeGate(gate, gate.opensAt),
    countsLateResponses: false,
    // In a known window a share may grow, because probes find what the others leave unused.
    configured: isKnown ? configured : shareOfLimit(configured, processes),
    limit: shareOfLimit(isKnown ? limit : configured, processes),
    log: log.copy(processes),
    window: isBucket
      ? {
          ...window,
          perMs: window.perMs / processes,
          capacity: Math.max(1, window.capacity / processes),
          tokens: window.tokens / processes,
        }
      : window,
  };
}

/**
 * After a refusal with a short hint, when `processes` processes learn the limit alone: each sends one request per
 * `processes` times that hint. The hint is the time until one slot is free, and it is the same for every process.
 */
export function takeTurns(
  state: LimiterState,
  { now, waitMs = Number.POSITIVE_INFINITY }: { readonly now: number; readonly waitMs?: number | undefined },
  processes: number,
): LimiterState {
  if (waitMs > ONE_SLOT_MS || processes === 1) return state;
  const periodMs = waitMs * processes;
  return {
    ...state,
    gate: stayClosedUntil(state.gate, now + periodMs),
    burst: learnBurstLimit(state.burst, { calls: 1, periodMs, now }),
  };
}

/** An equal part of a limit, at least one request per minute. */
export function shareOfLimit(perMinute: number, processes: number): number {
  return Math.max(1, Math.floor(perMinute / processes));
}

/** Whether a process that has not ended called `quota()` for the limit, and its response can still arrive. */
function isAsked(leases: ReadonlyMap<string, Lease>, id: string, now: number): boolean {
  return [...leases].some(([name, { askedAt, inFlight, waiting }]) => {
    return now - askedAt < QUOTA_CALL_MS && (name === id || inFlight > 0 || waiting > 0);
  });
}

/** The other processes that wait. */
function contendersOf(leases: ReadonlyMap<string, Lease>, id: string, now: number): Lease[] {
  const others = [...leases].filter(([name]) => name !== id).map(([, lease]) => lease);
  return others.filter(({ waiting, seenAt }) => waiting > 0 && now - seenAt < WAITS_MS);
}

/** While others also wait, a process uses only its part of the free slots. */
function fairShare(state: LimiterState, processes: number, now: number): number {
  if (processes === 1) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(knownSlots(advance(state, now), now) / processes));
}

/** Removes dead processes. The service may have counted their requests in flight. */
function reclaimDead(leases: Map<string, Lease>, { id, now }: { readonly id: string; readonly now: number }) {
  const dead = [...leases].filter(([name, { seenAt }]) => name !== id && now - seenAt >= LEASE_MS);
  for (const [name] of dead) leases.delete(name);
  const reports = dead.flatMap(([, { inFlight, seenAt }]) => {
    const sentAt = Math.max(seenAt, now - WINDOW_MS);
    return new Array<Report>(inFlight).fill({ kind: 'lost', now, sentAt, isProbe: false });
  });
  return { processes: dead.length, reports };
}

/** A response that arrived while another process wrote counts as later than that write: all processes see one order. */
function respondedBetween(report: Report, earliest: number, latest: number): Report {
  // A refusal during an outage says only how long to wait, and that counts from its response. A limit has no order.
  if (report.kind === 'configured' || (report.kind === 'refused' && report.isOfShare)) return report;
  return { ...report, now: Math.min(latest, Math.max(earliest, report.now)) };
}
