import type { ServiceContext } from '../service/service-state.ts';
import type { SwitchDescription } from './behaviour.ts';
import type { BehaviourOptions } from './behaviour-options.ts';
import type { PresetName } from './switch.ts';
import type { BehaviourValues } from './switches.ts';

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
