import { expect, test } from 'vitest';
import { CHAOS_FAULTS, ChaosRun, chaosMock, SOCKET_FAULTS } from '../helpers/chaos-run.ts';
import { inLongRuns } from '../helpers/long-tests.ts';

/** The complete run, with 100,000 calls: `npm run bench:chaos`. */
test('with every fault, each call ends, client and mock have equal counts, and no timer remains', async () => {
  const report = await new ChaosRun({ seed: 20_261_125, calls: inLongRuns(6_000, 2_000), faults: CHAOS_FAULTS }).play();

  expect(report.problems).toEqual([]);
  expect(report.spent.client).toBe(report.spent.mock + report.spent.unseen);
  // Most possible results and kinds of faults have occurred. Which ones varies, because responses are decoded in threads.
  expect(Object.keys(report.endings).length).toBeGreaterThan(7);
  expect(Object.values(report.struck).filter((times) => times > 0).length).toBeGreaterThan(7);
});

test('the same over a real socket', async () => {
  await using mock = chaosMock();
  const { url } = await mock.serve();
  const via = { baseUrl: url, fetch: undefined };

  const report = await new ChaosRun({ seed: 3, calls: 250, faults: SOCKET_FAULTS, mock, via, isExact: false }).play();

  expect(report.problems).toEqual([]);
  expect(report.endings['value']).toBeGreaterThan(100);
  expect(Object.keys(report.endings).length).toBeGreaterThan(2);
});
