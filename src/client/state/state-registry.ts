import type { KeyState } from './key-state.ts';

/** From this many keys on, those long unused are forgotten. */
const SWEEP_FROM = 1000;
/** What was learned about a limit is stale after this. */
const IDLE_MS = 600_000;

export interface StateEntry {
  readonly state: KeyState;
  usedAt: number;
  /** Whoever still holds it must look again: others may have begun a new one. */
  isForgotten: boolean;
}

/** The states of keys by name. */
export class StateRegistry {
  readonly #entries = new Map<string, StateEntry>();
  #sweepFrom = SWEEP_FROM;

  find(name: string, now: number, create: () => KeyState): StateEntry {
    const found = this.#entries.get(name);
    if (found !== undefined) return found;
    const entry = { state: create(), usedAt: now, isForgotten: false };
    this.#entries.set(name, entry);
    if (this.#entries.size > this.#sweepFrom) this.#forgetIdle(now - IDLE_MS);
    return entry;
  }

  #forgetIdle(before: number): void {
    for (const [name, entry] of this.#entries) {
      if (entry.usedAt >= before || !entry.state.isIdle()) continue;
      entry.isForgotten = true;
      this.#entries.delete(name);
    }
    // Not again for each further key: a sweep must cost no more than the keys that came since the last one.
    this.#sweepFrom = Math.max(SWEEP_FROM, 2 * this.#entries.size);
  }
}
