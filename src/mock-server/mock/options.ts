import * as z from 'zod';
import { isJsonObject, jsonErrorPlace, parseJson } from '../../json.ts';
import type { BehaviourOptions } from '../behaviour/behaviour.ts';
import type { PresetName } from '../behaviour/switch.ts';
import type { ClockOptions } from '../clock/clock.ts';
import {
  checkedInput,
  eachOf,
  expected,
  strictObject,
  trueOrFalse,
  type ValueOf,
  wholeFrom,
} from '../input/checked-input.ts';
import { checkLength, expectedText, fieldError, invalidOption, within } from '../input/mock-server-error.ts';
import { memberText } from '../rules/answers.ts';
import { type CheckedRule, checkedRules, checkKeyIds } from '../rules/mock-rules.ts';
import type { RuleOptions } from '../rules/rule-schema.ts';
import { type CreatedKey, checkMinute, keyUsage } from '../service/keys.ts';
import { rateLimitOf } from '../service/rate-windows.ts';
import { keyLimitOptions, planName } from '../service/service-state.ts';

/** Clock, behaviour, rules and setup are checked where they are used. */
const optionsShape = strictObject({
  /**
   * Determines keys, invented rates, and the `probability` and delays of rules: the same seed produces the same values. A whole
   * number from 0.
   * @default 1
   */
  seed: wholeFrom(0).default(1),
  /**
   * The clock of the mock: real time, or virtual time that the test moves.
   * @default 'real'
   * @example { mode: 'virtual', now: '2026-01-31T23:59:00Z', autoAdvance: false }
   */
  clock: z.custom<'real' | 'virtual' | ClockOptions>().default('real'),
  /**
   * Switches for undocumented behaviour: values, a preset (`'documented'`, `'lenient'`, `'hostile'`), a preset with
   * changes, or the content of a file that `fxrates probe` wrote. `mock.behaviour.describe()` lists all switches.
   * @default 'documented'
   * @example { preset: 'hostile', rateWindow: 'fixed-epoch' }
   */
  behaviour: z.custom<PresetName | BehaviourOptions>().default({}),
  /**
   * Reaction to a response that depends on a switch that you did not set: none (`'ignore'`), a process
   * warning that names the switches (`'warn'`), or the response 501 `assumption` (`'error'`).
   *
   * @default 'ignore'
   */
  onAssumption: z.enum(['ignore', 'warn', 'error'], { error: "'ignore', 'warn' or 'error'" }).default('ignore'),
  /**
   * Rules that the mock and its spaces start with, as with `mock.rules.add()`. `reset()` adds them again. `recordedRules()`
   * returns those of a recording.
   * @default none
   * @example [{ nth: 1, respond: { status: 503 } }]
   */
  rules: z.custom<readonly RuleOptions[]>().optional(),
  /**
   * Keys, switches and rules that the mock starts with, or JSON text of them, as in `fxrates mock --setup`. `reset()` applies
   * the setup again. `mock.setupKeys` returns its keys. The options `behaviour` and `rules` override it.
   * @default none
   * @example { keys: [{ plan: 'developer' }], rules: [{ nth: 3, respond: { status: 503 } }] }
   */
  setup: z.custom<Setup | string>().optional(),
  /**
   * Origin at which the mock responds in process, through `fetch`, `listen()` and `handlers`.
   * @default 'https://fxrates.test'
   */
  baseUrl: expected('an http or https origin such as https://fxrates.test', z.string().refine(isOrigin))
    .transform((text) => new URL(text).origin)
    .default('https://fxrates.test'),
  /**
   * Number of requests that the journal keeps. When it is full, the oldest request is dropped.
   * @default 1000
   */
  journalSize: wholeFrom(0).default(1000),
  /**
   * Path of a file that keeps the state. If the file exists, the mock begins with its state: `setup`, `rules`, `seed`,
   * `clock.now` and `clock.frozen` then have no effect until `reset()`; `behaviour` overrides the switches of the file. The mock
   * writes the file when it is closed, and shortly after each request that can change the state. Until it is closed, no other
   * mock can use the file.
   * @default no file
   * @example './mock-state.json'
   */
  state: expected('the path of a file', z.string().min(1)).optional(),
});

/** Options of `createMockServer`. All are optional. */
export interface MockServerOptions extends ValueOf<typeof optionsShape> {}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, username } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === '/' && search === '' && username === '';
}

/** Reaction to a response that depends on an assumed value that was not set. */
export type OnAssumption = 'ignore' | 'warn' | 'error';

/** The options with their defaults, checked. */
export interface CheckedMockOptions extends Readonly<Omit<z.output<typeof optionsShape>, 'setup' | 'rules'>> {
  /** With the rules of the option `rules`, which are added last. */
  readonly setup: CheckedSetup;
}

