import { AcceptedLog } from './accepted-log.ts';
import { Gate } from './gate.ts';
import { Growth } from './growth.ts';
import { Pace } from './pace.ts';
import { RoundTrips } from './round-trips.ts';
import type { SavedBeliefs } from './saved-limit.ts';
import { ServerClock } from './server-clock.ts';
import { noTrial, type Trial } from './trial.ts';
import { type Usage, WINDOW_MS, type Window } from './window.ts';

/**
 * How much is known of the window:
 * - `free`: nothing was refused yet;
 * - `trying`: something was refused, and the answers after the gate opens will tell what kind of window it is;
 * - `sure`: the kind is known, until answers contradict it.
 */
export type Phase = 'free' | 'trying' | 'sure';

/** A share smaller than the limit grows again soon where it costs one refusal, and at once where it costs none. */
const BUCKET_GROWS_AFTER_MS = WINDOW_MS / 8;

/** Everything the limiter has learned from the answers of one key. The rules beside this file read and change it. */
export class Beliefs {
  readonly log: AcceptedLog;
  readonly gate: Gate;
  readonly growth: Growth;
  readonly pace: Pace;
  readonly roundTrips: RoundTrips;
  readonly serverClock: ServerClock;
  /** The limit somebody told; Infinity for none. */
  told: number;
  /** The limit that holds now: the told one, a learned one, or this process's share of it. */
  limit: number;
  inFlight: number;
  phase: Phase;
  window: Window;
  trial: Trial;
  /** When the window became known. */
  knownAt: number;
  /** Accepted calls before the first refusal: what a bucket held. */
  firstBurst: number;
  /** Whether the whole told limit was ours when the first call was refused. */
  isAlone: boolean;
  /** Whether answers that come after the first refusal still raise the limit learned from it. */
  countsLateAnswers: boolean;

  constructor(told = Number.POSITIVE_INFINITY, saved?: SavedBeliefs) {
    this.log = new AcceptedLog(WINDOW_MS, saved?.log);
    this.gate = new Gate(saved?.gate);
    this.growth = new Growth(saved?.growth);
    this.pace = new Pace(saved?.perSecond);
    this.roundTrips = new RoundTrips(saved?.roundTrips);
    this.serverClock = new ServerClock(saved?.serverAhead);
    this.told = saved?.told ?? told;
    this.limit = saved?.limit ?? told;
    this.inFlight = saved?.inFlight ?? 0;
    this.phase = saved?.phase ?? 'free';
    this.window = saved?.window ?? { kind: 'log' };
    this.trial = saved?.trial ?? noTrial(0);
    this.knownAt = saved?.knownAt ?? 0;
    this.firstBurst = saved?.firstBurst ?? 0;
    this.isAlone = saved?.isAlone ?? false;
    this.countsLateAnswers = saved?.countsLateAnswers ?? false;
  }

  save(): SavedBeliefs {
    const { told, limit, inFlight, phase, window, trial, knownAt, firstBurst, isAlone, countsLateAnswers } = this;
    return {
      log: this.log.save(),
      gate: this.gate.save(),
      growth: this.growth.save(),
      perSecond: this.pace.perSecond,
      roundTrips: this.roundTrips.save(),
      serverAhead: this.serverClock.save(),
      ...{ told, limit, inFlight, phase, window, trial, knownAt, firstBurst, isAlone, countsLateAnswers },
    };
  }

  get isTold(): boolean {
    return this.told !== Number.POSITIVE_INFINITY;
  }

  get usage(): Usage {
    return { log: this.log, limit: this.limit, inFlight: this.inFlight };
  }

  /** Whether this process uses less than the limit: others may have left something. */
  get isBelowTold(): boolean {
    return (this.window.kind === 'bucket' ? this.window.perMs * WINDOW_MS : this.limit) < this.told;
  }

  /** A learned limit or share; never none at all. */
  learnLimit(calls: number): void {
    this.limit = Math.max(1, calls);
  }

  become(window: Window, now: number): void {
    this.phase = 'sure';
    this.knownAt = now;
    this.window = window;
    this.growth.start(now + (window.kind === 'bucket' ? BUCKET_GROWS_AFTER_MS : 0));
  }

  startTrial(now: number): void {
    this.phase = 'trying';
    this.trial = noTrial(now);
  }
}
