/**
 * Milliseconds since the Unix epoch of ISO 8601 text with a time zone. Returns NaN for other text, and for a day that does not
 * exist, such as February 30, which `Date.parse` converts to March 2.
 */
export function parseIsoInstant(text: string): number {
  const [, day] = ISO_8601.exec(text) ?? [];
  return day === undefined || !isCalendarDay(day) ? Number.NaN : Date.parse(text);
}

// Without a zone the result would depend on the machine; a date alone is midnight UTC by the standard.
const ISO_8601 = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

function isCalendarDay(day: string): boolean {
  const start = Date.parse(day);
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(day);
}
