import { Heap } from '../../heap.ts';
import { invalidOption } from '../input/mock-server-error.ts';
import { type Clock, type ClockOptions, checkedClockOptions, LATEST_MS, parseInstant } from './clock.ts';
import { isSystemBusy, LONGEST_TIMER_MS, monotonicNow, nextTurn, pause, watchSystem } from './event-loop.ts';

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
  /** By how much the date of the machine is behind this clock, which never goes back. */
  #behindMs = 0;
  /** The source of the date, which fake timers of a test replace. */
  #dateNow: unknown;
  /** Moves run one after the other. This resolves after the last one. */
  #lastMove: Promise<unknown> = Promise.resolve();
  #moves = 0;
  /** Increased by `set()`, which ends the moves before it. */
  #sets = 0;
  #isWatching = false;
  /** For `#isOverdue()`: virtual minus real time, the largest difference at which a pending wait began. */
  #leadMs = Number.NEGATIVE_INFINITY;
  #stopTimer: () => void = () => undefined;

  constructor(option: 'real' | 'virtual' | ClockOptions, transit: Transit = { haveTransit: false }) {
    const { mode, now, autoAdvance = true, frozen = false } = checkedClockOptions(option);
    const startAt = mode === 'real' ? now : (now ?? VIRTUAL_START);
    this.mode = mode;
    this.autoAdvance = autoAdvance;
    this.#startAt = startAt === undefined ? undefined : parseInstant('clock.now', startAt);
    this.#startsFrozen = frozen;
    this.#idle = new IdleDetector(transit);
    if (mode === 'virtual') watchSystem();
    this.#passing = mode === 'real' ? systemNow : () => 0;
    this.reset();
  }

  get isFrozen(): boolean {
    return this.#frozenAt !== undefined;
  }

  /** `now()`; `undefined` while that is the time of the machine. */
  get ownNow(): number | undefined {
    const now = this.now();
    const aheadMs = this.#aheadMs + this.#behindMs;
    // `set()` reads the time of the machine again, perhaps a millisecond later.
    const isOfMachine = this.mode === 'real' && !this.isFrozen && Math.abs(aheadMs) <= 2;
    return isOfMachine ? undefined : now;
  }

  now(): number {
    const time = (this.#frozenAt ?? this.#passing()) + this.#aheadMs;
    const { now: dateNow } = Date;
    // `Date.now` was replaced, or has caught up: nothing to add.
    if (dateNow !== this.#dateNow || time >= this.#latest) this.#behindMs = 0;
    this.#dateNow = dateNow;
    // The date went back by more than a timer's inaccuracy: add the difference from now on.
    if (time + this.#behindMs < this.#latest - TIMER_SKEW_MS) this.#behindMs = this.#latest - time;
    this.#latest = Math.min(LATEST_MS, Math.max(this.#latest, time + this.#behindMs));
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
    if (!(ms > 0)) {
      // Code that waits again and again must not stop the process. It is at work meanwhile.
      this.#idle.noteActivity();
      await nextTurn();
      signal?.throwIfAborted();
      return;
    }
    const now = this.now();
    if (Number.isFinite(ms) && now + ms > LATEST_MS)
      throw invalidOption('sleep', ms, `milliseconds that end ${BEFORE_THE_END}`);
    const leadMs = now - monotonicNow();
    this.#leadMs = this.#timers.size === 0 ? leadMs : Math.max(this.#leadMs, leadMs);
    const slept = this.#timers.add(Math.ceil(now + ms), signal); // a real timer lasts whole milliseconds, too
    this.#idle.noteWait();
    this.#arm();
    try {
      await slept;
    } catch (error) {
      this.#idle.noteActivity();
      this.#arm(); // without other waits, the process can end
      throw error;
    }
  }

  /** Advances to the time that `target` returns when the move starts, and ends the waits until then. Never moves back. */
  advanceTo(target: (now: number) => number): Promise<number> {
    this.#moves += 1;
    const sets = this.#sets;
    const move = this.#lastMove
      .then(() => this.#move(target, () => this.#sets === sets))
      .finally(() => {
        this.#moves -= 1;
        this.#arm();
      });
    this.#lastMove = move.catch(() => undefined); // a target can be refused
    return move;
  }

  /** Sets the clock to any time, and ends moves that have begun. Waits keep their remaining duration. */
  set(at: number): void {
    this.#sets += 1;
    const byMs = at - this.now();
    this.#timers.shift(byMs);
    this.#leadMs += byMs;
    this.#latest = at;
    this.#behindMs = 0;
    this.#aheadMs = at - (this.#frozenAt ?? this.#passing());
    this.#arm();
  }

  /** Resets the clock to its first time, and to frozen or not as at the start. */
  reset(): void {
    this.#frozenAt = this.#startsFrozen ? this.#passing() : undefined;
    this.set(this.#startAt ?? systemNow());
  }

  /** A request has arrived: a virtual clock does not jump until the process is idle again. */
  noteRequest(): void {
    this.#idle.noteActivity();
  }

  async #move(target: (now: number) => number, isCurrent: () => boolean): Promise<number> {
    // Operations that have begun run before the time moves: a request in flight is decided at the old time.
    await this.#settle(LONGEST_SETTLE_MS);
    if (!isCurrent()) return this.now();
    const at = target(this.now());
    while (isCurrent() && this.#timers.nextDueAt <= at) {
      this.#wakeNext();
      await this.#settle(Math.min(this.#timers.nextDueAt, at) - this.now());
    }
    if (isCurrent()) this.#jumpTo(at);
    return this.now();
  }

  /** Lets the code run that continues after a wait, at most for a while. Real time passes meanwhile, so there a few turns are enough. */
  async #settle(mostMs: number): Promise<void> {
    this.#idle.restart();
    if (this.mode === 'real') {
      for (let turn = 0; turn < IDLE_TURNS; turn += 1) await nextTurn();
      return;
    }
    const endsAt = monotonicNow() + Math.min(mostMs, LONGEST_SETTLE_MS);
    while (!(await this.#idle.turn()) && (monotonicNow() < endsAt || !this.#idle.hasHadTurns)) {}
  }

  /** Moves to the end of the earliest wait, and ends it. */
  #wakeNext(): void {
    this.#jumpTo(this.#timers.nextDueAt);
    this.#idle.noteWoken(this.#timers.fireDue(this.now()));
  }

  #jumpTo(at: number): void {
    const byMs = Math.max(0, at - this.now());
    this.#aheadMs += byMs;
    this.#latest += byMs; // a date that is behind stays as far behind
  }

  /** Prepares the end of the earliest wait: a timer, without which the process can end, or the jump to it. */
  #arm(): void {
    if (this.mode === 'virtual') return void this.#watch();
    this.#stopTimer();
    if (this.#timers.size === 0 || this.isFrozen) return;
    const from = this.now();
    const waitMs = Math.max(1, Math.ceil(Math.min(this.#timers.nextDueAt - from, LONGEST_TIMER_MS)));
    // biome-ignore lint/plugin: this is the real clock
    const timer = setTimeout(() => this.#timerFired(from + waitMs), waitMs);
    const { clearTimeout } = globalThis; // the one that knows the timer, whatever replaces it later
    this.#stopTimer = () => clearTimeout(timer);
  }

  /** It is `at` when the timer has fired, whatever a faked date says. */
  #timerFired(at: number): void {
    this.#latest = Math.max(this.now(), at);
    this.#timers.fireDue(this.#latest);
    this.#arm();
  }

  /** Waits until the process is idle, then jumps to the earliest sleep, until there are no more. */
  async #watch(): Promise<void> {
    if (!this.autoAdvance || this.#isWatching || !this.#hasNext()) return;
    this.#isWatching = true;
    this.#idle.restart();
    while (this.#hasNext()) {
      const isIdle = await this.#idle.turn();
      if (this.#hasNext() && (isIdle || this.#isOverdue())) this.#wakeNext();
    }
    this.#isWatching = false;
  }

  /** Whether the earliest wait has taken as long in real time as it lasts. */
  #isOverdue(): boolean {
    return this.#idle.hasHadTurns && monotonicNow() + this.#leadMs >= this.#timers.nextDueAt;
  }

  /** Times after year 9999 are never reached: a wait beyond them does not end. */
  #hasNext(): boolean {
    return this.#moves === 0 && !this.isFrozen && this.#timers.nextDueAt <= LATEST_MS;
  }
}

/** Times after it are never reached, so a wait for one would not end. */
export const BEFORE_THE_END = 'before the year 10000; mock.reset() restores the first time';

/** Default start of a virtual clock. It is fixed, so that every run has the same responses. */
const VIRTUAL_START = '2026-01-15T00:00:00.000Z';

/** A timer of Node.js can fire about a millisecond early; one that fires this early was faked. */
const TIMER_SKEW_MS = 50;

/** A move waits so long for requests in flight: one that is being handled can wait for the move itself. */
const LONGEST_SETTLE_MS = 50;

/** Milliseconds since the Unix epoch by the machine's own clock. */
export function systemNow(): number {
  // biome-ignore lint/plugin: this is the real clock
  return Date.now();
}

/**
 * Detects when the process only waits: no request is being handled, and for several turns of the event loop no request
 * arrived and no wait began.
 */
class IdleDetector {
  /** Increased by each event that is no sign of waiting. */
  #activity = 0;
  /** Waits that ended minus waits that began, since the last other event. At 0, all code that was woken waits again. */
  #awake = Number.POSITIVE_INFINITY;
  #turns = 0;
  #quietTurns = 0;
  #busyTurns = 0;
  readonly #transit: Transit;

  constructor(transit: Transit) {
    this.#transit = transit;
  }

  /** Whether enough turns have passed for work that needs only a few of them. */
  get hasHadTurns(): boolean {
    return this.#turns >= (this.#transit.haveTransit ? 1 : LEAST_TURNS);
  }

  noteActivity(): void {
    this.#activity += 1;
    this.#awake = Number.POSITIVE_INFINITY;
  }

  noteWait(): void {
    this.#activity += 1;
    this.#awake -= 1;
  }

  /** After `count` waits have ended. */
  noteWoken(count: number): void {
    this.restart();
    this.#awake = count;
  }

  restart(): void {
    this.#turns = 0;
    this.#quietTurns = 0;
    this.#busyTurns = 0;
  }

  /** Waits a turn. Resolves to whether the process is idle. */
  async turn(): Promise<boolean> {
    const before = this.#activity;
    const isInTransit = this.#transit.haveTransit && this.#awake !== 0;
    await (isInTransit || this.#busyTurns > 0 ? pause(TRANSIT_PAUSE_MS) : nextTurn());
    this.#turns += 1;
    this.#quietTurns = this.#activity === before ? this.#quietTurns + 1 : 0;
    if (this.#quietTurns < IDLE_TURNS) return false;
    if (this.#awake === 0 || this.#busyTurns >= MOST_BUSY_TURNS || !isSystemBusy()) return true;
    this.#quietTurns = 0;
    this.#busyTurns += 1;
    return false;
  }
}

/** Several times the turns in which a client reads and parses a response and sends the next request. */
const IDLE_TURNS = 12;
const LEAST_TURNS = 100;
const TRANSIT_PAUSE_MS = 2;
/** About a second. */
const MOST_BUSY_TURNS = 40;

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

  /** Resolves the waits that end at `now`, in their order. Returns their number. */
  fireDue(now: number): number {
    const before = this.size;
    while (this.nextDueAt <= now) this.#heap.pop()?.fire();
    return before - this.size;
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
