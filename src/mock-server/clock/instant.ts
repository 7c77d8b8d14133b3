import { invalidOption } from '../mock-server-error.ts';
import type { Instant } from './clock.ts';

/** Milliseconds since the Unix epoch of a Date, ISO 8601 text or number; `option` names it in the error. */
export function parseInstant(option: string, instant: Instant): number {
  const ms = millisecondsOf(instant);
  if (ms >= 0 && ms <= LATEST_MS) return ms;
  throw invalidOption(option, instant, 'a Date, ISO 8601 text with a time zone, or milliseconds since 1970');
}

/** The end of the year 9999: later ones have no ISO 8601 form with four digits. */
export const LATEST_MS = Date.UTC(10_000, 0) - 1;

// Without a zone the result would depend on the machine; a date alone is midnight UTC by the standard.
const ISO_8601 = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

function millisecondsOf(instant: unknown): number {
  if (typeof instant === 'number') return instant;
  if (instant instanceof Date) return instant.getTime();
  return typeof instant === 'string' && ISO_8601.test(instant) ? Date.parse(instant) : Number.NaN;
}
