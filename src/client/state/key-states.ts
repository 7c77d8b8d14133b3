import { type Clock, realClock } from '../clock.ts';
import type { ClientSettings } from '../config/settings.ts';
import type { ApiKey } from '../keys/api-key.ts';
import { KeyState, stateName } from './key-state.ts';

type States = Map<string, { readonly state: KeyState; usedAt: number }>;

/** Copies of the package in one process share this as long as its shape is the same; hence the number. */
const REGISTRY = Symbol.for('fxrates.key-states.1');
/** From this many keys on, those long unused are forgotten. */
const SWEEP_FROM = 1000;
/** What was learned about a limit is stale after this. */
const IDLE_MS = 600_000;

interface Registry {
  readonly real: States;
  /** Clients under a fake clock share only with those under the same one. */
  readonly fake: WeakMap<Clock, States>;
}

/** Finds the state of a key: one per origin and key in the process. */
export class KeyStates {
  readonly #settings: ClientSettings;
  #latest: { readonly key: ApiKey; readonly state: KeyState } | undefined;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  of(key: ApiKey): KeyState {
    if (this.#latest?.key === key) return this.#latest.state;
    const state = this.#find(key);
    this.#latest = { key, state };
    return state;
  }

  #find(key: ApiKey): KeyState {
    const { clock } = this.#settings;
    const states = statesUnder(clock);
    const name = stateName(key.hash, this.#settings);
    const found = states.get(name);
    const state = found?.state ?? new KeyState(key.masked, this.#settings);
    states.set(name, { state, usedAt: clock.now() });
    if (states.size > SWEEP_FROM) forgetIdle(states, clock.now() - IDLE_MS);
    return state;
  }
}

function statesUnder(clock: Clock): States {
  const holder = globalThis as { [REGISTRY]?: Registry };
  holder[REGISTRY] ??= { real: new Map(), fake: new WeakMap() };
  const { real, fake } = holder[REGISTRY];
  if (clock === realClock) return real;
  const states: States = fake.get(clock) ?? new Map();
  fake.set(clock, states);
  return states;
}

function forgetIdle(states: States, before: number): void {
  for (const [name, { state, usedAt }] of states) if (usedAt < before && state.isIdle()) states.delete(name);
}
