import type { FetchLike } from '../../../src/client/index.ts';
import { between, type Random } from '../../../test/helpers/limits-random.ts';
import type { SimulatedResponse, WildServer } from './server.ts';
import type { VirtualTime } from './virtual-time.ts';

/** One-way latency in milliseconds: uniform between two values, or a median with a heavy tail of up to 4 s. */
export type Latency = readonly [number, number] | { readonly medianMs: number };

export interface NetworkSpec {
  /** Default: 20 to 120. */
  readonly latency?: Latency;
  /** Part of the requests that are lost. Default: 0. */
  readonly lostRequests?: number;
  /** Part of the responses that are lost after the server has counted the request. Default: 0. */
  readonly lostResponses?: number;
  /** Part of the connections that are reset before the request arrives. Default: 0. */
  readonly resets?: number;
}

/** Requests and responses of one process. */
export class Traffic {
  readonly name: string;
  requests = 0;
  refused = 0;
  /** Requests sent before the end of a wait that an honest response asked for. */
  early = 0;
  /** Requests sent during an outage after its first failed response arrived. */
  inKnownOutage = 0;
  /** When the server will accept requests again, according to the responses that the process received. */
  opensAt = 0;
  /** When the process last received a failure of the service. */
  failedAt = Number.NEGATIVE_INFINITY;

  constructor(name = 'p0') {
    this.name = name;
  }
}

export interface World {
  readonly time: VirtualTime;
  readonly server: WildServer;
  readonly network: NetworkSpec;
  readonly random: Random;
  /** Called with every request and response. */
  readonly trace?: (event: string) => void;
}

const LONGEST_LATENCY_MS = 4_000;

/** A `fetch` through the simulated network to the simulated server. */
export function createFetch(world: World, traffic: Traffic): FetchLike {
  return (url, { signal }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const sent = { path: url.replace(/^\w+:\/\/[^/]*/, ''), isEnded: false };
      const onAbort = () => {
        sent.isEnded = true;
        countLost(world, traffic, sent.path);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      countSent(world, traffic, sent.path);
      exchange(world, sent.path, (response) => {
        // A response to an attempt that has timed out does not reach the client.
        if (sent.isEnded) return;
        signal.removeEventListener('abort', onAbort);
        countResponse(world, traffic, { path: sent.path, response });
        if (response.status === 'reset') reject(connectionReset());
        else resolve(new Response(response.body, { status: Number(response.status), headers: response.headers }));
      });
    });
}

/** Draws a one-way latency. */
export function latencyMs({ latency = [20, 120] }: NetworkSpec, random: Random): number {
  if ('medianMs' in latency) {
    // Log-normal: one in forty is seven times the median, one in a thousand is thirty times the median.
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.min(LONGEST_LATENCY_MS, latency.medianMs * Math.exp(normal));
  }
  return between(random, latency[0], latency[1]);
}

/** One request and its response; `deliver` is not called if either is lost. */
function exchange(world: World, path: string, deliver: (response: SimulatedResponse) => void): void {
  const { time, server, network, random } = world;
  const { lostRequests = 0, lostResponses = 0, resets = 0 } = network;
  if (random() < lostRequests) return;
  const isReset = random() < resets;
  time.after(latencyMs(network, random), () => {
    const response = isReset ? RESET : server.receive(time.now(), path);
    if (response.status === 'silence' || random() < lostResponses) return;
    time.after(latencyMs(network, random), () => deliver(response));
  });
}

const RESET: SimulatedResponse = { status: 'reset', headers: {}, body: '' };

function countSent(world: World, traffic: Traffic, path: string): void {
  const { time, server } = world;
  const now = time.now();
  const isEarly = now < traffic.opensAt;
  traffic.requests += 1;
  if (isEarly) traffic.early += 1;
  world.trace?.(`${traffic.name} -> ${path}${isEarly ? ' EARLY' : ''}`);
  const outage = server.outageAt(now);
  if (outage === undefined) return;
  if (traffic.failedAt >= server.startedAt + outage.fromMs) traffic.inKnownOutage += 1;
}

function countResponse(
  world: World,
  traffic: Traffic,
  { path, response }: { path: string; response: SimulatedResponse },
): void {
  const { status, headers, opensAt = 0 } = response;
  if (status === 429) traffic.refused += 1;
  if (status === 'reset' || Number(status) >= 500) traffic.failedAt = world.time.now();
  traffic.opensAt = Math.max(traffic.opensAt, opensAt);
  const hint = headers['retry-after'];
  world.trace?.(`${traffic.name} <- ${path} ${status}${hint === undefined ? '' : ` Retry-After: ${hint}`}`);
}

/** An attempt that timed out or was aborted shows that the service fails. */
function countLost(world: World, traffic: Traffic, path: string): void {
  traffic.failedAt = world.time.now();
  world.trace?.(`${traffic.name} <- ${path} nothing`);
}

function connectionReset(): Error {
  const cause = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  return new TypeError('fetch failed', { cause });
}
