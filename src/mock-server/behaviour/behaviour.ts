import * as z from 'zod';
import { definedOf } from '../../json.ts';
import { checkedInput, plainObject, type ValueOf } from '../input/checked-input.ts';
import { invalidOption, unknownName } from '../input/mock-server-error.ts';
import { accepts, PRESET_NAMES, PROVENANCES, type PresetName, type Provenance, type Switch } from './switch.ts';
import { type BehaviourValues, SWITCH_GROUPS, SWITCH_NAMES, type SwitchName, switches } from './switches.ts';

const switchValue = z.union([z.string(), z.number(), z.boolean(), z.null()]);

export const switchDescription = plainObject({
  /** Name of the switch. */
  name: z.enum(SWITCH_NAMES),
  /** Topic of the switch. */
  group: z.string().describe('Topic of the switch.'),
  /** Current value. */
  value: switchValue,
  /** Default value. */
  default: switchValue,
  /** Other values; for numbers and texts, examples. */
  alternatives: z.array(switchValue),
  /** How the current value is known. */
  provenance: z.enum(PROVENANCES),
  /** Whether the value was set or observed. `onAssumption` reports only values that are not accepted. */
  accepted: z.boolean().describe('Whether the value was set or observed.'),
  /** The undocumented point in openapi.yaml. */
  notShown: z.string().describe('The undocumented point in openapi.yaml.'),
  /** Reason for the default. */
  why: z.string(),
});

/** A switch and its current value. */
export interface SwitchDescription extends ValueOf<typeof switchDescription> {}

/** The values of the switches, for a decision. */
export interface Switches {
  readonly values: BehaviourValues;
  /** The value of a switch. In a request, it records that the response depends on the switch. */
  use<Name extends SwitchName>(name: Name): BehaviourValues[Name];
}

/** The switches for one request, and those that its response depends on. */
export class RequestSwitches implements Switches {
  readonly values: BehaviourValues;
  /** In the order of their use. */
  used = NONE;

  constructor({ values }: Behaviour) {
    this.values = values;
  }

  use<Name extends SwitchName>(name: Name): BehaviourValues[Name] {
    if (this.used === NONE) this.used = [name];
    else if (!this.used.includes(name)) this.used.push(name);
    return this.values[name];
  }
}

/** Of the requests that depend on no switch. */
const NONE: SwitchName[] = [];
Object.freeze(NONE);

/** The switches of one mock. */
export class Behaviour implements Switches {
  #settings: SwitchSettings;
  readonly #initial: SwitchSettings;

  constructor(options: PresetName | BehaviourOptions, from = DEFAULT_SETTINGS) {
    this.#initial = changedSettings(from, options);
    this.#settings = this.#initial;
  }

