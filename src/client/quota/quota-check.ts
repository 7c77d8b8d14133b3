import type { QuotaData } from '../../generated/types.ts';
import type { Cancellation, CancelSignal } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import { SharedWork } from '../shared-work.ts';

/** Refusals that come within this time of an answer are explained by it. */
const FRESH_MS = 1000;

/** Asks for the quota once for many refused calls at a time: a burst refused together is one question. */
export class QuotaCheck {
  readonly #clock: Clock;
  readonly #asking = new SharedWork<QuotaData | undefined>();
  #answer: { readonly quota: QuotaData | undefined; readonly at: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The quota, or `undefined` when it cannot be had: then the refusal stands as it is. */
  async ask(
    load: (cancellation: Cancellation) => Promise<QuotaData>,
    signal: CancelSignal,
  ): Promise<QuotaData | undefined> {
    const answer = this.#answer;
    const ageMs = this.#clock.now() - (answer?.at ?? Number.NEGATIVE_INFINITY);
    if (ageMs >= 0 && ageMs <= FRESH_MS) return answer?.quota;
    return this.#asking.join(async (question) => {
      const quota = await load(question).catch(() => undefined);
      if (!question.aborted) this.#answer = { quota, at: this.#clock.now() };
      return quota;
    }, signal);
  }
}
