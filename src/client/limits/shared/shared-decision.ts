import { type Demand, type Grant, LocalLimit, type Wanted } from '../key-limit.ts';
import { type Report, stayClosedUntil } from '../limit-rules.ts';
import {
  addInFlight,
  copyOf,
  isUnknown,
  type LimiterSettings,
  type LimiterState,
  UNBOUNDED,
  WINDOW_MS,
} from '../limit-state.ts';
import type { Lease, SharedState } from './store-exchange.ts';

/** A process that has not written for this long is dead; usual attempts take less time. */
const LEASE_MS = 30_000;
/** A process that waits writes this often, and has ended if it has missed two writes. */
const WAITING_MS = 5_000;

const NO_LEASE: Lease = { inFlight: 0, waiting: 0, low: 0, seenAt: 0, askedAt: 0, reported: 0 };

/** The reports of a process are numbered from 1: a write whose reply is lost is still known by the last number in it. */
export type NumberedReport = Report & { readonly number: number };

/** The part of one process: its new reports, its demand and its settings. All times are those of the store. */
export interface OwnPart {
  readonly id: string;
  /** Those that are not in the store, as far as this process knows. */
  readonly reports: readonly NumberedReport[];
  readonly demand: Demand;
  /** Number of requests that were granted and not reported yet. */
  readonly inFlight: number;
  readonly settings: LimiterSettings;
  /** The ends of the longest waits that this process was asked for. A store that fails over can lose a refusal. */
  readonly refusedUntil: number;
  readonly blockedUntil: number;
  /** Whether it has ended its calls: then nothing of it stays in the state. */
  readonly isClosed: boolean;
}

/** The next state that a process offers to the store, and the calls that it may send when the state is written. */
export interface Decision {
  readonly state: SharedState;
  readonly grant: Grant;
  /** Whether this process, and no other, must call `quota()` for the limit. */
  readonly asks: boolean;
  /** The number of the last report that the state has. */
  readonly reported: number;
  readonly isNews: boolean;
}

/**
 * Applies the reports of one process to the shared state, and requests a grant for its calls. `shared`: the state in the
 * store, which stays unchanged. `storeNow`: the time of the store.
 */
export function decide(shared: SharedState | undefined, given: OwnPart, storeNow: number): Decision {
  const { id, demand, inFlight, settings, isClosed } = given;
  const now = Math.max(storeNow, shared?.at ?? 0);
  const before = shared?.leases[id] ?? NO_LEASE;
  const own = { ...given, reports: given.reports.filter(({ number }) => number > before.reported) };
  const leases = leasesFor(shared, own);
  const dead = reclaimDead(leases, { id, now });
  // Zero, except after an outage of the store, or if the other processes assumed that this one was dead.
  const missing = inFlight + own.reports.filter(isResult).length - before.inFlight;
  const limit = withReports(shared, { ...own, reports: [...own.reports, ...dead] }, { missing, now });
  const sharers = sharersOf(leases, { id, now, isLow: demand.low === demand.wanted });
  const index = sharers.findIndex(([name]) => name === id);
  const share = shareAt(index, sharers.length, limit.freeSlots(now));
  const grant = limit.grant(now, atMost(Math.min(share, roomUnder(limit.state, settings)), demand));
  const { count } = grant;
  const waiting = demand.wanted - count;
  const low = Math.min(demand.low, waiting);
  const queued = sharers.reduce((sum, [name, lease]) => sum + (name === id ? 0 : lease.waiting), demand.queued - count);
  // The call that is sent now calls `quota()`: a process without a grant would do so only after its first one.
  const asks = count > 0 && limit.isWanted(now, queued) && !isAsked(leases, now);
  const isChanged = count > 0 || waiting > 0 !== before.waiting > 0 || waiting > low !== before.waiting > before.low;
  if (count > 0) leases.delete(id); // it is served, and goes to the end of the order
  const { number: reported } = own.reports.at(-1) ?? { number: before.reported };
  const askedAt = asks ? now : before.askedAt;
  leases.set(id, { inFlight: inFlight + count, waiting, low, seenAt: now, askedAt, reported });
  const hasLeft = isClosed && inFlight + count === 0 && leases.delete(id);
  const isDue = waiting > 0 && now - before.seenAt >= WAITING_MS;
  return {
    state: { at: now, limit: limit.state, leases: Object.fromEntries(leases) },
    // If its share is used, the grant has no time to ask again: the process checks soon whether others used the rest.
    grant,
    asks,
    reported,
    isNews: hasLeft || isChanged || isDue || missing !== 0 || own.reports.length + dead.length > 0,
  };
}

