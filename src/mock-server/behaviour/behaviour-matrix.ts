import { invalidOption } from '../mock-server-error.ts';
import type { BehaviourOptions, SwitchValues } from './behaviour.ts';
import { SWITCH_NAMES, type SwitchName, switches } from './switches.ts';

/** One possible behaviour of the service, for example for `test.each`. */
export interface BehaviourCase {
  /** The values that differ from the defaults, for example `rateWindow: token-bucket`. */
  readonly title: string;
  /** For `createMockServer({ behaviour })`. Sets every switch of the matrix, so that none of them is an assumption. */
  readonly behaviour: BehaviourOptions;
}

/**
 * Returns possible behaviours of the service as cases for a test, by default over all undocumented switches: the defaults,
 * then one case per other value. The same arguments always return the same cases.
 * @throws MockServerError with code `invalid_option`, for an unknown or a documented switch.
 * @example test.each(behaviourMatrix(['rateWindow']))('survives $title', async ({ behaviour }) => { … })
 */
export function behaviourMatrix(names: readonly SwitchName[] = UNDOCUMENTED): readonly BehaviourCase[] {
  const unknown = names.find((name) => !UNDOCUMENTED.includes(name));
  if (unknown !== undefined) throw invalidOption('names', unknown, `one of ${UNDOCUMENTED.join(', ')}`);
  const defaults: SwitchValues = Object.fromEntries(names.map((name) => [name, switches[name].default]));
  const others = Array.from(new Set(names)).flatMap((name) =>
    switches[name].alternatives.map((value) => ({
      title: `${name}: ${value}`,
      behaviour: { ...defaults, [name]: value },
    })),
  );
  return [{ title: 'defaults', behaviour: defaults }, ...others];
}

const UNDOCUMENTED = SWITCH_NAMES.filter((name) => switches[name].provenance !== 'documented');
