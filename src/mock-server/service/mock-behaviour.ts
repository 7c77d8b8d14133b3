import type { BehaviourOptions, SwitchDescription } from '../behaviour/behaviour.ts';
import type { PresetName } from '../behaviour/switch.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import { clearMinute, clearMonth, renewKeys, type ServiceContext } from './service-state.ts';

/** Reads and changes the switches for undocumented behaviour. */
export interface MockBehaviour {
  /** The current value of each switch. */
  readonly values: BehaviourValues;
  /** Returns each switch with its value, default, alternatives, provenance and the reason for the default. */
  describe(): readonly SwitchDescription[];
  /**
   * Changes switches, or applies a preset, from the next request on. A new kind of per-minute window or quota period starts
   * empty.
   * @throws MockServerError with code `invalid_option`; then no switch is changed.
   * @example mock.behaviour.set({ quotaExhausted: '402 quota_exceeded' })
   */
  set(options: PresetName | BehaviourOptions): void;
}

export function createMockBehaviour(context: ServiceContext): MockBehaviour {
  const { behaviour } = context;
  return {
    get values() {
      return behaviour.values;
    },
    describe: () => behaviour.describe(),
    set: (options) => setBehaviour(context, options),
  };
}

/** Changes switches. The usage of keys in windows and periods of another kind has no meaning, and is cleared. */
export function setBehaviour({ behaviour, state }: ServiceContext, options: PresetName | BehaviourOptions): void {
  const before = behaviour.values;
  behaviour.set(options);
  const { values } = behaviour;
  const isOtherWindow = values.rateWindow !== before.rateWindow;
  const isOtherPeriod = values.quotaPeriod !== before.quotaPeriod;
  if (isOtherWindow || isOtherPeriod) renewKeys(state);
  for (const key of state.keys.values()) {
    if (isOtherWindow) clearMinute(key);
    if (isOtherPeriod) clearMonth(key);
  }
}