/** Throws for an unknown option or an invalid value. */
export function checkOptions(options: MockServerOptions): CheckedMockOptions {
  const { rules: given = [], ...checked } = checkedInput(optionsShape, options, {
    what: 'an option of createMockServer',
  });
  const setup = within('setup', () => checkedSetup(checked.setup ?? {}));
  const rules = checkedRules(given);
  const keyIds = new Set(setup.keys.map((_, index) => `key_${index + 1}`));
  within('setup', () => checkKeyIds(setup.rules, keyIds));
  checkKeyIds(rules, keyIds);
  return { ...checked, setup: { ...setup, rules: [...setup.rules, ...rules] } };
}

export const setupKey = strictObject({
  /**
   * Plan of the account.
   * @default 'free'
   */
  plan: planName.optional(),
  /**
   * Limits in place of those of the plan, as in `mock.createKey()`.
   * @default the limits of the plan
   */
  limits: keyLimitOptions.optional(),
  /**
   * Usage of both limits, as in `mock.keys.setUsage()`.
   * @default nothing is used
   */
  usage: keyUsage.optional(),
  /**
   * Whether the key is revoked: requests with it fail.
   * @default false
   */
  revoked: trueOrFalse.optional().describe('Whether requests with the key fail. Default: false.'),
});

/** A key of a setup. */
export interface SetupKey extends ValueOf<typeof setupKey> {}

/** The parts are checked when they are applied. */
export const setupParts = strictObject({
  /**
   * Keys to create, each with a confirmed account of its own. The first is the key of `fxrates mock`.
   * @default none
   */
  keys: z.custom<readonly SetupKey[]>().optional(),
  /**
   * Switches to change: a preset, or values as in `mock.behaviour.set()`.
   * @default unchanged
   * @example { quotaExhausted: '402 quota_exceeded' }
   */
  behaviour: z.custom<PresetName | BehaviourOptions>().optional(),
  /**
   * Rules to add, as with `mock.rules.add()`.
   * @default none
   */
  rules: z.custom<readonly RuleOptions[]>().optional(),
});

/** Keys, switches and rules, as in a file for `fxrates mock --setup`. */
export interface Setup extends ValueOf<typeof setupParts> {}

/** A setup whose parts were checked, apart from what depends on the mock. */
export interface CheckedSetup extends Pick<Setup, 'behaviour'> {
  readonly keys: readonly SetupKey[];
  readonly rules: readonly CheckedRule[];
}

/** The result of `mock.setUp()`. */
export interface SetupResult {
  /** The created keys, in the order of the setup. */
  readonly keys: readonly CreatedKey[];
}

/** A setup, or JSON text of one, in which numbers of responses keep their digits. */
export function checkedSetup(given: Setup | string): CheckedSetup {
  const json = typeof given === 'string' ? given.trim() : undefined; // also removes a byte order mark
  const setup = json === undefined ? given : parseJson(json);
  if (json !== undefined && setup === undefined) {
    const expected = expectedText(json, 'a setup as JSON');
    const place = json.startsWith('{') ? jsonErrorPlace(json) : ''; // otherwise, it is a path
    throw invalidOption('setup', json, expected + (place && `. It is wrong at ${place}`));
  }
  if (!isJsonObject(setup)) throw invalidOption('setup', setup, 'an object');
  const { behaviour, keys = [], rules = [] } = checkedInput(setupParts, setup, { what: 'a field of a setup' });
  return {
    behaviour,
    keys: checkedKeys(keys),
    rules: checkedRules(rules, json && memberText(json, 'rules')),
  };
}

function checkedKeys(given: readonly SetupKey[]): readonly SetupKey[] {
  checkLength('keys', given, MOST_KEYS);
  const keys = eachOf('keys', given, checkedKey);
  const counted = keys.reduce((sum, { usage }) => sum + (usage?.minute ?? 0), 0);
  if (counted <= MOST_COUNTED) return keys;
  throw fieldError('keys', `have ${counted} requests in usage.minute; expected at most ${MOST_COUNTED} of all keys.`);
}

/** They are created in one step, in which the mock handles no request. */
const MOST_KEYS = 2_000;
/** The switch `rateWindow` can keep the time of each of them. */
const MOST_COUNTED = 1_000_000;

function checkedKey(given: SetupKey): SetupKey {
  const key = checkedInput(setupKey, given, { what: 'a field of a key' });
  const { usage = {}, plan = 'free', limits } = key;
  within('usage', () => checkMinute(usage, rateLimitOf({ account: { plan }, limits })));
  return key;
}
