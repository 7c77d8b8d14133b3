/** Length of the per-minute window. Windows are `[start, end)`: at `end` the next one applies. */
export const WINDOW_MS = 60_000;

/**
 * What one key has used of its per-minute limit, for one kind of window.
 * `limit` comes with every call, because a change of plan changes it while the window goes on.
 * Times are milliseconds since the Unix epoch and never go back.
 */
export interface RateWindow {
  /** Milliseconds until a request fits; 0 when one fits at `now`. */
  waitMs(limit: number, now: number): number;
  /** Counts one request at `now`, whether it fits or not. */
  count(limit: number, now: number): void;
  /** Requests that count at `now`. */
  used(limit: number, now: number): number;
  /** When the whole limit is free again if nothing more is sent; later than `now`. */
  fullAt(limit: number, now: number): number;
  /** Everything it knows, as numbers that the same kind of window starts from again. */
  save(): readonly number[];
}
