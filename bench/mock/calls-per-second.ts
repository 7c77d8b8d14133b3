/** Of one caller who makes `calls` of them, one after the other. */
export async function callsPerSecond(call: () => Promise<unknown>, calls: number): Promise<number> {
  const startedAt = performance.now();
  for (let left = calls; left > 0; left -= 1) await call();
  return calls / ((performance.now() - startedAt) / 1000);
}
