/** `2026-02-01 01:00 CET`. */
export function localTime(epochMs: number, timeZone: string | undefined): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
    ...(timeZone === undefined ? {} : { timeZone }),
  });
  const part = Object.fromEntries(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
  return `${part['year']}-${part['month']}-${part['day']} ${part['hour']}:${part['minute']} ${part['timeZoneName']}`;
}

/** `14:20:05`. */
export function localClock(epochMs: number, timeZone: string | undefined): string {
  const style = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-GB', timeZone === undefined ? style : { ...style, timeZone }).format(epochMs);
}

/** `1000` as `1,000`; on the digits themselves, so that no number is too long. Anything but digits stays. */
export function grouped(count: string | number): string {
  const digits = String(count);
  return /^\d+$/.test(digits) ? digits.replace(/\B(?=(\d{3})+$)/g, ',') : digits;
}
