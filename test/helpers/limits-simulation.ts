import type { Permit } from '../../src/client/limits/permit.ts';
import { RateLimiter, type RateLimiterOptions } from '../../src/client/limits/rate-limiter.ts';
import { VirtualClock } from './limits-clock.ts';
import { between, type Random, seededRandom } from './limits-random.ts';
import { LimitedServer, type ServerOptions, type SimulatedResponse } from './limits-server.ts';
import { MemoryLimitStore } from './memory-limit-store.ts';

export interface Scenario extends ServerOptions {
  readonly seed: number;
  /** Calls in all, distributed evenly among the processes. */
  readonly calls: number;
  /** Callers of each process, which make one call after another; Infinity: all calls at once. */
  readonly callers: number;
  /** Processes that share only the key. Default: 1. */
  readonly processes?: number;
  /** Options of the limiter. */
  readonly limiter?: Omit<RateLimiterOptions, 'clock'>;
  /** One-way latency in milliseconds. Default: 20 to 120. */
  readonly latencyMs?: readonly [number, number];
  /** Part of the limit that other clients used in the 40 s before the start. Default: 0. */
  readonly usedBefore?: number;
  /** Requests per minute of other clients, at random times. Default: 0. */
  readonly othersPerMinute?: number;
  /** Part of the responses that are lost. Default: 0. */
  readonly lost?: number;
  /** Latency of the store through which the processes share the limit. Default: they share nothing. */
  readonly storeMs?: number;
  /** Part of the accepted requests with a 5xx response. Default: 0. */
  readonly serverErrors?: number;
}

export interface Outcome {
  readonly served: number;
  readonly failed: number;
  readonly refused: number;
  readonly makespanMs: number;
  readonly optimumMs: number;
  readonly pendingTimers: number;
  readonly limiters: readonly RateLimiter[];
}

const START = 1_700_000_000_000;
const LOST_AFTER_MS = 10_000;
/** A run that has not ended by then has failed. */
const GIVE_UP_MS = 6 * 3_600_000;

/** Runs a job against a simulated server, in virtual time. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const simulation = new Simulation(scenario);
  return simulation.run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #clock: VirtualClock;
  readonly #server: LimitedServer;
  readonly #random: Random;
  readonly #startedAt: number;
  readonly #store: MemoryLimitStore;
  #served = 0;
  #failed = 0;
  #refused = 0;
  #endedAt = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#random = seededRandom(scenario.seed);
    this.#startedAt = START + Math.floor(this.#random() * 60_000);
    this.#clock = new VirtualClock(this.#startedAt);
    this.#server = new LimitedServer(scenario);
    this.#store = new MemoryLimitStore(this.#clock, { takesMs: scenario.storeMs ?? 0 });
    for (const at of usedBefore(scenario, this.#startedAt)) this.#server.receive(at);
  }

  async run(): Promise<Outcome> {
    const { calls, processes = 1 } = this.#scenario;
    this.#startOthers();
    const limiters = Array.from({ length: processes }, (_, place) =>
      this.#startProcess(Math.floor((calls + processes - 1 - place) / processes)),
    );
    const isDone = () => this.#served + this.#failed === calls;
    await this.#clock.run(() => isDone() || this.#clock.now() - this.#startedAt > GIVE_UP_MS);
    await this.#clock.advance(4 * (this.#scenario.storeMs ?? 0)); // for the last reports, even after a conflict
    return {
      served: this.#served,
      failed: calls - this.#served,
      refused: this.#refused,
      makespanMs: this.#endedAt - this.#startedAt,
      optimumMs: optimumMs(this.#scenario, this.#startedAt),
      pendingTimers: this.#clock.pending,
      limiters,
    };
  }

  #startProcess(calls: number): RateLimiter {
    const limiter = new RateLimiter({ clock: this.#clock, shared: this.#shared(), ...this.#scenario.limiter });
    let left = calls;
    const work = async () => {
      while (left > 0) {
        left -= 1;
        await this.#call(limiter).catch(() => {
          this.#failed += 1;
        });
      }
    };
    const workers = Math.min(calls, this.#scenario.callers);
    for (let worker = 0; worker < workers; worker += 1) void work();
    return limiter;
  }

  #shared(): RateLimiterOptions['shared'] {
    return this.#scenario.storeMs === undefined ? undefined : { store: this.#store, name: 'key' };
  }

  async #call(limiter: RateLimiter): Promise<void> {
    let permit: Permit | undefined;
    for (;;) {
      permit = await limiter.acquire({ retryOf: permit });
      if (await this.#send(permit)) break;
    }
    this.#served += 1;
    this.#endedAt = this.#clock.now();
  }

  /** Makes one attempt; returns whether the call was served. */
  async #send(permit: Permit): Promise<boolean> {
    const { lost = 0, serverErrors = 0 } = this.#scenario;
    const isLost = this.#random() < lost;
    await this.#sleep(this.#latency());
    const response = this.#server.receive(this.#clock.now());
    await this.#sleep(isLost ? LOST_AFTER_MS : this.#latency());
    if (isLost) {
      permit.lost();
      return false;
    }
    return this.#report(permit, response) && !(this.#random() < serverErrors);
  }

  #report(permit: Permit, { status, date, retryAfter }: SimulatedResponse): boolean {
    if (status === 200) permit.ok({ date });
    else {
      this.#refused += 1;
      permit.limited({ date, retryAfter });
    }
    return status === 200;
  }

  #startOthers(): void {
    const times = others(this.#scenario, this.#startedAt);
    const next = () => {
      const at = times();
      if (at === undefined) return;
      this.#clock.after(at - this.#clock.now(), () => {
        this.#server.receive(this.#clock.now());
        next();
      });
    };
    next();
  }

  #latency(): number {
    const [low, high] = this.#scenario.latencyMs ?? [20, 120];
    return between(this.#random, low, high);
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}

