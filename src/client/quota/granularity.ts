const UNIT_MS = {
  s: 1000,
  sec: 1000,
  second: 1000,
  min: 60_000,
  minute: 60_000,
  m: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
};

/**
 * Milliseconds of a `snapshot_granularity` such as `5min`; `undefined` for what cannot be read. Only `5min` is shown
 * (SERVICE.md, Quota record), so near spellings are taken as well.
 */
export function granularityMs(text: string): number | undefined {
  const match = /^(\d+)\s*(s|sec|second|min|minute|m|h|hour|d|day)s?$/i.exec(text.trim());
  if (match === null) return undefined;
  const [, count, unit] = match;
  const ms = Number(count) * (UNIT_MS[unit?.toLowerCase() as keyof typeof UNIT_MS] ?? 0);
  return ms > 0 ? ms : undefined;
}
