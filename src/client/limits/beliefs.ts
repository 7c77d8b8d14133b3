import { AcceptedLog } from './accepted-log.ts';
import { Gate } from './gate.ts';
import { Growth } from './growth.ts';
import { Pace } from './pace.ts';
import { RoundTrips } from './round-trips.ts';
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
  readonly log = new AcceptedLog(WINDOW_MS);
  readonly gate = new Gate();
  readonly growth = new Growth();
  readonly pace = new Pace();
  readonly roundTrips = new RoundTrips();
  readonly serverClock = new ServerClock();
  /** The limit somebody told; Infinity for none. */
  told: number;
  /** The limit that holds now: the told one, a learned one, or this process's share of it. */
  limit: number;
  inFlight = 0;
  phase: Phase = 'free';
  window: Window = { kind: 'log' };
  trial: Trial = noTrial(0);
  /** When the window became known. */
  knownAt = 0;
  /** Accepted calls before the first refusal: what a bucket held. */
  firstBurst = 0;
  /** Whether the whole told limit was ours when the first call was refused. */
  isAlone = false;
  /** Whether answers that come after the first refusal still raise the limit learned from it. */
  countsLateAnswers = false;

  constructor(told: number | undefined) {
    this.told = told ?? Number.POSITIVE_INFINITY;
    this.limit = this.told;
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
