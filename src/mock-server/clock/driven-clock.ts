import { Heap } from '../../heap.ts';
import { type Clock, type ClockOptions, checkedClockOptions, LATEST_MS, parseInstant } from './clock.ts';
import { LONGEST_TIMER_MS, nextTurn, pause } from './event-loop.ts';

/** Whether requests are in transit for a while before they reach the mock. */
interface Transit {
  readonly haveTransit: boolean;
}

/**
 * The clock of a mock, with the methods that only the mock uses. A real clock follows the time of the machine. A virtual
 * one stands still until it is advanced, or jumps to the next wait when the process only waits for it.
 */
export class DrivenClock implements Clock {
  readonly mode: 'real' | 'virtual';
  readonly autoAdvance: boolean;
  readonly #startAt: number | undefined;
  readonly #startsFrozen: boolean;
  readonly #timers = new TimerQueue();
  readonly #idle: IdleDetector;
  /** The time that passes by itself: that of the machine, or none. */
  readonly #passing: () => number;
  /** Value of `#passing()` when this clock was frozen. */
  #frozenAt: number | undefined;
  #aheadMs = 0;
  #latest = 0;
  /** By how much `#date` was set back. This clock continues from where it was, so that its waits end. */
  #setBackMs = 0;
  #date = globalThis.Date;
  /** Moves run one after the other. This resolves after the last one. */
  #lastMove: Promise<unknown> = Promise.resolve();
  #moves = 0;
  #isWatching = false;
  #stopTimer: () => void = () => undefined;
  /** The function that has set the timer: when fake timers replace it, the timer may never fire. */
  #setTimeout = globalThis.setTimeout;

