import { type Random, seededRandom } from '../../../test/helpers/limits-random.ts';
import type { HintForm } from './hints.ts';
import type { NetworkSpec } from './network.ts';
import type { Job, Scenario } from './scenario.ts';
import type { Outage, ServerSpec } from './server.ts';
import type { WindowKind } from './windows.ts';

const KINDS: readonly WindowKind[] = ['fixed-minute', 'fixed-first-hit', 'sliding-log', 'sliding-counter', 'bucket'];
const LIMITS = [5, 10, 30, 60, 120, 300, 600, 1_000];
const HINTS: readonly HintForm[] = [
  ...(['seconds', 'seconds', 'seconds', 'fraction', 'milliseconds', 'date', 'date-alone'] as const),
  ...(['up5', 'jitter10', 'early', 'some', 'absent', 0, 1, 60] as const),
];
const LATENCIES: readonly NonNullable<NetworkSpec['latency']>[] = [
  [20, 120],
  [20, 120],
  [1, 3],
  [60, 60],
  [300, 700],
  [1_000, 2_000],
  { medianMs: 80 },
];

/**
 * Random scenarios: each combines a server, a network and a job at random, most of them with one or two oddities. The
 * same number gives the same scenario. Their goals are the general ones, which the worst combinations
 * (a limit of 5 for eight processes, say) cannot meet: look at what fails, and compare two versions.
 */
export function randomScenarios(from: number, count: number): Scenario[] {
  return Array.from({ length: count }, (_, index) => randomScenario(from + index));
}

function randomScenario(number: number): Scenario {
  const draw = new Draw(seededRandom(90_000 + number));
  const server = randomServer(draw);
  const processes = draw.of([1, 1, 1, 1, 2, 4, 8]);
  const latency = draw.of<readonly [number, number]>([
    [1, 4],
    [20, 60],
    [100, 300],
  ]);
  const told = draw.maybe(0.4, () => Math.round(server.limit * draw.of([1, 1, 1, 1, 0.5, 3])));
  const scenario: Omit<Scenario, 'name'> = {
    server,
    network: randomNetwork(draw),
    job: randomJob(draw, server.limit),
    processes,
    ...(processes > 1 ? draw.maybe(0.6, () => ({ store: { latency } })) : {}),
    ...(told === undefined ? {} : { told }),
  };
  return { name: `random ${number}`, ...scenario };
}

function randomServer(draw: Draw): ServerSpec {
  const kind = draw.of([...KINDS, 'bucket' as const]);
  const limit = draw.of(LIMITS);
  const part = (...parts: readonly number[]) => Math.max(1, Math.round(limit * draw.of(parts)));
  return {
    kind,
    limit,
    ...(kind === 'bucket' ? { burst: part(1, 0.5, 0.2, 0.1, 0.03) } : {}),
    hint: draw.of(HINTS),
    quota: draw.of(['honest', 'honest', 'honest', 'refused', part(0.5, 2, 10)]),
    ...draw.maybe(0.15, () => ({
      second: { kind: 'sliding-log', limit: part(1 / 6, 1 / 12, 1 / 20), windowMs: draw.of([1_000, 5_000, 10_000]) },
    })),
    ...draw.maybe(0.15, () => ({
      changes: [{ atMs: draw.of([5_000, 30_000, 70_000]), limit: part(0.3, 0.5, 2, 5) }],
    })),
    ...draw.maybe(0.08, () => ({ nodes: draw.of([2, 3]) })),
    ...draw.maybe(0.1, () => ({ lagMs: draw.of([100, 500, 1_500]) })),
    ...draw.maybe(0.15, () => ({ othersPerMinute: part(0.1, 0.3, 0.5, 0.7) })),
    ...draw.maybe(0.15, () => ({ usedBefore: draw.of([0.3, 0.6, 1]) })),
    ...draw.maybe(0.15, () => ({ outages: [randomOutage(draw)] })),
  };
}

function randomOutage(draw: Draw): Outage {
  const fromMs = draw.of([0, 1_000, 10_000, 30_000]);
  return {
    fromMs,
    untilMs: fromMs + draw.of([1_000, 5_000, 20_000]),
    kind: draw.of<Outage['kind']>([500, 503, 'silence', 'reset']),
    ...draw.maybe(0.4, () => ({ retryAfter: draw.of([1, 5, 30, 'remaining' as const]) })),
    ...draw.maybe(0.3, () => ({ part: draw.of([0.2, 0.5]) })),
  };
}

function randomNetwork(draw: Draw): NetworkSpec {
  return {
    latency: draw.of(LATENCIES),
    ...draw.maybe(0.15, () => ({ lostRequests: draw.of([0.01, 0.05, 0.1]) })),
    ...draw.maybe(0.15, () => ({ lostResponses: draw.of([0.01, 0.05, 0.1]) })),
    ...draw.maybe(0.1, () => ({ resets: draw.of([0.01, 0.1]) })),
  };
}

function randomJob(draw: Draw, limit: number): Job {
  const calls = Math.max(20, Math.min(1_500, Math.round(limit * draw.of([0.8, 1.5, 3, 5]))));
  const callers = draw.maybe(0.4, () => ({ callers: draw.of([1, 4, 16]) }));
  return { calls, ...(callers ?? draw.maybe(0.2, () => ({ perMinute: Math.ceil(limit * draw.of([0.5, 0.9, 1.2])) }))) };
}

class Draw {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  of<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(this.#random() * values.length)];
    if (value === undefined) throw new RangeError('nothing to draw from');
    return value;
  }

  maybe<Value>(chance: number, value: () => Value): Value | undefined {
    return this.#random() < chance ? value() : undefined;
  }
}
