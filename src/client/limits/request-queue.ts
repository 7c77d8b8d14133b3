import { Heap, type HeapNode } from '../../heap.ts';
import type { CancelSignal } from '../cancellation.ts';
import type { Clock } from '../clock.ts';
import type { Permit } from './permit.ts';

/** How a call waits for its slot. */
export interface AcquireOptions {
  readonly signal?: CancelSignal | undefined;
  /** Milliseconds of the limiter's clock; called again when that time has come. Default: no deadline. */
  readonly deadlineAt?: (() => number) | undefined;
  /** High-priority calls go before all others. Default: `'low'`. */
  readonly priority?: 'high' | 'low' | undefined;
  /** False: be rejected (reason `'policy'`) instead of waiting for the limit. Default: true. */
  readonly wait?: boolean | undefined;
  /** The permit of the attempt before: the call keeps its place, at the head of the queue. */
  readonly retryOf?: Permit | undefined;
}

/** A call that waits. Tickets are numbered in order of arrival; a refused call comes back with its own, to the head. */
export interface QueuedCall {
  readonly ticket: number;
  readonly isHigh: boolean;
  /** Failed attempts of the call. */
  readonly failures: number;
  /** Leaves as soon as there is no free slot. */
  readonly waits: boolean;
  /** Infinity for none. Asked again when it has passed, since the deadline of a shared call can grow. */
  readonly deadlineAt: () => number;
}

interface Deadline<Call> {
  readonly call: Call;
  readonly at: number;
}

interface Nodes<Call> {
  readonly order: HeapNode<Call>;
  /** `undefined` for a call without a deadline. */
  readonly deadline: HeapNode<Deadline<Call>> | undefined;
}

/** The waiting calls: two priorities, first come first served in each, and the earliest deadline always at hand. */
export class RequestQueue<Call extends QueuedCall> {
  readonly #order = new Heap<Call>((a, b) => (a.isHigh === b.isHigh ? a.ticket < b.ticket : a.isHigh));
  readonly #deadlines = new Heap<Deadline<Call>>((a, b) => a.at < b.at);
  readonly #nodesOf = new Map<Call, Nodes<Call>>();
  readonly #notWaiting = new Set<Call>();
  #high = 0;

  get size(): number {
    return this.#order.size;
  }

  /** Waiting calls of high priority. */
  get high(): number {
    return this.#high;
  }

  /** Milliseconds of the earliest deadline; Infinity if no call has one. */
  get earliestDeadline(): number {
    return this.#deadlines.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  add(call: Call): void {
    this.#nodesOf.set(call, { order: this.#order.push(call), deadline: this.#addDeadline(call) });
    this.#high += call.isHigh ? 1 : 0;
    if (!call.waits) this.#notWaiting.add(call);
  }

  /** Removes a call, wherever it is. O(log n). Returns whether it was there. */
  remove(call: Call): boolean {
    const nodes = this.#nodesOf.get(call);
    if (nodes === undefined) return false;
    this.#nodesOf.delete(call);
    this.#order.remove(nodes.order);
    if (nodes.deadline) this.#deadlines.remove(nodes.deadline);
    this.#high -= call.isHigh ? 1 : 0;
    this.#notWaiting.delete(call);
    return true;
  }

  /** Removes the call at the head. */
  shift(): Call | undefined {
    const call = this.#order.peek();
    if (call) this.remove(call);
    return call;
  }

  /** Removes the call that has failed least: the next probe of a service that is down must not be the last of a call. */
  shiftLeastFailed(): Call | undefined {
    const call = this.#order.least((a, b) => a.failures - b.failures || (this.#order.isBefore(a, b) ? -1 : 1));
    if (call) this.remove(call);
    return call;
  }

  /** Removes one call that does not wait for a slot; `undefined` if there is none left. */
  shiftNotWaiting(): Call | undefined {
    const [call] = this.#notWaiting;
    if (call) this.remove(call);
    return call;
  }

  /** Removes one call whose deadline is before `time`; `undefined` if there is none left. */
  shiftDueBefore(time: number): Call | undefined {
    for (let due = this.#deadlines.peek(); due && due.at < time; due = this.#deadlines.peek()) {
      const { call } = due;
      this.remove(call);
      if (call.deadlineAt() < time) return call;
      this.add(call); // its deadline is later now
    }
    return undefined;
  }

  #addDeadline(call: Call): HeapNode<Deadline<Call>> | undefined {
    const at = call.deadlineAt();
    return at === Number.POSITIVE_INFINITY ? undefined : this.#deadlines.push({ call, at });
  }
}

/** A sleep is cut into pieces so that a clock which jumped (a laptop that slept) is noticed this soon. */
const LONGEST_SLEEP_MS = 5_000;

/** A shorter sleep could end in the millisecond in which it began, and repeat for ever. */
const SHORTEST_SLEEP_MS = 1;

/** Without a reason of ours, an abort makes an exception with its stack. */
const CANCELLED = 'cancelled';

/** One sleep at a time, however many calls wait for it. Wakes early rather than late; its owner then looks again. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #wakeUp: () => void;
  #sleeping: { readonly endsAt: number; readonly controller: AbortController } | undefined;

  constructor(clock: Clock, wakeUp: () => void) {
    this.#clock = clock;
    this.#wakeUp = wakeUp;
  }

  /** Wakes after `ms`, or earlier if it was already set to an earlier time. */
  set(now: number, ms: number): void {
    const endsAt = now + Math.min(Math.max(ms, SHORTEST_SLEEP_MS), LONGEST_SLEEP_MS);
    if (this.#sleeping && this.#sleeping.endsAt > now && this.#sleeping.endsAt <= endsAt) return;
    this.cancel();
    const controller = new AbortController();
    this.#sleeping = { endsAt, controller };
    this.#clock.sleep(endsAt - now, controller.signal).then(
      () => this.#wake(controller),
      // A sleep fails only when `cancel` aborts it.
      () => undefined,
    );
  }

  /** Leaves no timer behind, so that a process with nothing else to do can exit. */
  cancel(): void {
    this.#sleeping?.controller.abort(CANCELLED);
    this.#sleeping = undefined;
  }

  #wake(controller: AbortController): void {
    if (this.#sleeping?.controller !== controller) return;
    this.#sleeping = undefined;
    this.#wakeUp();
  }
}
