import { checkedOnAssumption, type OnAssumption } from './behaviour/assumptions.ts';
import type { BehaviourOptions } from './behaviour/behaviour-options.ts';
import { isPresetName, PRESET_NAMES, type PresetName } from './behaviour/switch.ts';
import type { ClockOptions } from './clock/clock.ts';
import { invalidOption, unknownName } from './mock-server-error.ts';
import type { LatestSource } from './rates/latest-responder.ts';
import type { Replay } from './rates/replay.ts';
import type { LatestFunction } from './stubs/stub-record.ts';

/** Options of `createMockServer`. All are optional. */
export interface MockServerOptions {
  /**
   * Determines keys, invented rates and the `probability` of faults: the same seed produces the same values. A whole
   * number from 0.
   * @default 1
   */
  readonly seed?: number | undefined;
  /**
   * The clock of the mock: real time, or virtual time that the test moves.
   * @default 'real'
   * @example { mode: 'virtual', now: '2026-01-31T23:59:00Z', autoAdvance: false }
   */
  readonly clock?: 'real' | 'virtual' | ClockOptions | undefined;
  /**
   * Switches for undocumented behaviour: values, a preset (`'documented'`, `'lenient'`, `'hostile'`), a preset with
   * changes, or the content of a file that `fxrates probe` wrote. `mock.behaviour.describe()` lists all switches.
   * @default 'documented'
   * @example { preset: 'hostile', rateWindow: 'fixed-epoch' }
   */
  readonly behaviour?: PresetName | BehaviourOptions | undefined;
  /**
   * Reaction to a response that depends on an undocumented switch that you did not set: none (`'ignore'`), one process
   * warning per switch (`'warn'`), or the response 501 `assumption` (`'error'`).
   *
   * @default 'ignore'
   */
  readonly onAssumption?: OnAssumption | undefined;
  /**
   * Allows `behaviour` to contradict the documentation of the service.
   * @default false
   * @example createMockServer({ unsafe: true, behaviour: { revocationDelayMs: 60_000 } })
   */
  readonly unsafe?: boolean | undefined;
  /**
   * The `data` of `latest`: an object, or a function of the query. `context.invented()` returns the data that the mock would send otherwise. `mock.latest.set` changes the data at run time. Cannot be combined with `replay`.
   * @default invented rates
   * @example (query, context) => ({ ...context.invented(), base: query.get('base') })
   */
  readonly latest?: LatestFunction | object | undefined;
  /**
   * Recorded responses of `latest`: one envelope for every query, or responses by query. `fxrates latest --fixture-out` writes
   * such a recording. A query without a recorded response gets 501 `not_recorded`. Cannot be combined with `latest`.
   * @default invented rates
   * @example { 'base=EUR': { base: 'EUR', rates: { USD: 1.1 } }, '*': { base: 'USD', rates: { EUR: 0.9 } } }
   */
  readonly replay?: Replay | undefined;
  /**
   * Origin at which the mock responds in process, through `fetch`, `listen()`, `handlers` and `dispatcher`.
   * @default 'https://fxrates.test'
   */
  readonly baseUrl?: string | undefined;
  /**
   * Number of requests that the journal keeps. When it is full, the oldest request is dropped.
   * @default 1000
   */
  readonly journalSize?: number | undefined;
}

/** The options with their defaults, checked. */
export interface CheckedOptions {
  readonly seed: number;
  readonly clock: 'real' | 'virtual' | ClockOptions;
  readonly behaviour: PresetName | BehaviourOptions;
  readonly onAssumption: OnAssumption;
  readonly unsafe: boolean;
  readonly source: LatestSource;
  readonly baseUrl: string;
  readonly journalSize: number;
}

/** Throws for an unknown option or an invalid value. `clock`, `behaviour` and `replay` are checked where they are used. */
export function checkOptions(options: MockServerOptions): CheckedOptions {
  const { seed = 1, clock = 'real', behaviour = {}, unsafe = false, journalSize = 1000, ...rest } = options;
  const { baseUrl = 'https://fxrates.test', onAssumption = 'ignore', latest, replay, ...unknown } = rest;
  for (const name of Object.keys(unknown))
    throw unknownName(name, { what: 'an option of createMockServer', known: OPTION_NAMES });
  if (!Number.isSafeInteger(seed) || seed < 0) throw invalidOption('seed', seed, 'a whole number from 0');
  if (!Number.isSafeInteger(journalSize) || journalSize < 0) {
    throw invalidOption('journalSize', journalSize, 'a whole number from 0');
  }
  if (typeof unsafe !== 'boolean') throw invalidOption('unsafe', unsafe, 'true or false');
  const checked = {
    behaviour: checkedBehaviour(behaviour),
    onAssumption: checkedOnAssumption(onAssumption),
    source: checkedSource({ latest, replay }),
    baseUrl: checkedOrigin(baseUrl),
  };
  return { seed, clock, unsafe, journalSize, ...checked };
}

function checkedBehaviour(behaviour: unknown): PresetName | BehaviourOptions {
  if (isPresetName(behaviour)) return behaviour;
  // Its switches are checked one by one.
  if (typeof behaviour === 'object' && behaviour !== null) return behaviour;
  throw invalidOption('behaviour', behaviour, `a preset (${PRESET_NAMES.join(', ')}) or an object of switches`);
}

function checkedSource({ latest, replay }: Pick<MockServerOptions, 'latest' | 'replay'>): LatestSource {
  if (Array.isArray(latest)) throw invalidOption('latest', latest, 'an object; mock.latest.set accepts a sequence');
  if (latest !== undefined && typeof latest !== 'function' && (typeof latest !== 'object' || latest === null)) {
    throw invalidOption('latest', latest, 'an object, or a function from the query to the data');
  }
  if (latest !== undefined && replay !== undefined) {
    throw invalidOption('replay', replay, 'either latest or replay, not both');
  }
  // Later changes to the object must not change the responses.
  const data = typeof latest === 'object' ? structuredClone(latest) : undefined;
  return { latest: data === undefined ? (latest as LatestFunction | undefined) : () => data, replay };
}

function checkedOrigin(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isOrigin = url !== undefined && url.pathname === '/' && url.search === '' && url.username === '';
  if (isOrigin && /^https?:$/.test(url.protocol)) return url.origin;
  throw invalidOption('baseUrl', baseUrl, 'an http or https origin such as https://fxrates.test');
}

const OPTION_NAMES = Object.keys({
  seed: true,
  clock: true,
  behaviour: true,
  onAssumption: true,
  unsafe: true,
  latest: true,
  replay: true,
  baseUrl: true,
  journalSize: true,
} satisfies Record<keyof MockServerOptions, true>);
