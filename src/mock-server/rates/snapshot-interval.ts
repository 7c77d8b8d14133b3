/** How long a snapshot of the rates holds, from a granularity such as `5min`; an unknown unit counts as five minutes. */
export function snapshotIntervalMs(granularity: string): number {
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(granularity) ?? [];
  const unitMs = UNITS_MS[unit];
  return unitMs === undefined ? DEFAULT_MS : Number(count) * unitMs;
}

const DEFAULT_MS = 5 * 60_000;

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  sec: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};
