import type { WindowKind } from '../../test/helpers/limits-server.ts';

export interface Situation {
  readonly window: WindowKind;
  readonly processes: number;
}

/** The Free plan's limit, and a job that takes it more than three times. */
export const LIMIT = 30;
export const CALLS = 100;

/** The job starts this long after a full minute of the server's. */
export const START_IN_MINUTE_MS = 20_000;

/** A run that lasts longer is stopped; what has not ended by then has failed. */
export const GIVE_UP_MS = 30 * 60_000;

const WINDOWS: readonly WindowKind[] = ['fixed-minute', 'sliding', 'bucket'];

export const SITUATIONS: readonly Situation[] = [1, 4].flatMap((processes) =>
  WINDOWS.map((window) => ({ window, processes })),
);

export const QUICK_SITUATIONS: readonly Situation[] = [{ window: 'sliding', processes: 1 }];
