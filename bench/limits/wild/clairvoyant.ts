import { type Random, seededRandom } from '../../../test/helpers/limits-random.ts';
import { latencyMs } from './network.ts';
import { deadlineOf, type PlannedCall, type Scenario } from './scenario.ts';
import { WildServer } from './server.ts';
import { EventQueue } from './virtual-time.ts';
import { createWindow, type Window } from './windows.ts';

/**
 * The result of a client that knows when the server accepts requests, but not which ones the network will lose. A limit that
 * it is told is a cap for any minute, as for the client.
 */
export interface Bound {
  readonly makespanMs: number;
  readonly served: number;
  /** Mean time from a call's start to its response. */
  readonly meanMs: number;
}

/** Number of runs, each with different network losses; the best one counts. */
const TRIES = 3;
/** The client's own timeout for one attempt. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** The least possible time, and the largest number of calls that can be served. */
export function clairvoyant(scenario: Scenario, planned: readonly PlannedCall[], run: RunSeeds): Bound {
  const bounds = Array.from({ length: TRIES }, (_, place) =>
    new ClairvoyantRun(scenario, planned, { ...run, random: seededRandom(1_000 * run.seed + place) }).run(),
  );
  return {
    makespanMs: Math.min(...bounds.map(({ makespanMs }) => makespanMs)),
    served: Math.max(...bounds.map(({ served }) => served)),
    meanMs: Math.min(...bounds.map(({ meanMs }) => meanMs)),
  };
}

export interface RunSeeds {
  readonly seed: number;
  readonly startedAt: number;
}

type Event = { readonly kind: 'start' | 'arrive'; readonly call: PlannedCall } | { readonly kind: 'open' | 'free' };

/** Sends each request so that it arrives when its server accepts it. Only the callers of the job limit it. */
class ClairvoyantRun {
  readonly #scenario: Scenario;
  readonly #startedAt: number;
  readonly #random: Random;
  readonly #server: WildServer;
  readonly #cap: Window | undefined;
  readonly #events = new EventQueue<Event>();
  /** Requests that wait at the server, in the order of their arrival. */
  readonly #waiting: PlannedCall[] = [];
  #isOpening = false;
  /** When a caller sent each call, by the call's number. */
  readonly #sentAt: number[] = [];
  /** Calls that no caller has started yet. */
  readonly #unassigned: PlannedCall[] = [];
  #freeCallers: number;
  #endedAt: number;
  #served = 0;
  #tookMs = 0;

  constructor(
    scenario: Scenario,
    planned: readonly PlannedCall[],
    { seed, startedAt, random }: RunSeeds & { random: Random },
  ) {
    const { job, processes = 1, server: spec } = scenario;
    this.#scenario = scenario;
    this.#startedAt = startedAt;
    this.#endedAt = startedAt;
    this.#random = random;
    this.#server = new WildServer(spec, random, { startedAt, seed });
    this.#cap = capOf(scenario);
    this.#freeCallers = (job.callers ?? Number.POSITIVE_INFINITY) * processes;
    for (const call of planned) this.#events.push(startedAt + call.startMs, { kind: 'start', call });
  }

  run(): Bound {
    for (let next = this.#events.pop(); next !== undefined; next = this.#events.pop()) this.#handle(next.item, next.at);
    const meanMs = this.#served === 0 ? 0 : this.#tookMs / this.#served;
    return { makespanMs: this.#endedAt - this.#startedAt, served: this.#served, meanMs };
  }

  #handle(event: Event, now: number): void {
    switch (event.kind) {
      case 'start':
        this.#unassigned.push(event.call);
        this.#sendUnassigned(now);
        break;
      case 'arrive':
        this.#waiting.push(event.call);
        if (!this.#isOpening) this.#serve(now);
        break;
      case 'open':
        this.#isOpening = false;
        this.#serve(now);
        break;
      case 'free':
        this.#freeCallers += 1;
        this.#sendUnassigned(now);
    }
  }

  #sendUnassigned(now: number): void {
    while (this.#freeCallers > 0) {
      const call = this.#unassigned.shift();
      if (call === undefined) return;
      this.#freeCallers -= 1;
      this.#sentAt[call.number] = now;
      this.#send(call, now);
    }
  }

  #send(call: PlannedCall, now: number): void {
    const { network = {} } = this.#scenario;
    const { lostRequests = 0, resets = 0 } = network;
    if (this.#random() < lostRequests) return this.#sendLater(call, now + ATTEMPT_TIMEOUT_MS);
    const arrivesAt = now + latencyMs(network, this.#random);
    if (this.#random() < resets) return this.#sendLater(call, arrivesAt + latencyMs(network, this.#random));
    this.#events.push(arrivesAt, { kind: 'arrive', call });
  }

  /** Sends the call again at that time; its latency is drawn now. */
  #sendLater(call: PlannedCall, at: number): void {
    const { network = {} } = this.#scenario;
    this.#events.push(at + latencyMs(network, this.#random), { kind: 'arrive', call });
  }

  #serve(now: number): void {
    for (let call = this.#waiting[0]; call !== undefined; call = this.#waiting[0]) {
      const waitMs = Math.max(this.#server.waitMs(now), this.#cap?.waitMs(now) ?? 0);
      if (waitMs > 0) {
        this.#isOpening = true;
        this.#events.push(now + waitMs, { kind: 'open' });
        return;
      }
      this.#waiting.shift();
      this.#response(call, now);
    }
  }

  /** Drops a call whose response would come too late, and serves the next one. */
  #response(call: PlannedCall, now: number): void {
    const { network = {} } = this.#scenario;
    const respondedAt = now + latencyMs(network, this.#random);
    const sentAt = this.#sentAt[call.number] ?? now;
    const isLate =
      respondedAt > sentAt + Math.min(deadlineOf(this.#scenario), call.abortAfterMs ?? Number.POSITIVE_INFINITY);
    if (isLate) return this.#events.push(now, { kind: 'free' });
    this.#server.accept(now);
    this.#cap?.accept(now);
    if (this.#random() < (network.lostResponses ?? 0)) return this.#sendLater(call, now + ATTEMPT_TIMEOUT_MS);
    this.#served += 1;
    this.#tookMs += respondedAt - sentAt;
    this.#endedAt = Math.max(this.#endedAt, respondedAt);
    this.#events.push(respondedAt, { kind: 'free' });
  }
}

/** Processes without a store know nothing of each other: each has the whole cap. */
function capOf({ told, store, processes = 1 }: Scenario): Window | undefined {
  return told === undefined ? undefined : createWindow({ kind: 'sliding-log', limit: store ? told : told * processes });
}
