/** Refusals this close before the gate opens are those of a bucket or of a limit per second, not of a minute. */
const SHORT_TRIAL_MS = 2_500;

/** What a gate was closed for, to be confirmed or contradicted by the answers after it opens. */
export interface Trial {
  /** The refusal that ended a run of accepted calls. */
  readonly startedAt: number;
  /** The last refusal: at this time the server had nothing left. */
  readonly exhaustedAt: number;
  readonly opensAt: number;
  /** The server's boundary, if its window is fixed, lies between this and the first call accepted. */
  readonly boundaryAfter: number;
  readonly hint: 'long' | 'short' | 'none';
  /** The gate opens when our own oldest call leaves the log. */
  readonly isOwnSlot: boolean;
  /** Attempts without a usable hint. */
  readonly tries: number;
}

/** A trial that begins with a refusal at `now`; its gate is still to be set. */
export function noTrial(now: number): Trial {
  return {
    startedAt: now,
    exhaustedAt: now,
    opensAt: 0,
    boundaryAfter: 0,
    hint: 'none',
    isOwnSlot: false,
    tries: 0,
  };
}

export function isShortTrial({ opensAt, startedAt }: Trial): boolean {
  return opensAt - startedAt <= SHORT_TRIAL_MS;
}
