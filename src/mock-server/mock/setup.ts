import { createMockBehaviour } from '../behaviour/behaviour.ts';
import { strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { within } from '../input/mock-server-error.ts';
import { addRules, type CheckedRule, placedRules } from '../rules/mock-rules.ts';
import { revoke } from '../service/accounts.ts';
import { applyUsage, type CreatedKey, createKeyWithAccount, findKey } from '../service/keys.ts';
import { resetKeyUse } from '../service/service-state.ts';
import { ActiveAdapters, type MockState } from './mock-state.ts';
import type { CheckedSetup, InitialState, SetupKey, SetupResult } from './options.ts';

/** Applies a setup in one step. If it throws, because a part of it is not possible in this mock, nothing has changed. */
export function applySetup({ behaviour, keys, rules }: CheckedSetup, mock: MockState): SetupResult {
  const { state } = mock;
  if (behaviour !== undefined) mock.behaviour.copy(behaviour); // throws for a wrong value
  // Rules can name the keys that the setup creates.
  const created = keys.map((_, index) => `key_${state.lastKey + index + 1}`);
  const added = placedRules(rules, mock, new Set([...state.keys.keys(), ...created]));
  // The usage of a key depends on switches.
  if (behaviour !== undefined) createMockBehaviour(mock).set(behaviour);
  const result = { keys: keys.map((key) => createSetupKey(key, mock)) };
  addRules(mock, added);
  return result;
}

function createSetupKey({ plan, limits, usage = {}, revoked = false }: SetupKey, mock: MockState): CreatedKey {
  const created = createKeyWithAccount(mock, { plan, limits });
  const key = findKey(mock.state, created.id);
  applyUsage(mock, key, usage);
  if (revoked) revoke(key, mock.now());
  return created;
}

/** What a space of the mock contains. It does not have the keys of the mock, so no rules for one of them. */
export function initialStateOfSpace({ initial }: MockState, key: SetupKey): InitialState {
  const isForAnyKey = ({ settings }: CheckedRule) => settings.match.keyId === undefined;
  const { rules, optionRules } = initial;
  return { keys: [key], rules: rules.filter(isForAnyKey), optionRules: optionRules.filter(isForAnyKey) };
}

export const resetOptions = strictObject({
  /**
   * Whether accounts and keys stay, with unused limits: for a server on which other programs have created keys.
   * @default false
   */
  keepKeys: trueOrFalse.optional().describe('Whether accounts and keys stay, with unused limits. Default: false.'),
});

/** Options of `mock.reset()`. */
export interface ResetOptions extends ValueOf<typeof resetOptions> {}

/** Sets the state to the initial one. Returns the created keys; with `keepKeys`, accounts and keys stay, with unused limits. */
export function startState(mock: MockState, { keepKeys = false }: ResetOptions = {}): readonly CreatedKey[] {
  const { state, initial } = mock;
  Object.assign(state, mock.emptyState(), keepKeys ? resetKeyUse(state, mock.now()) : {});
  // As if it will be served, so every rule is possible. Another adapter refuses those that it cannot reproduce.
  const adapters = new ActiveAdapters();
  adapters.open('socket');
  const open = { ...mock, adapters };
  const { keys, rules, optionRules } = initial;
  const created = within('setup', () => applySetup({ keys: keepKeys ? [] : keys, rules }, open)).keys;
  applySetup({ keys: [], rules: optionRules }, open);
  return created;
}
