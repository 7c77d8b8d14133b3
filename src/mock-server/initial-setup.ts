import { hashOf } from './http/parse-request.ts';
import type { RequestPattern } from './matching/request-pattern.ts';
import type { CreatedKey } from './service/keys.ts';
import type { ServiceState } from './service/service-state.ts';
import { applySetup, createSetupKey, type Setup, type SetupKey, type SetupTarget } from './setup.ts';

/** Stubs and faults, and the numbers of the newest ones. */
type StubsAndFaults = Pick<ServiceState, 'stubs' | 'lastStub' | 'faults' | 'lastFault'>;

/** The target of the option `setup`: a mock and its state. */
interface SetupOwner {
  readonly mock: SetupTarget;
  readonly state: ServiceState;
}

/**
 * The option `setup` of a mock, which a reset applies again. Stubs and faults were checked at the start. A reset copies them,
 * so that it cannot fail for an adapter in use.
 */
export class InitialSetup {
  #added: StubsAndFaults = { stubs: [], lastStub: 0, faults: [], lastFault: 0 };
  #keys: readonly { readonly settings: SetupKey; readonly hash: string }[] = [];

  /** Applies the setup to a new mock, except its switches, with which the mock was created. Returns its keys. */
  apply(setup: Setup, { mock, state }: SetupOwner): readonly CreatedKey[] {
    const { keys } = applySetup({ ...setup, behaviour: undefined }, mock);
    const { stubs, lastStub, faults, lastFault } = state;
    this.#added = { stubs, lastStub, faults, lastFault };
    const settings = structuredClone(setup.keys ?? []);
    this.#keys = keys.map(({ key }, index) => ({ settings: settings[index] ?? {}, hash: hashOf(key) }));
    return keys;
  }

  /** The stubs and faults for a new state of the mock, unused. */
  stubsAndFaults(now: number): StubsAndFaults {
    const { stubs, faults, ...last } = this.#added;
    return {
      ...last,
      stubs: stubs.map((stub) => ({ ...stub, served: 0 })),
      faults: faults.map((fault) => ({ ...fault, addedAt: now, matched: 0, struck: 0, matchedByKey: new Map() })),
    };
  }

  /** As `stubsAndFaults`, for a space: without those for one key, because a space does not have the keys of the mock. */
  stubsAndFaultsOfSpace(now: number): StubsAndFaults {
    const { stubs, faults, ...last } = this.stubsAndFaults(now);
    const isForAnyKey = ({ match }: { readonly match?: RequestPattern | undefined }) => match?.keyId === undefined;
    return {
      ...last,
      stubs: stubs.filter(isForAnyKey),
      faults: faults.filter(({ settings }) => isForAnyKey(settings)),
    };
  }

  /** After a reset: creates the keys again, or sets the usage of those that were kept. */
  restoreKeys({ mock, state }: SetupOwner, { keepKeys = false }: { readonly keepKeys?: boolean | undefined }): void {
    for (const { settings, hash } of this.#keys) {
      if (!keepKeys) createSetupKey(settings, mock);
      const kept = keepKeys ? state.keysByHash.get(hash) : undefined;
      if (kept !== undefined) restoreUsage(kept.id, settings, mock);
    }
  }
}

function restoreUsage(keyId: string, { usage }: SetupKey, { keys }: SetupTarget): void {
  if (usage === undefined) return;
  // The plan may have changed since.
  const { limit } = keys.get(keyId).minute;
  keys.setUsage(keyId, usage.minute === undefined ? usage : { ...usage, minute: Math.min(usage.minute, limit) });
}
