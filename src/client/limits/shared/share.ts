import type { SavedBeliefs, SavedLimit } from '../saved-limit.ts';

export interface ShareOptions {
  /** Processes that used the limit together. */
  readonly processes: number;
  /** Calls of this process in flight. */
  readonly inFlight: number;
}

/** What one of several processes may go on with when it hears no more of the others: an even share of everything. */
export function shareOf({ beliefs, ...rest }: SavedLimit, { processes, inFlight }: ShareOptions): SavedLimit {
  const limit = Math.max(1, Math.floor(beliefs.limit / processes));
  const log = everyNth(beliefs.log, processes);
  return { ...rest, beliefs: { ...beliefs, inFlight, limit, log, window: windowShare(beliefs.window, processes) } };
}

function windowShare(window: SavedBeliefs['window'], processes: number): SavedBeliefs['window'] {
  if (window.kind !== 'bucket') return window;
  return {
    ...window,
    perMs: window.perMs / processes,
    capacity: Math.max(1, window.capacity / processes),
    tokens: window.tokens / processes,
  };
}

/** Every `n`th call of a saved log. */
function everyNth(log: readonly number[], n: number): number[] {
  const kept: number[] = [];
  let sinceKeptMs = 0;
  for (let place = 0; place < log.length; place += 2) {
    sinceKeptMs += log[place] ?? 0;
    if ((place / 2) % n !== 0) continue;
    kept.push(sinceKeptMs, log[place + 1] ?? 0);
    sinceKeptMs = 0;
  }
  return kept;
}
