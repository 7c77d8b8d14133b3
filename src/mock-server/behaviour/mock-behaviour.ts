import type { ServiceContext } from '../service/service-state.ts';
import type { SwitchDescription } from './behaviour.ts';
import type { BehaviourOptions } from './behaviour-options.ts';
import type { PresetName } from './switch.ts';
import type { BehaviourValues } from './switches.ts';

/** The behaviours the service does not show, as users see and change them. */
export interface MockBehaviour {
  readonly values: BehaviourValues;
  /** Every switch with its value, default, alternatives, provenance, and why it exists. */
  describe(): readonly SwitchDescription[];
  /** Changes some switches, or all to a preset, from the next request on. Another kind of window begins empty. */
  set(options: PresetName | BehaviourOptions): void;
}

export function createMockBehaviour({ behaviour, state }: ServiceContext): MockBehaviour {
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
