import type * as z from 'zod';
import type { SwitchDescription } from '../../behaviour/behaviour.ts';
import type { clockState } from '../../clock/clock.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import type { Account } from '../../service/accounts.ts';
import type { KeySummary } from '../../service/keys.ts';
import { MINUTE_MS } from '../../service/rate-windows.ts';
import type { ShownRule } from './form-input.ts';

export type ClockState = Readonly<z.output<typeof clockState>>;

/** The state of the mock that the panel shows. */
export interface MockView {
  readonly clock: ClockState;
  readonly accounts: readonly Account[];
  /** The newest ones, at most `MOST_KEYS`. */
  readonly keys: readonly KeySummary[];
  readonly switches: readonly SwitchDescription[];
  readonly rules: readonly ShownRule[];
  /** The newest requests in the journal, newest first. */
  readonly entries: readonly JournalEntry[];
  /** Changes when the journal is emptied, and differs in another one. */
  readonly journal: number;
  /** How often the journal has changed. */
  readonly changes: number;
  /** Number of requests in the journal, also of older ones that are not in `entries`. */
  readonly total: number;
}

export const MOST_KEYS = 200;

/** A call that the mock refused, and why. */
export interface RejectedCall {
  readonly path: string;
  readonly message: string;
}

/** A key that the user has not copied yet. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
  readonly accountId: string;
  readonly space: string;
}

/** Whether the mock still has the key: a mock that was reset gives the same id to another one. */
export function isStillActive({ id, key }: NewKey, keys: readonly KeySummary[]): boolean {
  return keys.some((one) => one.id === id && one.state === 'active' && key.endsWith(one.masked.slice(-4)));
}

/** The parameters of a section of the panel. */
export interface SectionProps {
  readonly view: MockView;
  /** The names of the open ones. */
  readonly spaces: readonly string[];
  readonly query: PanelQuery;
  readonly setQuery: ChangeQuery;
  /** Returns the JSON schema of the body of `POST <path>`; `undefined` until the description of the API is loaded. */
  readonly bodySchema: <Schema>(path: string) => Schema | undefined;
  /** The last error of the mock; `undefined` for none. */
  readonly refusal: RejectedCall | undefined;
  /** Calls the admin API, and shows the new state or the error. */
  readonly act: <Result>(method: string, path: string, body?: unknown) => Promise<Result | undefined>;
  /** Of all spaces. */
  readonly newKeys: readonly NewKey[];
  readonly setNewKeys: (change: (shown: readonly NewKey[]) => readonly NewKey[]) => void;
}

/** `2026-01-15 14:20 UTC` of a time in milliseconds. */
export function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The window of the rate limit of a key: `minute`, or `window of 1000 ms` for one of its own. */
export function windowText(key?: Pick<KeySummary, 'limits'>): string {
  const { windowMs = MINUTE_MS } = key?.limits ?? {};
  return windowMs === MINUTE_MS ? 'minute' : `window of ${windowMs} ms`;
}

/** `14:20:01` of a time in milliseconds, in UTC. */
export function timeOfDay(at: number): string {
  return new Date(at).toISOString().slice(11, 19);
}

/** `350 ms`, `12 s`, `4 min 10 s`, `3 h 1 min`, `12 days`: two units at most, rounded up, so that the time is over then. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.ceil(ms))} ms`;
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return inTwoUnits(seconds, 60, ['min', 's']);
  const minutes = Math.ceil(seconds / 60);
  return minutes < 48 * 60
    ? inTwoUnits(minutes, 60, ['h', 'min'])
    : inTwoUnits(Math.ceil(minutes / 60), 24, ['days', 'h']);
}

function inTwoUnits(count: number, size: number, [large, small]: readonly [string, string]): string {
  const rest = count % size;
  return `${Math.floor(count / size)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
}

/** Shows everything. */
const NO_SELECTION = {
  /** Name of a space; empty for the mock itself. */
  space: '',
  /** `served`, `refused`, or a status; empty for all. */
  status: '',
  /** Id of an operation, `unknown` or `other`. */
  operation: '',
  /** Id of a key, `none` or `unknown`. */
  key: '',
  /** Anywhere in a request. */
  text: '',
};

/** The selection, which is in the address of the page, so that a link shows the same. */
export type PanelQuery = Readonly<typeof NO_SELECTION>;

export function readQuery(search: string): PanelQuery {
  return { ...NO_SELECTION, ...Object.fromEntries(new URLSearchParams(search)) };
}

/** With its question mark; empty if everything is shown. */
export function writeQuery(query: PanelQuery): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return given.size === 0 ? '' : `?${given}`;
}

export type ChangeQuery = (change: Partial<PanelQuery>) => void;
