import * as z from 'zod';
import { createMockBehaviour } from './behaviour/behaviour.ts';
import { createMockFaults } from './faults/mock-faults.ts';
import { hashOf } from './http/parse-request.ts';
import { checkedInput, trueOrFalse } from './matching/checked-input.ts';
import type { RequestPattern } from './matching/request-pattern.ts';
import { createCore, type InitialState, type MockCore } from './mock-core.ts';
import type { CheckedMockOptions } from './mock-options.ts';
import { invalidOption, within } from './mock-server-error.ts';
import { type CreatedKey, createKeys, createKeyWithAccount, type SetUsage } from './service/keys.ts';
import { resetKeyUse } from './service/service-state.ts';
import { checkedSetup, type Setup, type SetupKey, type SetupResult, setupKey } from './setup.ts';
import { createMockLatest } from './stubs/mock-latest.ts';
import { createMockStubs } from './stubs/mock-stubs.ts';

/** Applies a setup, or JSON text of one. If it throws, a part of the setup may have been applied. */
export function applySetup(given: Setup | string, core: MockCore): SetupResult {
  const setup = checkedSetup(given);
  const { latest, replay } = setup;
  // The usage of a key depends on switches; stubs and faults can name keys.
  if (setup.behaviour !== undefined) createMockBehaviour(core).set(setup.behaviour);
  const keys = addAll('keys', setup.keys, (key) => createSetupKey(key, core));
  if (latest !== undefined) createMockLatest(core).set(latest);
  if (replay !== undefined) createMockLatest(core).replay(replay);
  const taken = latest === undefined && replay === undefined ? [] : ['latest'];
  addOnce('stubs', setup.stubs, { add: createMockStubs(core).add, taken });
  addOnce('faults', setup.faults, { add: createMockFaults(core).add });
  return { keys };
}

function addAll<Entry, Added>(
  field: keyof Setup,
  entries: readonly Entry[] = [],
  add: (entry: Entry) => Added,
): readonly Added[] {
  if (!Array.isArray(entries)) throw invalidOption(field, entries, 'an array');
  return entries.map((entry, index) => within(`${field}[${index}]`, () => add(entry)));
}

interface AddOnce<Entry> {
  readonly add: (entry: Entry) => { readonly id: string };
  /** Ids that other parts of the setup have used. */
  readonly taken?: readonly string[];
}

/** Within one setup, a second stub or fault of the same id would silently replace the first. */
function addOnce<Entry>(
  field: 'stubs' | 'faults',
  entries: readonly Entry[] | undefined,
  { add, taken = [] }: AddOnce<Entry>,
): void {
  const ids = new Set(taken);
  addAll(field, entries, (entry) => {
    const { id } = add(entry);
    if (ids.has(id)) throw invalidOption('id', id, `an id of its own among the ${field} of the setup`);
    ids.add(id);
  });
}

function createSetupKey(key: SetupKey, core: MockCore): CreatedKey {
  const { plan, usage, revoked = false } = checkedInput(setupKey, key, { place: '', what: 'a field of a key' });
  const created = createKeyWithAccount(core, plan);
  const keys = createKeys(core);
  if (usage !== undefined) within('usage', () => keys.setUsage(created.id, usage));
  if (revoked) keys.revoke(created.id);
  return created;
}

const NOTHING: InitialState = {
  keys: [],
  usageByHash: new Map(),
  stubs: [],
  lastStub: 0,
  faults: [],
  lastFault: 0,
};

/**
 * What a mock with the option `setup` contains. The setup is applied to another mock: a later reset copies the result, so that
 * it cannot fail because of an adapter in use.
 */
export function initialState(options: CheckedMockOptions): InitialState {
  const { setup } = options;
  if (setup === undefined) return NOTHING;
  const trial = createCore(options, NOTHING);
  // The mock may be served, so every fault is possible. Another adapter refuses those that it cannot reproduce.
  trial.adapters.open('socket');
  const created = within('setup', () => applySetup({ ...setup, behaviour: undefined }, trial)).keys;
  const keys = structuredClone(setup.keys ?? []);
  const usageByHash = new Map(
    created.flatMap(({ key }, index): [string, SetUsage][] => {
      const { usage } = keys[index] ?? {};
      return usage === undefined ? [] : [[hashOf(key), usage]];
    }),
  );
  const { stubs, lastStub, faults, lastFault } = trial.state;
  return { keys, usageByHash, stubs, lastStub, faults, lastFault };
}

/** What a space of the mock contains. It does not have the keys of the mock, so no stubs and faults for one of them. */
export function initialStateOfSpace({ initial }: MockCore, key: SetupKey): InitialState {
  const isForAnyKey = ({ match }: { readonly match?: RequestPattern | undefined }) => match?.keyId === undefined;
  return {
    ...initial,
    keys: [key],
    usageByHash: new Map(),
    stubs: initial.stubs.filter(isForAnyKey),
    faults: initial.faults.filter(({ settings }) => isForAnyKey(settings)),
  };
}

export const resetOptions = z.strictObject({
  /**
   * Whether accounts and keys stay, with nothing used of their limits except the usage in the option `setup`: for a server
   * whose key is already in use, such as that of `fxrates mock`.
   * @default false
   */
  keepKeys: trueOrFalse
    .optional()
    .describe('Whether accounts and keys stay, with nothing used, except the usage of the setup. Default: false.'),
});

/** Options of `mock.reset()`. */
export type ResetOptions = Readonly<z.input<typeof resetOptions>>;

/** Sets the state to the initial one. Returns the created keys; with `keepKeys`, accounts and keys stay, with unused limits. */
export function startState(core: MockCore, { keepKeys = false }: ResetOptions = {}): readonly CreatedKey[] {
  const { state, initial } = core;
  const { keys, usageByHash, stubs, lastStub, faults, lastFault } = initial;
  const now = core.now();
  Object.assign(state, core.emptyState(), keepKeys ? resetKeyUse(state, now) : {}, {
    stubs: stubs.map((stub) => ({ ...stub, served: 0 })),
    lastStub,
    faults: faults.map((fault) => ({ ...fault, addedAt: now, matched: 0, struck: 0, matchedByKey: new Map() })),
    lastFault,
  });
  if (!keepKeys) return keys.map((key) => createSetupKey(key, core));
  for (const [hash, usage] of usageByHash) {
    const kept = state.keysByHash.get(hash);
    if (kept !== undefined) restoreUsage(kept.id, usage, core);
  }
  return [];
}

function restoreUsage(keyId: string, usage: SetUsage, core: MockCore): void {
  const keys = createKeys(core);
  // The plan may have changed since.
  const { limit } = keys.get(keyId).minute;
  keys.setUsage(keyId, usage.minute === undefined ? usage : { ...usage, minute: Math.min(usage.minute, limit) });
}
