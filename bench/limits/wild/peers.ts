import type { FetchLike } from '../../../src/client/index.ts';
import { API_KEY, BASE_URL, type MakeCall } from './job-run.ts';
import type { World } from './network.ts';
import { type Outcome, runScenario } from './run.ts';
import type { Scenario } from './scenario.ts';
import { ProcessClock, type VirtualTime } from './virtual-time.ts';

/** Packages of bench/package.json; each has a file in `peers/`. */
export const PEERS = ['discordjs-rest', 'bottleneck', 'p-retry'] as const;

export type Peer = (typeof PEERS)[number];

/** Exports of a file in `peers/`. */
type CreateCall = (options: {
  readonly fetch: FetchLike;
  readonly origin: string;
  readonly apiKey: string;
  /** This process's share of the limit, for a peer that cannot learn the limit. */
  readonly perMinute: number;
}) => MakeCall;

/** Runs a scenario with a peer instead of the client; ignores stores and options of the client. */
export async function runPeer(peer: Peer, scenario: Scenario, seed: number): Promise<Outcome> {
  const { createCall } = (await import(`./peers/${peer}.mjs`)) as { createCall: CreateCall };
  const { before: _before, store: _store, ...alone } = scenario;
  const perMinute = Math.ceil((scenario.told ?? scenario.server.limit) / (scenario.processes ?? 1));
  let restore = (): void => undefined;
  const startPeer = (fetch: FetchLike, { time }: World): MakeCall => {
    restore();
    restore = replaceGlobals(time);
    return createCall({ fetch, origin: BASE_URL, apiKey: API_KEY, perMinute });
  };
  try {
    return await runScenario(alone, { seed, createCall: startPeer });
  } finally {
    restore();
  }
}

/** Replaces the timers and the clock of the peers by those of the simulation. Returns a function that restores them. */
function replaceGlobals(time: VirtualTime): () => void {
  const clock = new ProcessClock(time);
  const real = { setTimeout, clearTimeout, setInterval, clearInterval };
  const realNow = Date.now;
  const clear = (timer: SimulatedTimer | undefined) => timer?.cancel();
  Object.assign(globalThis, {
    setTimeout: (fire: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      new SimulatedTimer(time, () => fire(...args), { ms, repeats: false }),
    setInterval: (fire: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      new SimulatedTimer(time, () => fire(...args), { ms, repeats: true }),
    clearTimeout: clear,
    clearInterval: clear,
  });
  Date.now = () => clock.now();
  return () => {
    Object.assign(globalThis, real);
    Date.now = realNow;
  };
}

/** The result of `setTimeout` and `setInterval`. */
class SimulatedTimer {
  #cancel: () => void = () => undefined;

  constructor(
    time: VirtualTime,
    fire: () => void,
    { ms, repeats }: { readonly ms: number; readonly repeats: boolean },
  ) {
    const start = () => {
      this.#cancel = time.after(Math.max(1, ms), () => {
        if (repeats) start();
        fire();
      });
    };
    start();
  }

  cancel(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
