import { acceptInTrial, refuseInTrial } from './answers-in-trial.ts';
import { Beliefs } from './beliefs.ts';
import { speedUp } from './bucket-growth.ts';
import { refuseFirst } from './first-refusal.ts';
import type { Answer, Grant, LimitView } from './limit-core.ts';
import { shortHintMs } from './refusal.ts';
import { refuseKnown } from './refusal-of-known.ts';
import type { SavedBeliefs } from './saved-limit.ts';
import { knownSlots, lookAgainAt, shouldProbe, trainSize } from './sending.ts';
import { advance, nextSlotAt, WINDOW_MS } from './window.ts';

export interface LimitDecisionsOptions {
  /** The limit, if somebody told it. */
  readonly perMinute: number | undefined;
  readonly maxConcurrent: number;
  /** Whether calls may be sent beyond the known slots, to learn. */
  readonly probe: boolean;
  /** What was learned before. */
  readonly saved?: SavedBeliefs | undefined;
}

/** A 429. */
export interface LimitedAnswer extends Answer {
  /** Milliseconds that Retry-After asks to wait from `now`; `undefined` without a usable one. */
  readonly hintMs: number | undefined;
}

const WINDOW_NAMES = { log: 'sliding', fixed: 'fixed', bucket: 'token-bucket' } as const;

/**
 * The decisions of the limiter, one pure step per event. The server's own answers say what kind of window it has: one
 * refused request buys that knowledge, and from then on calls are sent just when they will be accepted.
 */
export class LimitDecisions {
  readonly #beliefs: Beliefs;
  readonly #maxConcurrent: number;
  readonly #mayProbe: boolean;

  constructor({ perMinute, maxConcurrent, probe, saved }: LimitDecisionsOptions) {
    this.#beliefs = new Beliefs(perMinute, saved);
    this.#maxConcurrent = maxConcurrent;
    this.#mayProbe = probe;
  }

  save(): SavedBeliefs {
    return this.#beliefs.save();
  }

