import * as z from 'zod';
import type { NotShown } from '../../generated/service.ts';
import { expected } from '../input/checked-input.ts';

/** How a value is known: `observed` by a probe of the real service, or `assumed`. */
export type Provenance = (typeof PROVENANCES)[number];

export const PROVENANCES = ['assumed', 'observed'] as const;

/**
 * Values for all switches. `documented`: the defaults, which stay assumptions. `lenient`: the values that
 * lead to the fewest refusals and the most information. `hostile`: the values that are most difficult for a client.
 */
export type PresetName = (typeof PRESET_NAMES)[number];

export const PRESET_NAMES = ['documented', 'lenient', 'hostile'] as const;

/** A behaviour that the service does not document, with the mock's default and alternatives. */
export interface Switch<Value> {
  /** The accepted values, with their description. */
  readonly schema: z.ZodType;
  readonly default: Value;
  /** Other values; for a number, examples of others. */
  readonly alternatives: readonly Value[];
  /** Values in the presets of these names. */
  readonly lenient: Value;
  readonly hostile: Value;
  /** The entry of `x-not-shown` in openapi.yaml. */
  readonly notShown: NotShown;
  /** Why `fxrates probe` has not observed the switch, if all its steps for the switch ended without another reason. */
  readonly notObserved: string;
  /** Reason for the default. */
  readonly why: string;
}

type SwitchTexts<Value> = Pick<Switch<Value>, 'why' | 'notShown'> & {
  /** Default: the default value. */
  readonly lenient?: Value;
  readonly hostile?: Value;
  /** Default: the probe has no step for the switch. */
  readonly notObserved?: string;
};

/** A switch with a fixed list of values; the first is the default. */
export function enumSwitch<const Value extends string | number | boolean | null>(
  values: readonly [Value, ...Value[]],
  about: SwitchTexts<NoInfer<Value>>,
): Switch<Value> {
  const words = `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;
  return createSwitch(values, about, expected(words, z.literal(values)));
}

/** A switch that takes a whole number, or `null` for none where `null` is the default or among the alternatives. */
export function numberSwitch<Value extends number | null>(
  values: readonly [Value, ...Value[]],
  { min, ...about }: SwitchTexts<NoInfer<Value>> & { readonly min: number },
): Switch<Value> {
  const isNullable = values.some((value) => value === null);
  const words = `a whole number from ${min}${isNullable ? ', or null for none' : ''}`;
  const number = expected(words, z.int().min(min));
  return createSwitch(values, about, isNullable ? number.nullable() : number);
}

/** A switch that takes any text matching `pattern`. */
export function textSwitch(
  values: readonly [string, ...string[]],
  { pattern, ...about }: SwitchTexts<string> & { readonly pattern: RegExp },
): Switch<string> {
  return createSwitch(values, about, expected(`text matching ${pattern.source}`, z.string().regex(pattern)));
}

function createSwitch<Value>(
  [first, ...alternatives]: readonly [Value, ...Value[]],
  { notObserved = 'no step of the probe observes it', ...about }: SwitchTexts<Value>,
  schema: z.ZodType,
): Switch<Value> {
  return {
    schema,
    lenient: first,
    hostile: first,
    ...about,
    notObserved,
    default: first,
    alternatives,
  };
}

/** The status and the error code that a switch value such as `'401 unauthorized'` names. */
export function statusAndCode(value: `${number} ${string}`): { readonly status: number; readonly code: string } {
  return { status: Number(value.slice(0, 3)), code: value.slice(4) };
}

/** Whether a switch has this value. */
export function accepts({ schema }: Switch<unknown>, value: unknown): boolean {
  return schema.safeParse(value).success;
}
