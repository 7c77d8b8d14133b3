import { ActiveAdapters } from '../adapters/active-adapters.ts';
import { createMockBehaviour } from '../behaviour/behaviour.ts';
import { checkedInput, strictObject, trueOrFalse, type ValueOf } from '../input/checked-input.ts';
import { invalidOption, within } from '../input/mock-server-error.ts';
import type { FaultOptions } from '../rules/fault-kinds.ts';
import { createMockFaults } from '../rules/mock-faults.ts';
import { createMockStubs, latestStubs, withStub } from '../rules/mock-stubs.ts';
import type { StubOptions } from '../rules/stub-schemas.ts';
import { type CreatedKey, createKeys, createKeyWithAccount } from '../service/keys.ts';
import { resetKeyUse } from '../service/service-state.ts';
import type { MockState } from './mock-state.ts';
import { type Setup, type SetupKey, type SetupResult, setupKey } from './options.ts';

/** Applies a setup. If it throws, a part of the setup may have been applied. */
export function applySetup(setup: Setup, mock: MockState): SetupResult {
  const { state } = mock;
  // The usage of a key depends on switches; stubs and faults can name keys.
  if (setup.behaviour !== undefined) createMockBehaviour(mock).set(setup.behaviour);
  const keys = addAll('keys', setup.keys, { add: (key) => createSetupKey(key, mock) });
  const latest = latestStubs(setup);
  for (const stub of latest) state.stubs = withStub(state.stubs, stub);
  addAll('stubs', setup.stubs, { add: createMockStubs(mock).add, taken: latest.map(({ id }) => id) });
  addAll('faults', setup.faults, { add: createMockFaults(mock).add });
  return { keys };
}

interface Adding<Entry, Added> {
  readonly add: (entry: Entry) => Added;
  /** Ids that other parts of the setup have used. */
  readonly taken?: readonly string[];
}

/** Within one setup, a second stub or fault of the same id would silently replace the first. */
function addAll<Entry, Added extends { readonly id: string }>(
  field: 'keys' | 'stubs' | 'faults',
  entries: readonly Entry[] = [],
  { add, taken = [] }: Adding<Entry, Added>,
): readonly Added[] {
  if (!Array.isArray(entries)) throw invalidOption(field, entries, 'an array');
  const ids = new Set(taken);
  const addOne = (entry: Entry) => {
    const added = add(entry);
    if (ids.has(added.id)) throw invalidOption('id', added.id, `an id of its own among the ${field} of the setup`);
    ids.add(added.id);
    return added;
  };
  return entries.map((entry, index) => within(`${field}[${index}]`, () => addOne(entry)));
}

function createSetupKey(key: SetupKey, mock: MockState): CreatedKey {
  const { plan, limits, usage, revoked = false } = checkedInput(setupKey, key, { what: 'a field of a key' });
  const created = createKeyWithAccount(mock, { plan, limits });
  const keys = createKeys(mock);
  if (usage !== undefined) within('usage', () => keys.setUsage(created.id, usage));
  if (revoked) keys.revoke(created.id);
  return created;
}

/** What a space of the mock contains. It does not have the keys of the mock, so no stubs and faults for one of them. */
export function initialStateOfSpace({ initial }: MockState, key: SetupKey): Setup {
  const isForAnyKey = ({ match }: StubOptions | FaultOptions) => match?.keyId === undefined;
  const { stubs = [], faults = [] } = initial;
  return { ...initial, keys: [key], stubs: stubs.filter(isForAnyKey), faults: faults.filter(isForAnyKey) };
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
  for (const stub of mock.defaultStubs) stub.served = 0;
  // As if it will be served, so every fault is possible. Another adapter refuses those that it cannot reproduce.
  const adapters = new ActiveAdapters();
  adapters.open('socket');
  const setup = keepKeys ? { ...initial, keys: [] } : initial;
  return within('setup', () => applySetup(setup, { ...mock, adapters })).keys;
}
