import type { QuotaData, QuotaForecast } from '../../client/index.ts';
import { CliError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { grouped } from '../output/grouped.ts';
import { durationOption, formatDuration } from '../settings/duration.ts';
import type { WatchRequest } from './watch-options.ts';

/** Milliseconds from one request to the next, and why that many. */
export interface WatchInterval {
  readonly intervalMs: number;
  readonly reason: string;
}

/** What a watch may spend. */
export interface Budget {
  readonly quota: QuotaData;
  readonly forecast: QuotaForecast | undefined;
  /** Milliseconds between snapshots, where the plan tells. */
  readonly snapshotMs: number | undefined;
}

const MINUTE_MS = 60_000;

/** The shortest interval that shows every snapshot, keeps below the limit per minute and makes the quota last. */
export function budgetInterval({ quota, forecast, snapshotMs = 0 }: Budget): WatchInterval {
  const bounds: readonly WatchInterval[] = [
    { intervalMs: Math.ceil(MINUTE_MS / quota.rate_limit_per_minute), reason: 'the limit per minute' },
    { intervalMs: snapshotMs, reason: 'the interval of snapshots' },
    { intervalMs: forecast?.safeIntervalMs ?? 0, reason: 'so that the quota lasts' },
  ];
  return bounds.reduce((longest, bound) => (bound.intervalMs > longest.intervalMs ? bound : longest));
}

/** The error for a watch that leaves nothing of the month; `undefined` when it is safe, or nobody can tell. */
export function unsafeWatch({ intervalMs, count }: WatchRequest, { forecast }: Budget): CliError | undefined {
  const { remaining, resetsAt, safeIntervalMs } = forecast ?? {};
  if (remaining === undefined || resetsAt === undefined) return undefined;
  if (safeIntervalMs === undefined) return usedUp(resetsAt);
  const isBounded = count <= remaining;
  const isSlowEnough = Number.isFinite(count) ? isBounded : intervalMs === undefined || intervalMs >= safeIntervalMs;
  if (isBounded || isSlowEnough) return undefined;
  const asked = Number.isFinite(count) ? `${grouped(count)} answers` : `--watch ${durationOption(intervalMs ?? 0)}`;
  return new CliError(`${asked} would use up the monthly quota`, {
    code: 'watch_unsafe',
    exitCode: exitCodes.quota,
    why: `${grouped(remaining)} requests are left, one every ${formatDuration(safeIntervalMs)}`,
    resetsAt: resetsAt.toISOString(),
    hints: ['Paced:   fxrates latest --watch', 'Anyway:  the same command with --force'],
  });
}

function usedUp(resetsAt: Date): CliError {
  return new CliError('the monthly quota is used up', {
    code: 'quota_exhausted',
    exitCode: exitCodes.quota,
    resetsAt: resetsAt.toISOString(),
    hints: ['See:  fxrates quota'],
  });
}
