import { expect, test } from 'vitest';
import { hasNginx, REAL_LIMITERS, runInVirtualTime, runOnNginx } from '../helpers/real-limiters.ts';

test.each([
  { name: 'express-rate-limit', seconds: 121 },
  { name: '@fastify/rate-limit', seconds: 121 },
  { name: 'rate-limiter-flexible', seconds: 121 },
  { name: 'rate-limiter-flexible, blockDuration: 75', seconds: 136 },
] as const)('$name: of 75 calls at once, two are refused and none fails', async ({ name, seconds }) => {
  const run = await runInVirtualTime(REAL_LIMITERS[name], 75);

  expect(run).toMatchObject({ failed: 0, refused: 2 }); // sent before quota() has shown the limit
  expect(run.seconds).toBeLessThanOrEqual(seconds);
});

test.skipIf(!hasNginx)('nginx without Retry-After: none of 40 calls fails, with at most one refusal each', async () => {
  const run = await runOnNginx(40, { speed: 20 });

  expect(run.failed).toBe(0);
  // The time is real, and twenty times as fast: 23 on an idle machine, 29 beside other tests.
  expect(run.refused).toBeLessThanOrEqual(40);
});
