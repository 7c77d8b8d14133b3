import { Heap, type HeapNode } from '../../heap.ts';
import type { Cancellation } from '../time/abort.ts';
import type { Permit } from './in-flight.ts';

/** The order in which waiting calls are sent. */
export type Priority = 'high' | 'normal' | 'low';

/** The deadline of a call. */
export interface Due {
  /** Time of `SteadyTime.now()`; Infinity for none. Read again when it is reached, because that of a shared call can grow. */
  readonly deadlineAt: number;
}

/** How a call waits for its slot. */
export interface AcquireOptions {
  readonly signal: Cancellation;
  readonly due: Due;
  /** Calls of a higher priority are sent before all others. */
  readonly priority: Priority;
  /** `false`: the call is rejected (reason `'policy'`) if the limit has no free slot; it waits for requests in flight. */
  readonly waits: boolean;
  /** Whether it is a `quota()` of the client itself, which no caller waits for. */
  readonly isOwn: boolean;
  /** Whether it is free, as `quota()`: calls of low priority leave no slots for it. */
  readonly isFree: boolean;
  /** The permit of the previous attempt: the call keeps its place, at the head of the queue. */
  readonly retryOf: Permit | undefined;
}

/**
 * A waiting call. Tickets are numbered in the order of arrival; a refused call returns to the head with its own ticket.
 */
export interface QueuedCall extends Pick<AcquireOptions, 'due' | 'priority' | 'waits'> {
  readonly ticket: number;
  /** Failed attempts of the call. */
  readonly failures: number;
  /** Set by the queue while it contains the call. */
  nodes?: Nodes | undefined;
}

/** The places of a call in the heaps of the queue. */
interface Nodes {
  readonly order: HeapNode<unknown>;
  /** `undefined` for a call without a deadline. */
  readonly deadline: HeapNode<unknown> | undefined;
}

const RANKS: Readonly<Record<Priority, number>> = { high: 0, normal: 1, low: 2 };

/** The waiting calls: three priorities, each in the order of arrival, with the earliest of all deadlines. */
export class RequestQueue<Queued extends QueuedCall> {
  readonly #order = new Heap<Queued>(isServedBefore);
  readonly #deadlines = new Heap<{ readonly call: Queued; readonly at: number }>((a, b) => a.at < b.at);
  readonly #notWaiting = new Set<Queued>();
  readonly #sizes: Record<Priority, number> = { high: 0, normal: 0, low: 0 };
  /** Number of waiting calls. */
  size = 0;

  /** Number of calls that are served before a new call, or before a refused one, which returns to the head of its priority. */
  countAhead(priority: Priority, isRefused = false): number {
    const { high, normal, low } = this.#sizes;
    const higher = { high: 0, normal: high, low: high + normal }[priority];
    return isRefused ? higher : higher + { high, normal, low }[priority];
  }

  /** Milliseconds of the earliest deadline; Infinity if no call has one. */
  get earliestDeadline(): number {
    return this.#deadlines.peek()?.at ?? Number.POSITIVE_INFINITY;
  }

  add(call: Queued): void {
    const at = call.due.deadlineAt;
    const deadline = at === Number.POSITIVE_INFINITY ? undefined : this.#deadlines.push({ call, at });
    call.nodes = { order: this.#order.push(call), deadline };
    this.#sizes[call.priority] += 1;
    this.size += 1;
    if (!call.waits) this.#notWaiting.add(call);
  }

  /** Removes a call from any position. O(log n). */
  remove(call: Queued): void {
    const { nodes } = call;
    if (nodes === undefined) return;
    call.nodes = undefined;
    this.#order.remove(nodes.order);
    if (nodes.deadline) this.#deadlines.remove(nodes.deadline);
    this.#sizes[call.priority] -= 1;
    this.size -= 1;
    this.#notWaiting.delete(call);
  }

  /** Removes the call at the head. */
  shift(): Queued | undefined {
    const call = this.#order.peek();
    if (call) this.remove(call);
    return call;
  }

  /**
   * Removes the call with the fewest failures, so that a probe of a service that is down rarely uses the last retry of
   * a call.
   */
  shiftLeastFailed(): Queued | undefined {
    let least: Queued | undefined;
    for (const call of this.#order) if (least === undefined || isTriedBefore(call, least)) least = call;
    if (least) this.remove(least);
    return least;
  }

  /** Removes one call that does not wait for a slot; `undefined` if there is none left. */
  shiftNotWaiting(): Queued | undefined {
    const [call] = this.#notWaiting;
    if (call) this.remove(call);
    return call;
  }

  /** Removes one call whose deadline is before `time`; `undefined` if there is none left. */
  shiftDueBefore(time: number): Queued | undefined {
    for (let due = this.#deadlines.peek(); due && due.at < time; due = this.#deadlines.peek()) {
      const { call } = due;
      this.remove(call);
      if (call.due.deadlineAt < time) return call;
      this.add(call); // its deadline is later now
    }
    return undefined;
  }
}

function isTriedBefore(a: QueuedCall, b: QueuedCall): boolean {
  return a.failures === b.failures ? isServedBefore(a, b) : a.failures < b.failures;
}

function isServedBefore(a: QueuedCall, b: QueuedCall): boolean {
  return a.priority === b.priority ? a.ticket < b.ticket : RANKS[a.priority] < RANKS[b.priority];
}
