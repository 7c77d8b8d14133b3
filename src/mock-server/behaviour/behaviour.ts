import { invalidOption, MockServerError, show } from '../mock-server-error.ts';
import type { Provenance, Switch } from './switch.ts';
import { type BehaviourValues, SWITCH_NAMES, type SwitchName, switches } from './switches.ts';

/** Values for some switches. */
export type BehaviourOptions = { readonly [Name in SwitchName]?: BehaviourValues[Name] | undefined };

/** What is known about one switch, and the value it has now. */
export interface SwitchDescription {
  readonly name: SwitchName;
  readonly value: unknown;
  readonly default: unknown;
  readonly alternatives: readonly unknown[];
  readonly provenance: Provenance;
  readonly notShown: string | undefined;
  readonly why: string;
}

/** The switches of one mock, and which of them the request in hand has asked. */
export class Behaviour {
  #values: BehaviourValues;
  #exercised: SwitchName[] = [];
  readonly #unsafe: boolean;

  constructor(options: BehaviourOptions, { unsafe = false } = {}) {
    this.#unsafe = unsafe;
    this.#values = merged(DEFAULTS, options, unsafe);
  }

  get values(): BehaviourValues {
    return this.#values;
  }

  /** The value of a switch; notes that the answer in hand depends on it. */
  use<Name extends SwitchName>(name: Name): BehaviourValues[Name] {
    if (!this.#exercised.includes(name)) this.#exercised.push(name);
    return this.#values[name];
  }

  /** Switches asked since the last call. */
  takeExercised(): readonly SwitchName[] {
    const exercised = this.#exercised;
    this.#exercised = [];
    return exercised;
  }

  /** Changes some switches; either all of them or, when one is wrong, none. */
  set(options: BehaviourOptions): void {
    this.#values = merged(this.#values, options, this.#unsafe);
  }

  /** Takes the values of a snapshot; a switch it does not have yet gets its default. */
  restore(values: BehaviourValues): void {
    this.#values = merged(DEFAULTS, values, true);
  }

  describe(): readonly SwitchDescription[] {
    return SWITCH_NAMES.map((name) => {
      const { default: byDefault, alternatives, provenance, notShown, why } = switches[name];
      return { name, value: this.#values[name], default: byDefault, alternatives, provenance, notShown, why };
    });
  }
}

const DEFAULTS = Object.fromEntries(
  SWITCH_NAMES.map((name) => [name, switches[name].default]),
) as unknown as BehaviourValues;

function merged(values: BehaviourValues, options: BehaviourOptions, unsafe: boolean): BehaviourValues {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) check(name, value, unsafe);
  return { ...values, ...Object.fromEntries(given) };
}

function check(name: string, value: unknown, unsafe: boolean): void {
  if (!isSwitchName(name)) throw unknownSwitch(name);
  const known: Switch<unknown> = switches[name];
  if (!known.accepts(value)) throw invalidOption(`behaviour.${name}`, value, known.expected);
  if (known.provenance === 'documented' && value !== known.default && !unsafe) {
    throw new MockServerError(
      `behaviour.${name} is documented to be ${show(known.default)}; createMockServer({ unsafe: true }) changes it all the same.`,
      { code: 'invalid_option' },
    );
  }
}

function isSwitchName(name: string): name is SwitchName {
  return Object.hasOwn(switches, name);
}

function unknownSwitch(name: string): MockServerError {
  return new MockServerError(`behaviour.${name} is not a switch; there are ${SWITCH_NAMES.join(', ')}.`, {
    code: 'invalid_option',
  });
}
