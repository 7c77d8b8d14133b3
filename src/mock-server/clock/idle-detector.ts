import { isSystemBusy, nextTurn, pause } from './event-loop.ts';

/**
 * Tells when nothing is left to happen but waiting: no request is being served, and for several turns of the event
 * loop nobody has looked at the clock.
 */
export class IdleDetector {
  #activity = 0;
  #held = 0;
  readonly #sockets: SocketUse;

  constructor(sockets: SocketUse) {
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

  /** Resolves when it is idle and the system owes nothing, a module that is being loaded say, for about a second. */
  async idle(): Promise<void> {
    await this.settle();
    for (let round = 0; isSystemBusy() && round < MOST_PAUSES; round += 1) {
      await pause(SOCKET_PAUSE_MS);
      await this.settle();
    }
  }

  /** Resolves when it is idle, or after `maxTurns` turns: a request may itself wait for whoever asks. */
  async settle(maxTurns = Number.POSITIVE_INFINITY): Promise<void> {
    let idleTurns = 0;
    for (let turn = 0; idleTurns < IDLE_TURNS && turn < maxTurns; turn += 1) {
      const before = this.#activity;
      await (this.#sockets.areInUse ? pause(SOCKET_PAUSE_MS) : nextTurn());
      idleTurns = this.#activity === before && this.#held === 0 ? idleTurns + 1 : 0;
    }
  }
}

/** A response that is read, parsed and acted upon takes a few turns; this is several times as many. */
const IDLE_TURNS = 12;
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

/** Tells the clocks of a mock whether requests come through sockets, where they are on their way for a while unseen. */
export class SocketUse {
  #expecting = 0;

  get areInUse(): boolean {
    return this.#expecting > 0;
  }

  /** Gives a function that ends it. */
  expect(): () => void {
    this.#expecting += 1;
    let isOver = false;
    return () => {
      if (!isOver) this.#expecting -= 1;
      isOver = true;
    };
  }
}
