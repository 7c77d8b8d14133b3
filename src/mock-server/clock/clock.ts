import * as z from 'zod';
import { isDate } from '../../foreign-values.ts';
import { parseIsoInstant } from '../../iso-instant.ts';
import { isJsonObject } from '../../json.ts';
import { checkedInput, expected, strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { invalidOption, within } from '../input/mock-server-error.ts';

/** A source of time. The client's option `clock` has the same type. */
export interface Clock {
  /** Returns the time in milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds of this clock. If `signal` aborts, rejects with its reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A point in time: a Date, an ISO 8601 date or time with a zone, or milliseconds since the Unix epoch. */
export type Instant = Date | string | number;

/** The clock of a mock. It never moves backwards, except through `mock.restore()` and `mock.reset()`. */
export interface MockClock extends Clock {
  /** Whether the clock follows real time or is moved by the test. */
  readonly mode: 'real' | 'virtual';
  /** Whether the clock is frozen: only `advance` and `advanceTo` move it. */
  readonly isFrozen: boolean;
  /** Freezes the clock. Only `advance` and `advanceTo` move it until `resume()`. */
  freeze(): void;
  /** Ends the freeze. The clock continues from its current time. */
  resume(): void;
  /**
   * Advances the time by `ms` whole milliseconds. Waits that end meanwhile are resolved in order. Resolves to the new time, in
   * milliseconds since the Unix epoch.
   * @throws MockServerError with code `invalid_option`, for a negative number, a fraction, or a time after the year 9999.
   * @example await mock.clock.advance(60_000)
   */
  advance(ms: number): Promise<number>;
  /**
   * Advances to a point in time: a given one, `'quota-reset'` (the next end of a quota period), or `'next-window'` (when
   * every key has its full per-minute limit again). Resolves to the new time, in milliseconds since the Unix epoch.
   * @throws MockServerError with code `invalid_option`, for a time in the past or after the year 9999.
   * @example await mock.clock.advanceTo('2026-02-01T00:00:00Z')
   */
  advanceTo(moment: 'quota-reset' | 'next-window' | Instant): Promise<number>;
}

const CLOCK_WORDS = "'real', 'virtual' or { mode, now, autoAdvance, frozen }";

export const clockMode = expected(CLOCK_WORDS, z.enum(['real', 'virtual']));

/** A time in JSON. `parseInstant` checks it. */
const instant = z
  .custom<Instant>()
  .meta({ type: ['string', 'number'], description: 'ISO 8601, or milliseconds since the Unix epoch.' });

export const clockOptions = strictObject({
  /** `'real'` follows real time. `'virtual'` moves only when the test or a wait moves it. */
  mode: clockMode,
  /**
   * Time at which the clock starts.
   * @default the current time for `'real'`, 2026-01-15T00:00:00.000Z for `'virtual'`
   */
  now: instant.optional(),
  /**
   * Whether a virtual clock jumps to the end of the earliest wait when its thread only waits. Waits then take no real time
   * and need no `advance`.
   * @default true
   */
  autoAdvance: trueOrFalse.optional(),
  /**
   * Whether the clock starts frozen.
   * @default false
   */
  frozen: trueOrFalse.optional(),
});

/** The option `clock` of a mock or a space, with all its settings. */
export interface ClockOptions extends ValueOf<typeof clockOptions> {}

/** A clock as the admin API shows it. */
export const clockState = z.object({
  mode: z.enum(['real', 'virtual']),
  frozen: z.boolean().describe('Whether the clock is frozen.'),
  now: z.number().describe('Milliseconds since the Unix epoch.'),
  iso: z.iso.datetime(),
});

const INSTANT_WORDS = 'a Date, an ISO 8601 date or time with a zone, or whole milliseconds since 1970';
export const MOMENT_WORDS = `'quota-reset', 'next-window', ${INSTANT_WORDS}`;

/** A move of a clock through the admin API. */
export const clockStep = z
  .strictObject({
    advanceMs: expected('whole milliseconds from 0', z.int().min(0)).optional().describe('Milliseconds to advance.'),
    advanceTo: z
      .union([z.string(), z.number()], MOMENT_WORDS)
      .optional()
      .describe('`quota-reset`, `next-window`, or a time: ISO 8601, or milliseconds.'),
    frozen: z.boolean().optional().describe('`true` freezes the clock, `false` resumes it.'),
  })
  .refine((step) => Object.values(step).filter((value) => value !== undefined).length === 1, {
    error: 'exactly one of advanceMs, advanceTo and frozen',
  })
  .meta({ minProperties: 1, maxProperties: 1 });

/** The option `clock` as an object, with valid fields. */
export function checkedClockOptions(option: 'real' | 'virtual' | ClockOptions): ClockOptions {
  if (isJsonObject(option))
    return within('clock', () => checkedInput(clockOptions, option, { what: 'a field of clock' }));
  if (clockMode.safeParse(option).success) return { mode: option };
  throw invalidOption('clock', option, CLOCK_WORDS);
}

/** Milliseconds since the Unix epoch of a Date, ISO 8601 text or number. The error names `option` and the accepted values. */
export function parseInstant(option: string, instant: Instant, words = INSTANT_WORDS): number {
  const ms = millisecondsOf(instant);
  if (Number.isInteger(ms) && ms >= 0 && ms <= LATEST_MS) return ms;
  throw invalidOption(option, instant, words);
}

/** The end of the year 9999: later ones have no ISO 8601 form with four digits. */
export const LATEST_MS = Date.UTC(10_000, 0) - 1;

function millisecondsOf(instant: unknown): number {
  if (typeof instant === 'number') return instant;
  if (isDate(instant)) return instant.getTime();
  return typeof instant === 'string' ? parseIsoInstant(instant) : Number.NaN;
}
