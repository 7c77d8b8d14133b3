import { type DrivenClock, LATEST_MS } from './clock.ts';
import { nextTurn, pause } from './event-loop.ts';
import { TimerQueue } from './timer-queue.ts';

/** A clock that moves only when it is advanced, or when the process only waits for it. */
export class VirtualClock implements DrivenClock {
  readonly mode = 'virtual';
  readonly #timers = new TimerQueue();
  readonly autoAdvance: boolean;
  readonly #idle: IdleDetector;
  readonly #startAt: number;
  readonly #startsFrozen: boolean;
  #isFrozen: boolean;
  #now: number;
  #isWatching = false;
  /** Moves run one after the other. This resolves after the last one. */
  #lastMove: Promise<unknown> = Promise.resolve();
  #moves = 0;

  constructor(startAt: number, { autoAdvance, frozen, sockets }: VirtualClockOptions) {
    this.#now = startAt;
    this.#startAt = startAt;
    this.autoAdvance = autoAdvance;
    this.#idle = new IdleDetector(sockets);
    this.#startsFrozen = frozen;
    this.#isFrozen = frozen;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** A virtual clock does not run by itself. While frozen, it does not jump either. */
  freeze(): void {
    this.#isFrozen = true;
  }

  resume(): void {
    this.#isFrozen = false;
    void this.#watch();
  }

  now(): number {
    this.#idle.noteActivity();
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#idle.noteActivity();
    if (!(ms > 0)) return;
    const slept = this.#timers.add(this.#now + ms, signal);
    void this.#watch();
    try {
      await slept;
    } finally {
      this.#idle.noteActivity();
    }
  }

  advanceTo(target: (now: number) => number): Promise<number> {
    this.#moves += 1;
    const move = this.#lastMove
      .then(() => this.#move(target))
      .finally(() => {
        this.#moves -= 1;
        void this.#watch();
      });
    this.#lastMove = move.catch(() => undefined); // a target can be refused
    return move;
  }

  set(at: number): void {
    this.#timers.shift(at - this.#now);
    this.#now = at;
    this.#idle.noteActivity();
  }

  reset(): void {
    this.#isFrozen = this.#startsFrozen;
    this.set(this.#startAt);
  }

  hold(): () => void {
    return this.#idle.hold();
  }

  async #move(target: (now: number) => number): Promise<number> {
    // Operations that have begun run before the time moves: a request in flight is decided at the old time.
    await this.#idle.settle(MOST_TURNS);
    const at = target(this.#now);
    while (this.#timers.nextDueAt <= at) {
      this.#wakeNext();
      await this.#idle.settle(MOST_TURNS);
    }
    this.#now = Math.max(this.#now, at);
    return this.#now;
  }

  #wakeNext(): void {
    this.#now = Math.max(this.#now, this.#timers.nextDueAt);
    this.#timers.fireDue(this.#now);
  }

  /** Waits until the process is idle, then jumps to the earliest sleep, until there are no more. */
  async #watch(): Promise<void> {
    if (!this.autoAdvance || this.#isWatching) return;
    this.#isWatching = true;
    while (this.#hasNext() && this.#moves === 0) {
      await this.#idle.idle();
      if (this.#hasNext() && this.#moves === 0) this.#wakeNext();
    }
    this.#isWatching = false;
  }

  /** Times after year 9999 are never reached: a wait beyond them does not end. */
  #hasNext(): boolean {
    return !this.#isFrozen && this.#timers.nextDueAt <= LATEST_MS;
  }
}

interface VirtualClockOptions {
  readonly autoAdvance: boolean;
  readonly frozen: boolean;
  readonly sockets: SocketUse;
}

/** A request can wait inside the mock for the move that waits for it; the move then continues. */
const MOST_TURNS = 1000;

/**
 * Detects when the process only waits: no request is being handled, and for several turns of the event loop the
 * clock was not used.
 */
class IdleDetector {
  #activity = 0;
  #held = 0;
  readonly #sockets: SocketUse;

  constructor(sockets: SocketUse) {
    this.#sockets = sockets;
  }

  /** Called when the clock is read, and when a wait starts or ends. */
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

  /** Resolves when the process is idle and no operation of the system is pending, or after about a second. */
  async idle(): Promise<void> {
    await this.settle();
    for (let round = 0; isSystemBusy() && round < MOST_PAUSES; round += 1) {
      await pause(SOCKET_PAUSE_MS);
      await this.settle();
    }
  }

  /** Resolves when it is idle, or after `maxTurns` turns: a request may itself wait for the caller. */
  async settle(maxTurns = Number.POSITIVE_INFINITY): Promise<void> {
    let idleTurns = 0;
    for (let turn = 0; idleTurns < IDLE_TURNS && turn < maxTurns; turn += 1) {
      const before = this.#activity;
      await (this.#sockets.areInUse ? pause(SOCKET_PAUSE_MS) : nextTurn());
      idleTurns = this.#activity === before && this.#held === 0 ? idleTurns + 1 : 0;
    }
  }
}

/** Several times the turns in which a client reads and parses a response and sends the next request. */
const IDLE_TURNS = 12;
const SOCKET_PAUSE_MS = 2;
const MOST_PAUSES = 500;

/** Whether an operation of the system is pending, such as reading a file, resolving a name or connecting. */
function isSystemBusy(): boolean {
  return process.getActiveResourcesInfo().some((resource) => SYSTEM_WORK.test(resource));
}

/** Names of libuv's requests, as opposed to sockets and timers, which may wait for ever. */
const SYSTEM_WORK = /^(?:FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap)/;

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

/** Whether requests of a mock arrive through sockets, where they are in transit for a while. */
export class SocketUse {
  #expecting = 0;

  get areInUse(): boolean {
    return this.#expecting > 0;
  }

  /** Returns a function that ends it. */
  expect(): () => void {
    this.#expecting += 1;
    return once(() => {
      this.#expecting -= 1;
    });
  }
}