/**
 * Makespan of a client that knows the server's state. It sends every request so that it arrives when the server accepts
 * it, with the mean latency, from as many callers as the job has.
 */
export function optimumMs(scenario: Scenario, startedAt: number): number {
  const { calls, callers, processes = 1, latencyMs: [low, high] = [20, 120] } = scenario;
  const server = new LimitedServer(scenario);
  for (const at of usedBefore(scenario, startedAt)) server.receive(at);
  const oneWayMs = (low + high) / 2;
  const lanes = Math.min(calls, callers * processes);
  const freeAt = new Array<number>(lanes).fill(startedAt);
  const othersAt = others(scenario, startedAt);
  let nextOther = othersAt();
  let arrivesAt = startedAt;
  for (let call = 0; call < calls; call += 1) {
    arrivesAt = Math.max(arrivesAt, freeAt[call % lanes]! + oneWayMs);
    for (;;) {
      const acceptedAt = arrivesAt + server.waitMs(arrivesAt);
      if (nextOther === undefined || nextOther > acceptedAt) {
        arrivesAt = acceptedAt;
        break;
      }
      server.receive(nextOther);
      nextOther = othersAt();
    }
    server.receive(arrivesAt);
    freeAt[call % lanes] = arrivesAt + oneWayMs;
  }
  return arrivesAt + oneWayMs - startedAt;
}

function usedBefore({ usedBefore: part = 0, limit, seed }: Scenario, startedAt: number): number[] {
  const random = seededRandom(seed + 1);
  const times = Array.from({ length: Math.round(part * limit) }, () => startedAt - random() * 40_000);
  return times.sort((a, b) => a - b);
}

/** The arrival times of other clients' requests, in order: a Poisson process. */
function others({ othersPerMinute = 0, seed }: Scenario, startedAt: number): () => number | undefined {
  const random = seededRandom(seed + 2);
  let at = startedAt;
  return () => {
    if (othersPerMinute === 0) return undefined;
    at -= Math.log(1 - random()) * (60_000 / othersPerMinute);
    return at;
  };
}
