import type { QuotaData } from '../../generated/types.ts';
import type { Clock } from '../clock.ts';
import { remainingOf } from './quota-state.ts';

/** The last quota the service told, and what was used since. Other processes with the same key are not in it. */
export interface QuotaEstimate {
  /** The record as it came. */
  readonly quota: QuotaData;
  /** When it came. */
  readonly asOf: Date;
  /** Requests since then that count, or may count because their answer was lost. */
  readonly usedSince: number;
  /** Requests left by this count; `undefined` when the plan has no numeric limit. */
  readonly remaining: number | undefined;
}

/** Keeps count of what a key uses between two quota records. */
export class QuotaLedger {
  readonly #clock: Clock;
  #known: { readonly quota: QuotaData; readonly asOfMs: number } | undefined;
  #usedSince = 0;
  /** Calls that may still send a request: held back so that a crowd cannot slip through the last free place. */
  #held = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A record replaces the count. */
  sawQuota(quota: QuotaData): void {
    this.#known = { quota, asOfMs: this.#clock.now() };
    this.#usedSince = 0;
  }

  /** A request was sent that counts, or whose answer was lost. A 429 is free (SERVICE.md, Limits, rule 2). */
  spent(): void {
    this.#usedSince += 1;
  }

  /** Keeps one request for a call under way. Returns what gives it back. */
  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
    };
  }

  /** `undefined` before the first record, and after its period has ended. */
  estimate(): QuotaEstimate | undefined {
    if (this.#known === undefined) return undefined;
    const { quota, asOfMs } = this.#known;
    if (this.#clock.now() >= Date.parse(quota.resets_at)) return undefined;
    const left = remainingOf(quota);
    const usedSince = this.#usedSince + this.#held;
    const remaining = left === undefined ? undefined : Math.max(0, left - usedSince);
    return { quota, asOf: new Date(asOfMs), usedSince, remaining };
  }
}
