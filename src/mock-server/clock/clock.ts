import { invalidOption } from '../mock-server-error.ts'; /** The only way the mock reads or waits for time; the client's `clock` option takes the same shape. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds of this clock; rejects with the signal's reason as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A moment: a Date, ISO 8601 text, or milliseconds since the Unix epoch. */
export type Instant = Date | string | number;

/** The clock of one mock. It never goes back, except through `mock.restore()` and `mock.reset()`. */
export interface MockClock extends Clock {
  readonly mode: 'real' | 'virtual';
  /** Whether it stands still but for `advance` and `advanceTo`. */
  readonly isFrozen: boolean;
  /** Stops the time where it is: from now on only `advance` and `advanceTo` move it. */
  freeze(): void;
  /** Lets the time go on from where it stands. */
  resume(): void;
  /** Moves the time on by `ms` milliseconds; whoever sleeps is woken in order on the way. Resolves to the new time. */
  advance(ms: number): Promise<number>;
  /**
   * Moves the time on to a moment: `'quota-reset'` is the next end of a quota period, `'next-window'` the first
   * moment at which every key has its whole per-minute limit again.
   */
  advanceTo(moment: 'quota-reset' | 'next-window' | Instant): Promise<number>;
}

export interface ClockOptions {
  readonly mode: 'real' | 'virtual';
  /** When the clock starts. Default: now for `'real'`, 2026-01-15T00:00:00.000Z for `'virtual'`. */
  readonly now?: Instant | undefined;
  /**
   * Whether a virtual clock jumps to the earliest sleeper by itself as soon as nothing else is left to happen:
   * then a wait costs no time and nothing needs `advance`. Default: true.
   */
  readonly autoAdvance?: boolean | undefined;
  /** Whether it starts frozen. Default: false. */
  readonly frozen?: boolean | undefined;
}

/** The clock as the mock itself drives it. */
export interface DrivenClock extends Clock {
  readonly mode: 'real' | 'virtual';
  readonly autoAdvance: boolean;
  readonly isFrozen: boolean;
  freeze(): void;
  resume(): void;
  /** Moves on to the moment that `target` names when its turn comes, waking sleepers on the way; never goes back. */
  advanceTo(target: (now: number) => number): Promise<number>;
  /** Puts the clock to any time; sleepers keep the rest of their wait. */
  set(at: number): void;
  /** Puts the clock to where it started, frozen or not as then. */
  reset(): void;
  /** A request is being served: no automatic jump until the returned function is called. */
  hold(): () => void;
}

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
