import * as z from 'zod';
import { isJson, isJsonObject } from '../json.ts';
import type { BehaviourOptions } from './behaviour/behaviour.ts';
import type { PresetName } from './behaviour/switch.ts';
import type { FaultOptions } from './faults/fault-kinds.ts';
import { checkedInput, type Immutable, trueOrFalse } from './matching/checked-input.ts';
import { invalidOption } from './mock-server-error.ts';
import { type CreatedKey, keyUsage } from './service/keys.ts';
import { planName } from './service/service-state.ts';
import { jsonParts, unquoted, withDigits } from './stubs/json-parts.ts';
import type { LatestData } from './stubs/mock-latest.ts';
import type { Replay } from './stubs/replay.ts';
import type { LatestFunction, StubOptions } from './stubs/stub-schemas.ts';

export const setupKey = z.strictObject({
  /**
   * Plan of the account.
   * @default 'free'
   */
  plan: planName.optional(),
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
export type SetupKey = Immutable<z.input<typeof setupKey>>;

/** The parts are checked when they are applied. */
export const setupParts = z.strictObject({
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
   * The `data` of `latest` for every query. An array has one element per request; the last one repeats.
   * @default unchanged
   * @example { base: 'EUR', rates: { USD: 1.1 } }
   */
  latest: z.custom<Exclude<LatestData, LatestFunction>>().optional(),
  /**
   * Responses of `latest` by query, as in the option `replay`. Cannot be combined with `latest`.
   * @default unchanged
   * @example { 'base=EUR': { base: 'EUR', rates: { USD: 1.1 } }, '*': { base: 'USD', rates: { EUR: 0.9 } } }
   */
  replay: z.custom<Replay>().optional(),
  /**
   * Stubs to add, as with `mock.stubs.add()`.
   * @default none
   */
  stubs: z.custom<readonly StubOptions[]>().optional(),
  /**
   * Faults to add, as with `mock.faults.add()`.
   * @default none
   */
  faults: z.custom<readonly FaultOptions[]>().optional(),
  /** Ignored by the mock. Editors read it. */
  $schema: z.custom<string>().optional(),
});

/** Keys, switches, responses and faults, as in a file for `fxrates mock --setup`. */
export type Setup = Readonly<z.input<typeof setupParts>>;

/** The result of `mock.setUp()`. */
export interface SetupResult {
  /** The created keys, in the order of the setup. */
  readonly keys: readonly CreatedKey[];
}

/** A setup with valid names of fields. Its parts are checked when they are applied. */
export function checkedSetup(given: Setup | string): Setup {
  const setup = typeof given === 'string' ? parsedSetup(given.trim()) : given; // trim() also removes a byte order mark
  if (!isJsonObject(setup)) throw invalidOption('setup', setup, 'an object');
  return checkedInput(setupParts, setup, { what: 'a field of a setup' });
}

/** The setup in a JSON text. The digits of numbers in responses stay as they are. */
function parsedSetup(json: string): Setup {
  if (!isJson(json)) throw invalidOption('setup', json, 'a setup as JSON');
  const setup: Setup = JSON.parse(json);
  // A value that is not an object is refused as it is.
  if (!isJsonObject(setup)) return setup;
  const exact: { latest?: string; replay?: string; stubs?: StubOptions[] } = {};
  for (const { name, text } of jsonParts(json)) {
    if (name === 'latest' || name === 'replay') exact[name] = unquoted(text);
    if (name === 'stubs' && Array.isArray(setup.stubs)) exact.stubs = jsonParts(text).map(exactStub);
  }
  return { ...setup, ...exact };
}

function exactStub({ text }: { readonly text: string }): StubOptions {
  return withDigits(JSON.parse(text), text);
}
