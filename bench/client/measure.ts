import { median } from '../median.ts';
import type { Call } from './contenders.ts';

export interface MeasureOptions {
  readonly concurrency: number;
  /** Calls in one turn. */
  readonly calls: number;
  readonly rounds: number;
}

/** Medians over all rounds. */
export interface Measured {
  readonly name: string;
  readonly callsPerSecond: number;
  readonly cpuMicroseconds: number;
  /** Relative to the first contender; higher is better. */
  readonly throughput: number;
  /** Relative to the first contender; lower is better. */
  readonly cpu: number;
}

interface Turn {
  readonly callsPerSecond: number;
  readonly cpuMicroseconds: number;
}

/** Runs the contenders in turn. The first round is a warm-up and is not counted. */
export async function measureInTurns(
  contenders: ReadonlyMap<string, Call>,
  { concurrency, calls, rounds }: MeasureOptions,
): Promise<Measured[]> {
  const turns = new Map<string, Turn[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, call] of contenders) {
      const turn = await takeTurn(call, concurrency, calls);
      if (round > 0) turns.set(name, [...(turns.get(name) ?? []), turn]);
    }
  }
  const medians = [...turns].map(([name, all]) => ({
    name,
    callsPerSecond: median(all.map(({ callsPerSecond }) => callsPerSecond)),
    cpuMicroseconds: median(all.map(({ cpuMicroseconds }) => cpuMicroseconds)),
  }));
  const [first] = medians;
  return medians.map((row) => ({
    ...row,
    throughput: row.callsPerSecond / (first?.callsPerSecond ?? 1),
    cpu: row.cpuMicroseconds / (first?.cpuMicroseconds ?? 1),
  }));
}

async function takeTurn(call: Call, concurrency: number, calls: number): Promise<Turn> {
  let n = 0;
  const worker = async () => {
    while (n < calls) await call(n++);
  };
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { callsPerSecond: calls / seconds, cpuMicroseconds: (user + system) / calls };
}