  acquire(now: number, waiting: number): Grant {
    const beliefs = this.#beliefs;
    const { gate, pace, log } = beliefs;
    this.#advance(now);
    if (now < gate.opensAt) return { n: 0, probe: false, at: gate.opensAt };
    const paced = pace.freeSlots(log, beliefs.inFlight, now);
    const room = this.#room();
    const free = knownSlots(beliefs, now);
    const n = Math.max(0, Math.min(waiting, room, paced, free));
    if (n > 0) {
      this.take(n);
      return { n, probe: false, at: n === waiting || room <= n ? undefined : this.#lookAgainAt(now) };
    }
    const probes = free <= 0 ? this.#probes(now, Math.min(waiting, this.#maxConcurrent, paced)) : 0;
    if (probes > 0) return { n: probes, probe: true, at: undefined };
    return { n: 0, probe: false, at: room <= 0 ? undefined : this.#lookAgainAt(now) };
  }

  ok({ now, sentAt, probe }: Answer): void {
    const beliefs = this.#beliefs;
    const { gate } = beliefs;
    beliefs.inFlight -= 1;
    beliefs.roundTrips.observe(now - sentAt);
    this.#count(now, sentAt);
    if (!gate.isNews(sentAt)) {
      if (beliefs.countsLateAnswers) beliefs.limit += 1;
      return;
    }
    const isFirst = gate.isHalfOpen;
    gate.accept();
    if (beliefs.phase === 'trying') acceptInTrial(beliefs, { now, sentAt, isFirst });
    if (probe) this.#acceptProbe();
  }

  limited({ now, sentAt, probe, hintMs }: LimitedAnswer): void {
    const beliefs = this.#beliefs;
    const { gate } = beliefs;
    beliefs.inFlight -= 1;
    beliefs.roundTrips.observe(now - sentAt);
    this.#advance(now);
    const isNews = gate.isNews(sentAt);
    gate.stayClosedUntil(now + (hintMs ?? 0));
    // Sent before the last refusal, or before the gate: that episode is handled already.
    if (!isNews) return;
    gate.startEpisode(now);
    const isShort = hintMs !== undefined && hintMs <= shortHintMs(beliefs);
    const refusal = { now, sentAt, isProbe: probe, hintMs, isShort };
    if (beliefs.phase === 'free') return refuseFirst(beliefs, refusal);
    beliefs.countsLateAnswers = false;
    if (beliefs.phase === 'trying') refuseInTrial(beliefs, refusal);
    else refuseKnown(beliefs, refusal);
  }

  lost({ now, sentAt }: Answer): void {
    this.#beliefs.inFlight -= 1;
    this.#count(now, sentAt);
  }

  unused(): void {
    this.take(-1);
  }

  /** Calls are in flight that were granted elsewhere; less than none: were given back there. */
  take(calls: number): void {
    const beliefs = this.#beliefs;
    beliefs.inFlight += calls;
    if (beliefs.window.kind !== 'bucket') return;
    beliefs.window = { ...beliefs.window, tokens: beliefs.window.tokens - calls };
  }

  /** The `Date` header of an answer, in milliseconds since the epoch. */
  observeDate(serverDate: number, { now, sentAt }: Answer): void {
    this.#beliefs.serverClock.observe(serverDate, { sentAt, receivedAt: now });
  }

  /** The waits asked for so far were misread as too long: the gate may open at `now`. */
  reopen(now: number): void {
    this.#beliefs.gate.reopen(now);
  }

  tellLimit(perMinute: number): void {
    const beliefs = this.#beliefs;
    beliefs.told = perMinute;
    if (beliefs.phase === 'free' || beliefs.limit > perMinute) beliefs.limit = perMinute;
  }

  slotAt(now: number, ahead: number): number {
    const { gate, growth, phase, window, usage, isTold, isBelowTold, told } = this.#beliefs;
    const opensAt = Math.max(now, gate.opensAt);
    // Before the window is known, a slot can come at any time.
    if (phase !== 'sure') return opensAt;
    const slotAt = (place: number) => Math.max(opensAt, nextSlotAt(advance(window, now), usage, now, place) ?? opensAt);
    // What may be a part of the limit can grow: soon, until a call beyond it is refused. Only the whole is certain not to.
    const mayGrowSoon = this.#mayProbe && isBelowTold && window.kind !== 'bucket' && !growth.wasRefused;
    if (!mayGrowSoon && !(isTold && isBelowTold)) return slotAt(ahead);
    const firstAt = mayGrowSoon ? Math.max(opensAt, Math.min(growth.dueAt, slotAt(0))) : slotAt(0);
    return firstAt + Math.floor(ahead / told) * WINDOW_MS;
  }

  view(): LimitView {
    const { gate, inFlight, limit, phase, window } = this.#beliefs;
    return {
      gateAt: gate.opensAt,
      inFlight,
      perMinute: limit === Number.POSITIVE_INFINITY ? undefined : limit,
      window: phase === 'sure' ? WINDOW_NAMES[window.kind] : 'unknown',
    };
  }

  #advance(now: number): void {
    const beliefs = this.#beliefs;
    beliefs.log.expire(now);
    beliefs.window = advance(beliefs.window, now);
    speedUp(beliefs, now);
  }

  /** Calls that may join those in flight. */
  #room(): number {
    const { phase, gate, isTold, inFlight } = this.#beliefs;
    const ramp = phase === 'sure' ? Number.POSITIVE_INFINITY : gate.ramp(isTold);
    return Math.min(this.#maxConcurrent, ramp) - inFlight;
  }

  /** Sends a train of probes if now is the time for one; its size. */
  #probes(now: number, atMost: number): number {
    if (!this.#mayProbe || atMost <= 0 || !shouldProbe(this.#beliefs, now)) return 0;
    const train = Math.min(atMost, trainSize(this.#beliefs, now));
    this.#beliefs.growth.depart(train);
    this.take(train);
    return train;
  }

  #lookAgainAt(now: number): number | undefined {
    return lookAgainAt(this.#beliefs, now, this.#mayProbe);
  }

  #count(now: number, sentAt: number): void {
    this.#beliefs.log.expire(now);
    this.#beliefs.log.add(sentAt, now);
  }

  #acceptProbe(): void {
    const beliefs = this.#beliefs;
    beliefs.growth.accept();
    if (beliefs.phase !== 'sure' || beliefs.window.kind === 'bucket') return;
    beliefs.limit = Math.min(beliefs.told, beliefs.limit + 1);
  }
}
