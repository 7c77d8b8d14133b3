import type { JournalEntry } from '../../journal/journal.ts';
import { isServed } from './journal-entries.ts';

/** The last two minutes, second by second. */
export interface PerSecond {
  /** Seconds since the Unix epoch; all requests; those served; the limit as requests per second. */
  readonly columns: [number[], number[], number[], (number | null)[]];
  /** The same in words, for a screen reader. */
  readonly summary: string;
}

const SECONDS = 120;

/** Counts `entries`, newest first, up to `now`. Refused ones stand on top of the served: `all` is drawn behind. */
export function perSecond(entries: readonly JournalEntry[], now: number): PerSecond {
  const last = Math.floor(now / 1000);
  const times = Array.from({ length: SECONDS }, (_, index) => last - SECONDS + 1 + index);
  const all = times.map(() => 0);
  const served = times.map(() => 0);
  for (const { at, status } of entries) {
    const index = Math.floor(at / 1000) - last + SECONDS - 1;
    if (index < 0) break;
    if (index >= SECONDS) continue;
    all[index] = (all[index] ?? 0) + 1;
    if (isServed({ status })) served[index] = (served[index] ?? 0) + 1;
  }
  const limit = entries.find(({ rate }) => rate !== undefined)?.rate?.limit;
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const [allCount, servedCount] = [sum(all), sum(served)];
  const pace = limit === undefined ? 'no limit seen yet' : `the limit is ${limit} a minute`;
  return {
    columns: [times, all, served, times.map(() => (limit === undefined ? null : limit / 60))],
    summary: `In the last two minutes ${servedCount} requests served, ${allCount - servedCount} refused; ${pace}.`,
  };
}
