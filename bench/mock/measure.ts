import { performance } from 'node:perf_hooks';

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Calls per second of `callers` at once, each making one call after the other. */
export async function callsPerSecond(call: () => Promise<unknown>, { calls, callers }: Load): Promise<number> {
  let left = calls;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  return calls / ((performance.now() - startedAt) / 1000);
}

export interface Load {
  readonly calls: number;
  readonly callers: number;
}

/** Bytes in use once everything that can be collected is. */
export function memoryInUse(): number {
  if (globalThis.gc === undefined) throw new Error('run with --expose-gc');
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = heads.map((_, place) => (place === 0 ? '---' : '--:'));
  return [heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
