import { createMockBehaviour } from '../behaviour/behaviour.ts';
import { checkedInput, strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { checkLength, fieldError, within } from '../input/mock-server-error.ts';
import { addRules, preparedRules } from '../rules/mock-rules.ts';
import type { RuleOptions } from '../rules/rule-schema.ts';
import type { RuleRecord } from '../rules/rule-state.ts';
import { type CreatedKey, checkedUsage, createKeys, createKeyWithAccount } from '../service/keys.ts';
import { rateLimitOf } from '../service/rate-windows.ts';
import { resetKeyUse } from '../service/service-state.ts';
import { ActiveAdapters, type MockState } from './mock-state.ts';
import { type InitialState, type Setup, type SetupKey, type SetupResult, setupKey } from './options.ts';

/** A setup whose parts were checked. */
interface CheckedSetup extends Pick<Setup, 'behaviour'> {
  readonly keys: readonly SetupKey[];
  readonly rules: readonly RuleRecord[];
}

/** Checks all parts of a setup, then applies them. If it throws, nothing has changed. */
export function applySetup(setup: Setup, mock: MockState): SetupResult {
  const { behaviour, keys, rules } = checkedParts(setup, mock);
  // The usage of a key depends on switches.
  if (behaviour !== undefined) createMockBehaviour(mock).set(behaviour);
  const created = keys.map((key) => createSetupKey(key, mock));
  addRules(mock, rules);
  return { keys: created };
}

function checkedParts({ behaviour, keys = [], rules = [] }: Setup, mock: MockState): CheckedSetup {
  const { state } = mock;
  if (behaviour !== undefined) mock.behaviour.copy(behaviour);
  const checkedKeys = eachOf('keys', keys, checkedKey);
  const counted = checkedKeys.reduce((sum, { usage }) => sum + (usage?.minute ?? 0), 0);
  if (counted > MOST_COUNTED) {
    throw fieldError('keys', `have ${counted} requests in usage.minute; expected at most ${MOST_COUNTED} of all keys.`);
  }
  // Rules can name the keys that the setup creates.
  const created = checkedKeys.map((_, index) => `key_${state.lastKey + index + 1}`);
  const keyIds = new Set([...state.keys.keys(), ...created]);
  return { behaviour, keys: checkedKeys, rules: preparedRules(rules, mock, keyIds) };
}

const MOST_KEYS = 10_000;
/** The switch `rateWindow` can keep the time of each of them. */
const MOST_COUNTED = 1_000_000;

function eachOf<Entry, Checked>(field: string, entries: readonly Entry[], check: (entry: Entry) => Checked) {
  checkLength(field, entries, MOST_KEYS);
  return entries.map((entry: Entry, index) => within(`${field}[${index}]`, () => check(entry)));
}

function checkedKey(given: SetupKey): SetupKey {
  const key = checkedInput(setupKey, given, { what: 'a field of a key' });
  const { usage, plan = 'free', limits } = key;
  if (usage !== undefined) within('usage', () => checkedUsage(usage, rateLimitOf({ account: { plan }, limits })));
  return key;
}

function createSetupKey({ plan, limits, usage, revoked = false }: SetupKey, mock: MockState): CreatedKey {
  const created = createKeyWithAccount(mock, { plan, limits });
  const keys = createKeys(mock);
  if (usage !== undefined) keys.setUsage(created.id, usage);
  if (revoked) keys.revoke(created.id);
  return created;
}

/** What a space of the mock contains. It does not have the keys of the mock, so no rules for one of them. */
export function initialStateOfSpace({ initial }: MockState, key: SetupKey): InitialState {
  const isForAnyKey = ({ match }: RuleOptions) => match?.keyId === undefined;
  const { rules, optionRules } = initial;
  return { keys: [key], rules: rules?.filter(isForAnyKey), optionRules: optionRules?.filter(isForAnyKey) };
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
  applySetup({ rules: optionRules }, open);
  return created;
}
