/** Measures one caller that makes `calls` calls, one after another. */
export async function callsPerSecond(call: () => Promise<unknown>, calls: number): Promise<number> {
  const startedAt = performance.now();
  for (let left = calls; left > 0; left -= 1) await call();
  return calls / ((performance.now() - startedAt) / 1000);
}
