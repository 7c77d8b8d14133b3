import type { WindowKind } from './wild/windows.ts';

export interface Situation {
  readonly window: WindowKind;
  readonly processes: number;
}

/** The limit of the Free plan, and a job of more than three times that limit. */
export const LIMIT = 30;
export const CALLS = 100;

/** The job starts this long after the start of a minute on the server. */
export const START_IN_MINUTE_MS = 20_000;

/** A run that takes longer is stopped; calls that have not ended count as failed. */
export const GIVE_UP_MS = 30 * 60_000;

const WINDOWS: readonly WindowKind[] = ['fixed-minute', 'sliding-log', 'bucket'];

export const SITUATIONS: readonly Situation[] = [1, 4].flatMap((processes) =>
  WINDOWS.map((window) => ({ window, processes })),
);

export const QUICK_SITUATIONS: readonly Situation[] = [{ window: 'sliding-log', processes: 1 }];
