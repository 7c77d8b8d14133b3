import { AcceptedLog } from './accepted-log.ts';
import type { Grant, LimitCore, LimitView } from './limit-core.ts';

const WINDOW_MS = 60_000;

export interface LimitMachineOptions {
  /** The limit, if somebody told it. */
  readonly perMinute: number | undefined;
  readonly maxConcurrent: number;
}

/** Early form: the gate, bounded concurrency and a log of the told limit. */
export class LimitMachine implements LimitCore {
  readonly #log = new AcceptedLog(WINDOW_MS);
  readonly #maxConcurrent: number;
  #limit: number;
  #inFlight = 0;
  #gateAt = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #isHalfOpen = false;

  constructor(options: LimitMachineOptions) {
    this.#limit = options.perMinute ?? Number.POSITIVE_INFINITY;
    this.#maxConcurrent = options.maxConcurrent;
  }

  acquire(now: number, waitingLow: number, waitingHigh: number): Grant {
    this.#log.expire(now);
    if (now < this.#gateAt) return { n: 0, probe: false, at: this.#gateAt };
    const cap = this.#isHalfOpen ? 1 : this.#maxConcurrent;
    const free = Math.min(cap, this.#limit - this.#log.size) - this.#inFlight;
    const n = Math.max(0, Math.min(waitingLow + waitingHigh, free));
    this.#inFlight += n;
    return { n, probe: false, at: this.#inFlight < cap ? this.#log.leavesAt(0) : undefined };
  }

  ok(now: number, sentAt: number): void {
    this.#inFlight -= 1;
    this.#isHalfOpen = false;
    this.#log.add(sentAt, now);
  }

  limited(now: number, sentAt: number, _probe: boolean, hintMs: number | undefined): void {
    this.#inFlight -= 1;
    if (sentAt <= this.#refusedAt) return;
    this.#refusedAt = now;
    this.#gateAt = now + (hintMs ?? 5_000);
    this.#isHalfOpen = true;
  }

  lost(now: number, sentAt: number): void {
    this.#inFlight -= 1;
    this.#log.add(sentAt, now);
  }

  unused(): void {
    this.#inFlight -= 1;
  }

  tellLimit(perMinute: number): void {
    this.#limit = perMinute;
  }

  slotAt(now: number, ahead: number): number {
    this.#log.expire(now);
    const free = this.#limit - this.#log.size - this.#inFlight;
    const leaves = ahead < free ? now : this.#log.leavesAt(ahead - Math.max(0, free));
    return Math.max(now, this.#gateAt, leaves ?? now);
  }

  view(): LimitView {
    const perMinute = Number.isFinite(this.#limit) ? this.#limit : undefined;
    return { gateAt: this.#gateAt, inFlight: this.#inFlight, perMinute, window: 'unknown' };
  }
}
