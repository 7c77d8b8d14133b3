import type { QuotaForecast } from '../../client/index.ts';

/** The forecast for programs, in the manner of the service: snake_case, UTC, `null` for what cannot be told. */
export function forecastJson(forecast: QuotaForecast | undefined): string {
  if (forecast === undefined) return 'null';
  const { periodStart, elapsed, perDay, usedAtReset, exhaustsAt, safePerDay, safeIntervalMs, confidence } = forecast;
  return JSON.stringify({
    basis: 'period_average',
    period_start: periodStart.toISOString(),
    elapsed_percent: tenths(elapsed * 100),
    per_day: tenths(perDay),
    used_at_reset: usedAtReset ?? null,
    exhausts_at: exhaustsAt?.toISOString().replace(/\.\d+Z$/, 'Z') ?? null,
    safe_per_day: tenths(safePerDay),
    min_interval_seconds: safeIntervalMs === undefined ? null : Math.ceil(safeIntervalMs / 1000),
    confidence,
  });
}

function tenths(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 10) / 10;
}