  /** A copy of these switches, changed by `options`. */
  copy(options: PresetName | BehaviourOptions = {}): Behaviour {
    return new Behaviour(options, this.#settings);
  }

  get values(): BehaviourValues {
    return this.#settings.values;
  }

  use<Name extends SwitchName>(name: Name): BehaviourValues[Name] {
    return this.values[name];
  }

  /** Returns those of `names` whose value is an assumption that was not accepted. */
  assumptionsAmong(names: readonly SwitchName[]): readonly SwitchName[] {
    return names.filter((name) => this.#settings.bySwitch.get(name)?.isAccepted === false);
  }

  /** Changes switches. If a value is invalid, nothing changes. */
  set(options: PresetName | BehaviourOptions): void {
    this.#settings = changedSettings(this.#settings, options);
  }

  /** The values of a snapshot, with the default of each switch that it lacks. Throws for a value that this mock rejects. */
  checkedValues(values: SwitchValues): BehaviourValues {
    return changedSettings(DEFAULT_SETTINGS, values).values;
  }

  /** Restores checked values. */
  restore(values: BehaviourValues): void {
    // A snapshot has no provenance. A value that is neither the current nor the first one counts as chosen.
    const bySwitch = new Map(this.#settings.bySwitch);
    for (const name of SWITCH_NAMES) {
      const [value, initial] = [values[name], this.#initial.bySwitch.get(name)];
      if (value === this.values[name]) continue;
      const isInitial = initial !== undefined && initial.value === value;
      bySwitch.set(name, isInitial ? initial : readSetting(name, value));
    }
    this.#settings = settingsOf(bySwitch);
  }

  /** Restores the first values. */
  reset(): void {
    this.#settings = this.#initial;
  }

  describe(): readonly SwitchDescription[] {
    return Array.from(this.#settings.bySwitch, ([name, { provenance, isAccepted: accepted }]) => {
      const { default: byDefault, notShown, why } = switches[name];
      const [group, value, alternatives] = [groupOf(name), this.values[name], [...switches[name].alternatives]];
      return { name, group, value, default: byDefault, alternatives, provenance, accepted, notShown, why };
    });
  }
}

function groupOf(name: SwitchName): string {
  const found = Object.entries(SWITCH_GROUPS).find(([, group]) => Object.hasOwn(group, name));
  return found?.[0] ?? 'Other';
}

/** Values for some switches. */
export type SwitchValues = { readonly [Name in SwitchName]?: BehaviourValues[Name] | undefined };

/** A value with its provenance, as in files that `fxrates probe` writes. */
export interface KnownValue<Value = unknown> {
  /** Value of the switch. */
  readonly value: Value;
  /** How the value is known. With `'assumed'`, `onAssumption` still reports the switch. */
  readonly provenance: Provenance;
}

/**
 * Values of switches, with or without their provenance. A preset is applied before the other values.
 * @example { preset: 'lenient', rateWindow: 'fixed-epoch' }
 */
export type BehaviourOptions = {
  readonly [Name in keyof BehaviourValues]?: BehaviourValues[Name] | KnownValue<BehaviourValues[Name]> | undefined;
} & {
  /** Preset that sets all switches. */
  readonly preset?: PresetName | undefined;
  /** Ignored by the mock. `fxrates probe` writes its summary here. */
  readonly about?: unknown;
};

/** Switches to change, as JSON. */
const behaviourChanges = z.strictObject({
  preset: z.enum(PRESET_NAMES).optional(),
  about: z.unknown().optional().describe('A note. The mock ignores it.'),
  ...Object.fromEntries(SWITCH_NAMES.map((name) => [name, changeOf(name)])),
});
/** As `BehaviourOptions`, for the description of the admin API. */
export const presetOrChanges = z.union([z.enum(PRESET_NAMES), behaviourChanges]);

function changeOf(name: SwitchName): z.ZodType {
  const { schema } = switches[name];
  return z.union([schema, z.strictObject({ value: schema, provenance: z.enum(PROVENANCES) })]).optional();
}

/** One possible behaviour of the service, for example for `test.each`. */
export interface BehaviourCase {
  /** The values that differ from the defaults, for example `rateWindow: token-bucket`. */
  readonly title: string;
  /** For `createMockServer({ behaviour })`. Sets every switch of the matrix, so that none of them is an assumption. */
  readonly behaviour: BehaviourOptions;
}

/**
 * Returns possible behaviours of the service as cases for a test, by default over all switches: the defaults, then one
 * case per other value. The same arguments always return the same cases.
 * @throws MockServerError with code `invalid_option`, for an unknown switch.
 * @example test.each(behaviourMatrix(['rateWindow']))('survives $title', async ({ behaviour }) => { … })
 */
export function behaviourMatrix(names: readonly SwitchName[] = SWITCH_NAMES): readonly BehaviourCase[] {
  if (typeof names === 'string') throw invalidOption('names', names, 'an array of switches');
  const unknown = names.find((name) => !SWITCH_NAMES.includes(name));
  if (unknown !== undefined) throw invalidOption('names', unknown, `one of ${SWITCH_NAMES.join(', ')}`);
  const defaults: SwitchValues = Object.fromEntries(names.map((name) => [name, switches[name].default]));
  const others = Array.from(new Set(names)).flatMap((name) =>
    switches[name].alternatives.map((value) => ({
      title: `${name}: ${value}`,
      behaviour: { ...defaults, [name]: value },
    })),
  );
  return [{ title: 'defaults', behaviour: defaults }, ...others];
}

/** The setting of one switch. */
interface SwitchSetting extends KnownValue {
  /** Whether the value was set or observed. A response that depends on it is then no assumption. */
  readonly isAccepted: boolean;
}

/** All switches. The spaces of a mock with the same settings share them. */
export interface SwitchSettings {
  readonly bySwitch: ReadonlyMap<SwitchName, SwitchSetting>;
  readonly values: BehaviourValues;
}

function settingsOf(bySwitch: SwitchSettings['bySwitch']): SwitchSettings {
  // Checked when they were set.
  const values = Object.fromEntries(SWITCH_NAMES.map((name) => [name, bySwitch.get(name)?.value])) as BehaviourValues;
  return { bySwitch, values: Object.freeze(values) };
}

/** No switch set. */
const DEFAULT_SETTINGS = settingsOf(new Map(SWITCH_NAMES.map((name) => [name, defaultSetting(name)])));

function defaultSetting(name: SwitchName): SwitchSetting {
  return { value: switches[name].default, provenance: 'assumed', isAccepted: false };
}

/** The settings after a change: all of it or, when something is wrong, an error that names it. */
function changedSettings(current: SwitchSettings, options: PresetName | BehaviourOptions): SwitchSettings {
  checkKind(options);
  const { preset, about: _, ...given } = typeof options === 'string' ? { preset: options } : options;
  const chosen = Object.entries({ ...(preset === undefined ? {} : presetValues(preset)), ...definedOf(given) });
  if (preset === undefined && chosen.length === 0) return current;
  const changed = new Map((preset === undefined ? current : DEFAULT_SETTINGS).bySwitch);
  for (const [name, wanted] of chosen) {
    if (!Object.hasOwn(switches, name))
      throw unknownName(name, { what: 'a switch', known: SWITCH_NAMES }, 'behaviour.');
    changed.set(name as SwitchName, readSetting(name as SwitchName, wanted));
  }
  return settingsOf(changed);
}

function checkKind(options: unknown): void {
  if (PRESET_NAMES.some((name) => name === options) || (typeof options === 'object' && options !== null)) return;
  throw invalidOption('behaviour', options, `a preset (${PRESET_NAMES.join(', ')}) or an object of switches`);
}

/** The values of a preset. */
export function presetValues(preset: unknown): SwitchValues {
  if (preset === 'documented') return {};
  if (preset === 'lenient' || preset === 'hostile') {
    return Object.fromEntries(SWITCH_NAMES.map((name) => [name, switches[name][preset]]));
  }
  throw invalidOption('behaviour.preset', preset, `one of ${PRESET_NAMES.join(', ')}`);
}

function readSetting(name: SwitchName, wanted: unknown): SwitchSetting {
  const known: Switch<unknown> = switches[name];
  const isKnown = typeof wanted === 'object' && wanted !== null && 'value' in wanted && 'provenance' in wanted;
  const { value: given, provenance: way } = isKnown ? wanted : { value: wanted, provenance: 'assumed' };
  // '400' of a list of texts may be written as 400: --behaviour unknownParameters=400 is a number.
  const value = typeof given === 'number' && accepts(known, String(given)) ? String(given) : given;
  checkedInput(known.schema, value, { what: 'a switch', whole: `behaviour.${name}` });
  const whole = `behaviour.${name}.provenance`;
  const provenance = checkedInput(z.enum(PROVENANCES), way, { what: 'a provenance', whole });
  // A plain value was set by the user; a value with provenance 'assumed' was not.
  return { value, provenance, isAccepted: !isKnown || provenance !== 'assumed' };
}
