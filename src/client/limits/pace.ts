import type { AcceptedLog } from './accepted-log.ts';
import { WINDOW_MS } from './window.ts';

const SPAN_MS = 1_000;

/** A second limit, per second, that some servers have beside the one per minute. None until the answers show it. */
export class Pace {
  #perSecond: number;

  constructor(perSecond = Number.POSITIVE_INFINITY) {
    this.#perSecond = perSecond;
  }

  get perSecond(): number {
    return this.#perSecond;
  }

  get isKnown(): boolean {
    return this.#perSecond !== Number.POSITIVE_INFINITY;
  }

  freeSlots(log: AcceptedLog, inFlight: number, now: number): number {
    return this.#perSecond - log.answeredSince(now - SPAN_MS) - inFlight;
  }

  /** When the oldest call of the last second leaves it; `undefined` when there is none: after an answer. */
  nextSlotAt(log: AcceptedLog, now: number): number | undefined {
    const leavesLogAt = log.leavesAt(log.size - log.answeredSince(now - SPAN_MS));
    return leavesLogAt === undefined ? undefined : leavesLogAt - WINDOW_MS + SPAN_MS;
  }

  /** The server refused more than it had accepted in the last second. */
  learn(log: AcceptedLog, now: number): void {
    this.#perSecond = Math.max(1, Math.min(this.#perSecond, log.answeredSince(now - SPAN_MS)));
  }
}