/** The leases in the order in which their processes were last served, or first seen. */
function leasesFor(shared: SharedState | undefined, { id, reports, demand }: OwnPart): Map<string, Lease> {
  const stored = Object.entries(shared?.leases ?? {});
  // Returns to the head of the order: its slot was refused, or its only call waits because of a `quota()` for all.
  const isFirst = reports.some(({ kind }) => kind === 'refused' || (kind === 'configured' && demand.wanted === 1));
  const leases = new Map<string, Lease>(isFirst ? [[id, NO_LEASE], ...stored] : stored);
  leases.set(id, leases.get(id) ?? NO_LEASE);
  return leases;
}

/** The shared limit after the reports. `missing`: requests of this process in flight that the state does not have. */
function withReports(
  shared: SharedState | undefined,
  {
    reports,
    settings,
    refusedUntil,
    blockedUntil: until,
  }: Omit<OwnPart, 'reports'> & { readonly reports: readonly Report[] },
  { missing, now }: { readonly missing: number; readonly now: number },
): LocalLimit {
  // The log is changed in place, and the known state is needed again if another process writes first.
  const limit = new LocalLimit(settings, shared && copyOf(shared.limit));
  limit.state = addInFlight(limit.state, missing);
  for (const report of reports) limit.report(respondedBetween(report, shared?.at ?? 0, now));
  const { gate, blockedUntil } = limit.state;
  limit.state = {
    ...limit.state,
    gate: stayClosedUntil(gate, refusedUntil),
    blockedUntil: Math.max(blockedUntil, until),
  };
  return limit;
}

/** Whether a report is about a request that was granted. */
export function isResult(report: Report): boolean {
  return 'sentAt' in report;
}

/** A response that arrived while another process wrote counts as later than that write: all processes see one order. */
function respondedBetween(report: Report, earliest: number, latest: number): Report {
  // The wait of a refusal counts from its response.
  const from = report.kind === 'refused' ? report.now : Math.max(earliest, report.now);
  return { ...report, now: Math.min(latest, from) };
}

/** Whether a process called `quota()` for the limit, and its response can still arrive: it may wait for the next window. */
function isAsked(leases: ReadonlyMap<string, Lease>, now: number): boolean {
  return [...leases.values()].some(({ askedAt }) => now - askedAt < WINDOW_MS);
}

/** As many of the calls; those of low priority are the last. */
function atMost(slots: number, { wanted, low }: Demand): Wanted {
  const first = Math.min(wanted, slots);
  return { wanted: first, low: Math.max(0, first - (wanted - low)) };
}

/**
 * The processes that wait, and this one, in the order in which they were last served, or first seen. `isLow`: whether only
 * calls of low priority wait in this process; otherwise, it competes only with others of these.
 */
function sharersOf(
  leases: ReadonlyMap<string, Lease>,
  { id, now, isLow }: { id: string; now: number; isLow: boolean },
) {
  const isWaiting = ({ waiting, low, seenAt }: Lease) => waiting > (isLow ? 0 : low) && now - seenAt < 3 * WAITING_MS;
  return [...leases].filter(([name, lease]) => name === id || isWaiting(lease));
}

/** How many of the free slots a process may use: an equal share, but none if the processes before it need all of them. */
function shareAt(index: number, processes: number, slots: number): number {
  return slots > 0 && index >= slots ? 0 : Math.max(1, Math.ceil(slots / processes));
}

/** A refusal of an unknown limit meets all requests in flight: together, the processes send as many as one would. */
function roomUnder(limit: LimiterState, { maxConcurrent }: LimiterSettings): number {
  return isUnknown(limit) ? Math.max(0, maxConcurrent - limit.inFlight) : UNBOUNDED;
}

/** Removes dead processes. The service may have counted their requests in flight. */
function reclaimDead(leases: Map<string, Lease>, { id, now }: { readonly id: string; readonly now: number }): Report[] {
  const dead = [...leases].filter(([name, { seenAt }]) => name !== id && now - seenAt >= LEASE_MS);
  for (const [name] of dead) leases.delete(name);
  return dead.flatMap(([, { inFlight, seenAt }]) =>
    new Array<Report>(inFlight).fill({ kind: 'lost', now: seenAt + LEASE_MS, sentAt: seenAt }),
  );
}
