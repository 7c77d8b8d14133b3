import { isSystemBusy, nextTurn, pause } from './event-loop.ts';
import type { Sockets } from './sockets.ts';

/**
 * Tells when nothing is left to happen but waiting: no request is being served, and for several turns of the event
 * loop nobody has looked at the clock.
 */
export class Quiet {
  #activity = 0;
  #held = 0;
  readonly #sockets: Sockets;

  constructor(sockets: Sockets) {
    this.#sockets = sockets;
  }

  /** Somebody looked at the clock, fell asleep or woke up. */
  noteActivity(): void {
    this.#activity += 1;
  }

  hold(): () => void {
    this.#held += 1;
    return once(() => {
      this.#held -= 1;
      this.#activity += 1;
    });
  }

  /** Resolves when it is quiet and the system owes nothing, a module that is being loaded say, for about a second. */
  async idle(): Promise<void> {
    await this.settle();
    for (let round = 0; isSystemBusy() && round < MOST_PAUSES; round += 1) {
      await pause(SOCKET_PAUSE_MS);
      await this.settle();
    }
  }

  /** Resolves when it is quiet, or after `maxTurns` turns: a request may itself wait for whoever asks. */
  async settle(maxTurns = Number.POSITIVE_INFINITY): Promise<void> {
    let quietTurns = 0;
    for (let turn = 0; quietTurns < QUIET_TURNS && turn < maxTurns; turn += 1) {
      const before = this.#activity;
      await (this.#sockets.areInUse ? pause(SOCKET_PAUSE_MS) : nextTurn());
      quietTurns = this.#activity === before && this.#held === 0 ? quietTurns + 1 : 0;
    }
  }
}

/** A response that is read, parsed and acted upon takes a few turns; this is several times as many. */
const QUIET_TURNS = 12;
const SOCKET_PAUSE_MS = 2;
const MOST_PAUSES = 500;

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
