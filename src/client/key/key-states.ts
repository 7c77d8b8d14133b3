import { processState } from '../../process-state.ts';
import { type Clock, realClock } from '../clock.ts';
import type { ClientSettings } from '../config/settings.ts';
import { Lifetime, type RetainedState } from '../lifetime.ts';
import type { ApiKey } from './api-key.ts';
import { KeyState, stateName } from './key-state.ts';

/** Ends with the version of the shape of `Shared`, which includes `KeyState` and the limiter. */
const SHARED = 'key-states.10';

interface Shared {
  readonly real: StateRegistry;
  /** Clients with a fake clock share a state only with clients that have the same clock. */
  readonly fake: WeakMap<Clock, StateRegistry>;
}

/** Finds the state of a key: one per origin and key in the process. */
export class KeyStates {
  readonly #settings: ClientSettings;
  readonly #lifetime: Lifetime;
  /** One look-up per key, not one per request. */
  #latest: { readonly key: ApiKey; readonly entry: StateEntry } | undefined;

  constructor(settings: ClientSettings, lifetime = new Lifetime()) {
    this.#settings = settings;
    this.#lifetime = lifetime;
  }

  of(key: ApiKey): KeyState {
    const latest = this.#latest;
    // A closed client keeps the last state, although another client may have created a new one.
    const isCurrent = latest?.key === key && (!latest.entry.isForgotten || this.#lifetime.isClosed);
    const entry = isCurrent ? latest.entry : this.#find(key);
    entry.usedAt = this.#settings.clock.now();
    return entry.state;
  }

  #find(key: ApiKey): StateEntry {
    const { clock } = this.#settings;
    const name = stateName(key.hash, this.#settings);
    const create = () => new KeyState(key, this.#settings);
    // The state of a closed client must not affect other clients.
    const registry = this.#lifetime.isClosed ? new StateRegistry() : registryUnder(clock);
    const entry = registry.find(name, clock.now(), create);
    const { rateLimit } = this.#settings;
    if (rateLimit !== false && rateLimit.store) entry.state.limiter.shared?.offerStore(rateLimit.store);
    this.#lifetime.retain(entry);
    this.#latest = { key, entry };
    return entry;
  }
}

function registryUnder(clock: Clock): StateRegistry {
  const { real, fake } = processState<Shared>(SHARED, () => ({ real: new StateRegistry(), fake: new WeakMap() }));
  if (clock === realClock) return real;
  const registry = fake.get(clock) ?? new StateRegistry();
  fake.set(clock, registry);
  return registry;
}

/** Above this number of keys, the states of unused keys are removed. */
const SWEEP_FROM = 1000;
/** Age at which the learned limit of an unused key is stale. */
const IDLE_MS = 600_000;

interface StateEntry extends RetainedState {
  readonly state: KeyState;
  usedAt: number;
}

/** The states of keys by name. */
export class StateRegistry {
  readonly #entries = new Map<string, StateEntry>();
  #sweepFrom = SWEEP_FROM;

  find(name: string, now: number, create: () => KeyState): StateEntry {
    const found = this.#entries.get(name);
    if (found !== undefined) return found;
    const forget = () => {
      entry.isForgotten = true;
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    };
    const state = create();
    const stored = async () => state.limiter.shared?.stored();
    const entry: StateEntry = { state, usedAt: now, isForgotten: false, clients: 0, forget, stored };
    this.#entries.set(name, entry);
    if (this.#entries.size > this.#sweepFrom) this.#forgetIdle(now - IDLE_MS);
    return entry;
  }

  #forgetIdle(before: number): void {
    for (const entry of this.#entries.values()) {
      if (entry.usedAt < before && entry.state.isIdle()) entry.forget();
    }
    // Not for every new key: the cost of a sweep must be proportional to the number of keys added since the last one.
    this.#sweepFrom = Math.max(SWEEP_FROM, 2 * this.#entries.size);
  }
}