  constructor(option: 'real' | 'virtual' | ClockOptions, transit: Transit = { haveTransit: false }) {
    const { mode, now, autoAdvance = true, frozen = false } = checkedClockOptions(option);
    const startAt = mode === 'real' ? now : (now ?? VIRTUAL_START);
    this.mode = mode;
    this.autoAdvance = autoAdvance;
    this.#startAt = startAt === undefined ? undefined : parseInstant('clock.now', startAt);
    this.#startsFrozen = frozen;
    this.#idle = new IdleDetector(transit);
    this.#passing = mode === 'real' ? systemNow : () => 0;
    this.reset();
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  now(): number {
    this.#idle.activity += 1;
    if (globalThis.setTimeout !== this.#setTimeout) this.#arm();
    if (globalThis.Date !== this.#date) this.#setBackMs = 0;
    this.#date = globalThis.Date;
    const time = (this.#frozenAt ?? this.#passing()) + this.#aheadMs;
    this.#setBackMs = Math.max(this.#setBackMs, this.#latest - time);
    this.#latest = time + this.#setBackMs;
    return this.#latest;
  }

  /** Only moves change the time from now on: it does not pass, and a virtual clock does not jump. */
  freeze(): void {
    this.#frozenAt ??= this.#passing();
    this.#arm();
  }

  resume(): void {
    if (this.#frozenAt === undefined) return;
    this.#aheadMs -= this.#passing() - this.#frozenAt;
    this.#frozenAt = undefined;
    this.#arm();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = this.now();
    if (!(ms > 0)) return;
    const slept = this.#timers.add(now + ms, signal);
    this.#arm();
    try {
      await slept;
    } finally {
      this.#idle.activity += 1;
      this.#arm();
    }
  }

  /** Advances to the time that `target` returns when the move starts, and ends the waits until then. Never moves back. */
  advanceTo(target: (now: number) => number): Promise<number> {
    this.#moves += 1;
    const move = this.#lastMove
      .then(() => this.#move(target))
      .finally(() => {
        this.#moves -= 1;
        this.#arm();
      });
    this.#lastMove = move.catch(() => undefined); // a target can be refused
    return move;
  }

  /** Sets the clock to any time. Waits keep their remaining duration. */
  set(at: number): void {
    this.#timers.shift(at - this.now());
    this.#latest = at;
    this.#setBackMs = 0;
    this.#aheadMs = at - (this.#frozenAt ?? this.#passing());
    this.#arm();
  }

  /** Resets the clock to its first time, and to frozen or not as at the start. */
  reset(): void {
    this.#frozenAt = this.#startsFrozen ? this.#passing() : undefined;
    this.set(this.#startAt ?? systemNow());
  }

  /** Prevents automatic jumps until the returned function is called, because a request is being handled. */
  hold(): () => void {
    return this.#idle.hold();
  }

  async #move(target: (now: number) => number): Promise<number> {
    // Operations that have begun run before the time moves: a request in flight is decided at the old time.
    await this.#settle();
    const at = target(this.now());
    while (this.#timers.nextDueAt <= at) {
      this.#wakeNext();
      await this.#settle();
    }
    this.#aheadMs += Math.max(0, at - this.now());
    return this.now();
  }

  /** Lets the code run that continues after a wait. Real time passes meanwhile, so there a few turns are enough. */
  async #settle(): Promise<void> {
    if (this.mode === 'virtual') return await this.#idle.settle(MOST_TURNS);
    for (let turn = 0; turn < IDLE_TURNS; turn += 1) await nextTurn();
  }

  #wakeNext(): void {
    const at = this.#timers.nextDueAt;
    this.#aheadMs += Math.max(0, at - this.now());
    this.#timers.fireDue(Math.max(at, this.now()));
  }

  /** Prepares the end of the earliest wait: a timer, without which the process can end, or the jump to it. */
  #arm(): void {
    this.#setTimeout = globalThis.setTimeout;
    if (this.mode === 'virtual') return void this.#watch();
    this.#stopTimer();
    if (this.#timers.size === 0 || this.isFrozen) return;
    const waitMs = Math.min(this.#timers.nextDueAt - this.now(), LONGEST_TIMER_MS);
    // biome-ignore lint/plugin: this is the real clock
    const timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(waitMs)));
    const { clearTimeout } = globalThis; // the one that knows the timer, whatever replaces it later
    this.#stopTimer = () => clearTimeout(timer);
  }

  #wake(): void {
    this.#timers.fireDue(this.now());
    this.#arm();
  }

  /** Waits until the process is idle, then jumps to the earliest sleep, until there are no more. */
  async #watch(): Promise<void> {
    if (!this.autoAdvance || this.#isWatching) return;
    this.#isWatching = true;
    while (this.#hasNext()) {
      await this.#idle.idle();
      if (this.#hasNext()) this.#wakeNext();
    }
    this.#isWatching = false;
  }

  /** Times after year 9999 are never reached: a wait beyond them does not end. */
  #hasNext(): boolean {
    return this.#moves === 0 && !this.isFrozen && this.#timers.nextDueAt <= LATEST_MS;
  }
}

/** Default start of a virtual clock. It is fixed, so that every run has the same responses. */
const VIRTUAL_START = '2026-01-15T00:00:00.000Z';

/** Milliseconds since the Unix epoch by the machine's own clock. */
export function systemNow(): number {
  // biome-ignore lint/plugin: this is the real clock
  return Date.now();
}

/** A request can wait inside the mock for the move that waits for it; the move then continues. */
const MOST_TURNS = 1000;

/**
 * Detects when the process only waits: no request is being handled, and for several turns of the event loop the
 * clock was not used.
 */
class IdleDetector {
  /** Increased when the clock is read, and when a wait starts or ends. */
  activity = 0;
  #held = 0;
  readonly #transit: Transit;

  constructor(transit: Transit) {
    this.#transit = transit;
  }

  hold(): () => void {
    this.#held += 1;
    return () => {
      this.#held -= 1;
      this.activity += 1;
    };
  }

  /** Resolves when the process is idle and no operation of the system is pending, or after about a second. */
  async idle(): Promise<void> {
    await this.settle();
    for (let round = 0; isSystemBusy() && round < MOST_PAUSES; round += 1) {
      await pause(TRANSIT_PAUSE_MS);
      await this.settle();
    }
  }

  /** Resolves when it is idle, or after `maxTurns` turns: a request may itself wait for the caller. */
  async settle(maxTurns = Number.POSITIVE_INFINITY): Promise<void> {
    let idleTurns = 0;
    for (let turn = 0; idleTurns < IDLE_TURNS && turn < maxTurns; turn += 1) {
      const before = this.activity;
      await (this.#transit.haveTransit ? pause(TRANSIT_PAUSE_MS) : nextTurn());
      idleTurns = this.activity === before && this.#held === 0 ? idleTurns + 1 : 0;
    }
  }
}

/** Several times the turns in which a client reads and parses a response and sends the next request. */
const IDLE_TURNS = 12;
const TRANSIT_PAUSE_MS = 2;
const MOST_PAUSES = 500;

/** Whether an operation of the system is pending, such as reading a file, resolving a name or connecting. */
function isSystemBusy(): boolean {
  return process.getActiveResourcesInfo().some((resource) => SYSTEM_WORK.test(resource));
}

/** Names of libuv's requests, as opposed to sockets and timers, which may wait for ever. */
const SYSTEM_WORK = /^(?:FSReq|CloseReq|GetAddrInfo|GetNameInfo|TCPConnect|PipeConnect|WriteWrap|ShutdownWrap)/;

/** Waits, ordered by their end. Waits with the same end are resolved in the order in which they were added. */
class TimerQueue {
  readonly #heap = new Heap<QueuedTimer>(
    (one, other) => one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order),
  );
  #added = 0;

  get size(): number {
    return this.#heap.size;
  }

  /** End of the earliest wait; infinity without waits. */
  get nextDueAt(): number {
    return this.#heap.peek()?.dueAt ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves at `dueAt`; rejects with the signal's reason when that aborts first. */
  add(dueAt: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#heap.remove(node);
        reject(signal?.reason);
      };
      const fire = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      this.#added += 1;
      const node = this.#heap.push({ dueAt, order: this.#added, fire });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Resolves the waits that end at `now`, in their order. */
  fireDue(now: number): void {
    while (this.nextDueAt <= now) this.#heap.pop()?.fire();
  }

  /** Moves the ends of all waits, because the clock was set. */
  shift(byMs: number): void {
    for (const timer of this.#heap) timer.dueAt += byMs;
  }
}

interface QueuedTimer {
  dueAt: number;
  readonly order: number;
  readonly fire: () => void;
}
