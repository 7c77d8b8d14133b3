import { checkedOnAssumption, type OnAssumption } from './behaviour/assumptions.ts';
import type { BehaviourOptions } from './behaviour/behaviour-options.ts';
import { isPresetName, PRESET_NAMES, type PresetName } from './behaviour/switch.ts';
import type { ClockOptions } from './clock/clock.ts';
import { invalidOption, unknownName } from './mock-server-error.ts';
import type { LatestSource } from './rates/latest-responder.ts';
import type { LatestFunction } from './stubs/stub-record.ts';

/** Options of `createMockServer`; all may be left out. */
export interface MockServerOptions {
  /** Decides keys and invented rates: the same seed gives the same. A whole number. Default: 1. */
  readonly seed?: number | undefined;
  /** Real time, or time that the test moves. Default: `'real'`. */
  readonly clock?: 'real' | 'virtual' | ClockOptions | undefined;
  /**
   * Behaviours the service does not show: values for some, a preset (`'documented'`, `'lenient'`, `'hostile'`), both
   * (`{ preset, … }`), or what `fxrates probe` has found out. See `mock.behaviour.describe()`.
   */
  readonly behaviour?: PresetName | BehaviourOptions | undefined;
  /** What happens when an answer relies on one of them that `behaviour` does not name. Default: `'ignore'`. */
  readonly onAssumption?: OnAssumption | undefined;
  /** Lets `behaviour` contradict what the service documents. Default: false. */
  readonly unsafe?: boolean | undefined;
  /**
   * The `data` of `latest`: an object, or a function that makes it from the query and may ask `context.invented()` for
   * what the mock would answer. `mock.latest.set` changes it at run time.
   */
  readonly latest?: LatestFunction | object | undefined;
  /** Recorded answers of `latest`: one envelope for every query, or answers by query. */
  readonly replay?: LatestSource['replay'];
  /** Where the mock answers in process; an origin. Default: `https://fxrates.test`. */
  readonly baseUrl?: string | undefined;
  /** How many requests the journal keeps. Default: 1000. */
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

/** Refuses what cannot be, and names it. `clock`, `behaviour` and `replay` are checked where they are used. */
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
  if (Array.isArray(latest)) throw invalidOption('latest', latest, 'an object; mock.latest.set takes a sequence');
  if (latest !== undefined && typeof latest !== 'function' && (typeof latest !== 'object' || latest === null)) {
    throw invalidOption('latest', latest, 'an object, or a function from the query to the data');
  }
  if (latest !== undefined && replay !== undefined) {
    throw invalidOption('replay', replay, 'nothing beside the option latest, which answers every query');
  }
  // What is changed later must not change the answers.
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
