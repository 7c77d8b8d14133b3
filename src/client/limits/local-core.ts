import { parseHttpDate } from './http-date.ts';
import type { Answer, DatedAnswer, Grant, LimitCore, LimitView, RefusedAnswer } from './limit-core.ts';
import { LimitDecisions } from './limit-decisions.ts';
import type { LimiterSettings } from './limiter-settings.ts';
import { RetryAfterReader, type RetryAfterReading } from './retry-after-reader.ts';
import type { SavedLimit } from './saved-limit.ts';

/** The limit as this process knows it: the headers of its answers are read here, and the rest is decided. */
export class LocalCore implements LimitCore {
  readonly #decisions: LimitDecisions;
  readonly #reader: RetryAfterReader;
  readonly #maxRetryAfterMs: number;
  /** When a `Date` header was last read. */
  #datedAt: number;

  constructor({ perMinute, maxConcurrent, probe, ...settings }: LimiterSettings, saved?: SavedLimit) {
    const told = perMinute === 'learn' ? undefined : perMinute;
    this.#decisions = new LimitDecisions({ perMinute: told, maxConcurrent, probe, saved: saved?.beliefs });
    this.#reader = new RetryAfterReader(settings.retryAfterUnit, saved?.unit);
    this.#maxRetryAfterMs = settings.maxRetryAfterMs;
    this.#datedAt = saved?.datedAt ?? Number.NEGATIVE_INFINITY;
  }

  save(): SavedLimit {
    return { beliefs: this.#decisions.save(), unit: this.#reader.save(), datedAt: this.#datedAt };
  }

  acquire(now: number, waiting: number): Grant {
    return this.#decisions.acquire(now, waiting);
  }

  ok(answer: DatedAnswer): void {
    this.#reader.accepted(answer.sentAt);
    this.#decisions.ok(answer);
    this.#observeDate(answer);
  }

  limited(answer: RefusedAnswer): RetryAfterReading {
    const { retryAfter, date, sentAt, now } = answer;
    const reading = this.#reader.refused({ retryAfter, date, sentAt, now });
    this.#observeDate(answer);
    if (reading.isRevision) this.#decisions.reopen(now);
    // A longer quota than the window's is used up: that says nothing about the window.
    if ((reading.waitMs ?? 0) > this.#maxRetryAfterMs) this.#decisions.unused();
    else this.#decisions.limited({ ...answer, hintMs: reading.waitMs });
    return reading;
  }

  lost(answer: Answer): void {
    this.#decisions.lost(answer);
  }

  unused(): void {
    this.#decisions.unused();
  }

  /** Calls are in flight that were granted elsewhere; less than none: were given back there. */
  take(calls: number): void {
    this.#decisions.take(calls);
  }

  tellLimit(perMinute: number): void {
    this.#decisions.tellLimit(perMinute);
  }

  slotAt(now: number, ahead: number): number {
    return this.#decisions.slotAt(now, ahead);
  }

  view(): LimitView {
    return this.#decisions.view();
  }

  /** Once a second at most: the header has no finer grain. */
  #observeDate({ date, ...answer }: DatedAnswer): void {
    if (answer.now - this.#datedAt < 1_000) return;
    const serverDate = parseHttpDate(date);
    if (serverDate === undefined) return;
    this.#datedAt = answer.now;
    this.#decisions.observeDate(serverDate, answer);
  }
}
