import { definedOf } from '../../json-object.ts';
import { invalidOption, MockServerError, show, unknownName } from '../mock-server-error.ts';
import { PRESET_NAMES, type PresetName, type Provenance, type Switch } from './switch.ts';
import { type BehaviourValues, SWITCH_NAMES, type SwitchName, switches } from './switches.ts';

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
  /** Preset that sets all undocumented switches. */
  readonly preset?: PresetName | undefined;
  /** Ignored by the mock. `fxrates probe` writes its summary here. */
  readonly about?: unknown;
};

/** The setting of one switch. */
interface SwitchSetting extends KnownValue {
  /** Whether the value was set, observed or documented. A response that depends on it is then no assumption. */
  readonly isAccepted: boolean;
}

/** All switches. The spaces of a mock with the same settings share them. */
export interface SwitchSettings {
  readonly bySwitch: ReadonlyMap<SwitchName, SwitchSetting>;
  readonly values: BehaviourValues;
}

export function settingsOf(bySwitch: SwitchSettings['bySwitch']): SwitchSettings {
  // Checked when they were set.
  const values = Object.fromEntries(SWITCH_NAMES.map((name) => [name, bySwitch.get(name)?.value])) as BehaviourValues;
  return { bySwitch, values };
}

/** No switch set. */
export const DEFAULT_SETTINGS = settingsOf(new Map(SWITCH_NAMES.map((name) => [name, defaultSetting(name)])));

function defaultSetting(name: SwitchName): SwitchSetting {
  const { default: value, provenance } = switches[name];
  return { value, provenance, isAccepted: provenance !== 'assumed' };
}

/** The settings after a change: all of it or, when something is wrong, an error that names it. */
export function changedSettings(
  current: SwitchSettings,
  options: PresetName | BehaviourOptions,
  { unsafe }: { readonly unsafe: boolean },
): SwitchSettings {
  checkKind(options);
  const { preset, about: _, ...given } = typeof options === 'string' ? { preset: options } : options;
  const chosen = Object.entries({ ...(preset === undefined ? {} : presetValues(preset)), ...definedOf(given) });
  if (preset === undefined && chosen.length === 0) return current;
  const changed = new Map((preset === undefined ? current : DEFAULT_SETTINGS).bySwitch);
  for (const [name, wanted] of chosen) {
    if (!isSwitchName(name)) throw unknownName(name, { what: 'a switch', known: SWITCH_NAMES }, 'behaviour.');
    changed.set(name, readSetting(name, wanted, unsafe));
  }
  return settingsOf(changed);
}

function checkKind(options: unknown): void {
  if (PRESET_NAMES.some((name) => name === options) || (typeof options === 'object' && options !== null)) return;
  throw invalidOption('behaviour', options, `a preset (${PRESET_NAMES.join(', ')}) or an object of switches`);
}

/** The values of a preset; it never changes a documented switch. */
export function presetValues(preset: unknown): SwitchValues {
  if (preset === 'documented') return {};
  if (preset === 'lenient' || preset === 'hostile') {
    const undocumented = SWITCH_NAMES.filter((name) => switches[name].provenance !== 'documented');
    return Object.fromEntries(undocumented.map((name) => [name, switches[name][preset]]));
  }
  throw invalidOption('behaviour.preset', preset, `one of ${PRESET_NAMES.join(', ')}`);
}

function readSetting(name: SwitchName, wanted: unknown, unsafe: boolean): SwitchSetting {
  const known: Switch<unknown> = switches[name];
  const isKnown = typeof wanted === 'object' && wanted !== null && 'value' in wanted && 'provenance' in wanted;
  const { value, provenance } = isKnown ? wanted : { value: wanted, provenance: known.provenance };
  checkValue(name, value, unsafe);
  if (provenance !== 'assumed' && provenance !== 'documented' && provenance !== 'observed') {
    throw invalidOption(`behaviour.${name}.provenance`, provenance, 'assumed, documented or observed');
  }
  // A plain value was set by the user; a value with provenance 'assumed' was not.
  return { value, provenance, isAccepted: !isKnown || provenance !== 'assumed' };
}

function checkValue(name: SwitchName, value: unknown, unsafe: boolean): void {
  const known: Switch<unknown> = switches[name];
  if (!known.accepts(value)) throw invalidOption(`behaviour.${name}`, value, known.expected);
  if (known.provenance === 'documented' && value !== known.default && !unsafe) {
    throw new MockServerError(
      `behaviour.${name} is ${show(known.default)} in the documentation; to set another value, pass unsafe: true to createMockServer().`,
      { code: 'invalid_option', field: `behaviour.${name}` },
    );
  }
}

function isSwitchName(name: string): name is SwitchName {
  return Object.hasOwn(switches, name);
}
