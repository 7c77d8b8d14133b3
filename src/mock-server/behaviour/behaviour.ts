import {
  type BehaviourOptions,
  changedSettings,
  DEFAULT_SETTINGS,
  type SwitchSettings,
  type SwitchValues,
  settingsOf,
} from './behaviour-options.ts';
import type { PresetName, Provenance } from './switch.ts';
import { type BehaviourValues, type SwitchName, switches } from './switches.ts';

/** A switch and its current value. */
export interface SwitchDescription {
  /** Name of the switch. */
  readonly name: SwitchName;
  /** Current value. */
  readonly value: unknown;
  /** Default value. */
  readonly default: unknown;
  /** Other values; for numbers and texts, examples. */
  readonly alternatives: readonly unknown[];
  /** How the current value is known. */
  readonly provenance: Provenance;
  /** Whether the value was set, observed or documented. `onAssumption` reports only values that are not accepted. */
  readonly accepted: boolean;
  /** The undocumented point in openapi.yaml; `undefined` if the behaviour is documented. */
  readonly notShown: string | undefined;
  /** Reason for the default. */
  readonly why: string;
}

/** The values of the switches, for a decision. */
export interface Switches {
  readonly values: BehaviourValues;
  /** The value of a switch. In a request, it records that the response depends on the switch. */
  use<Name extends SwitchName>(name: Name): BehaviourValues[Name];
}

/** The switches for one request, and those that its response depends on. */
export class RequestSwitches implements Switches {
  readonly values: BehaviourValues;
  readonly used: SwitchName[] = [];

  constructor(values: BehaviourValues) {
    this.values = values;
  }

  use<Name extends SwitchName>(name: Name): BehaviourValues[Name] {
    if (!this.used.includes(name)) this.used.push(name);
    return this.values[name];
  }
}

/** The switches of one mock. */
export class Behaviour implements Switches {
  #settings: SwitchSettings;
  readonly #initial: SwitchSettings;
  readonly #unsafe: boolean;

  constructor(options: PresetName | BehaviourOptions, { unsafe = false, from = DEFAULT_SETTINGS } = {}) {
    this.#unsafe = unsafe;
    this.#initial = changedSettings(from, options, { unsafe });
    this.#settings = this.#initial;
  }

  /** A copy of these switches, changed by `options`. */
  copy(options: PresetName | BehaviourOptions = {}): Behaviour {
    return new Behaviour(options, { unsafe: this.#unsafe, from: this.#settings });
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
    this.#settings = changedSettings(this.#settings, options, { unsafe: this.#unsafe });
  }

  /** The values of a snapshot, with the default of each switch that it lacks. Throws for a value that this mock rejects. */
  checkedValues(values: SwitchValues): BehaviourValues {
    return changedSettings(DEFAULT_SETTINGS, values, { unsafe: this.#unsafe }).values;
  }

  /** Restores checked values. */
  restore(values: BehaviourValues): void {
    // A snapshot has no provenance. A value that differs from the current one counts as chosen.
    const settings = Array.from(this.#settings.bySwitch, ([name, setting]) => {
      const value = values[name];
      const chosen = { value, provenance: switches[name].provenance, isAccepted: true };
      return [name, setting.value === value ? setting : chosen] as const;
    });
    this.#settings = settingsOf(new Map(settings));
  }

  /** Returns a function that restores the switches as they are now. */
  save(): () => void {
    const settings = this.#settings;
    return () => {
      this.#settings = settings;
    };
  }

  /** Restores the first values. */
  reset(): void {
    this.#settings = this.#initial;
  }

  describe(): readonly SwitchDescription[] {
    return Array.from(this.#settings.bySwitch, ([name, { value, provenance, isAccepted: accepted }]) => {
      const { default: byDefault, alternatives, notShown, why } = switches[name];
      return { name, value, default: byDefault, alternatives, provenance, accepted, notShown, why };
    });
  }
}

/** Reads and changes the switches for undocumented behaviour. */
export interface MockBehaviour {
  /** The current value of each switch. */
  readonly values: BehaviourValues;
  /** Returns each switch with its value, default, alternatives, provenance and the reason for the default. */
  describe(): readonly SwitchDescription[];
  /**
   * Changes switches, or applies a preset, from the next request on. A new kind of per-minute window starts empty.
   * @throws MockServerError with code `invalid_option`; then no switch is changed.
   * @example mock.behaviour.set({ quotaExhausted: '402 quota_exceeded' })
   */
  set(options: PresetName | BehaviourOptions): void;
}

/** The switches, and the keys, whose windows depend on a switch. */
interface BehaviourContext {
  readonly behaviour: Behaviour;
  readonly state: { readonly keys: ReadonlyMap<string, { window: unknown; quotaEndpointWindow: unknown }> };
}

export function createMockBehaviour({ behaviour, state }: BehaviourContext): MockBehaviour {
  return {
    get values() {
      return behaviour.values;
    },
    describe: () => behaviour.describe(),
    set(options) {
      const { rateWindow } = behaviour.values;
      behaviour.set(options);
      if (behaviour.values.rateWindow === rateWindow) return;
      for (const key of state.keys.values()) {
        key.window = undefined;
        key.quotaEndpointWindow = undefined;
      }
    },
  };
}
