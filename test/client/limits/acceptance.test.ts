import { expect, test } from 'vitest';
import { figuresOfJobs, GROUPS, type Job } from '../../../bench/limits/wild/matrix.ts';
import { runScenario } from '../../../bench/limits/wild/run.ts';

/** The jobs of a group under the limit of the smallest plan; `npm run bench:simulate` runs all of them. */
async function jobsOf(name: string): Promise<Job[]> {
  const scenarios = GROUPS.find((group) => group.name === name)?.scenarios ?? [];
  const jobs: Job[] = [];
  for (const scenario of scenarios.filter(({ server }) => server.limit === 30)) {
    jobs.push({ scenario, outcome: await runScenario(scenario, { seed: 1 }) });
  }
  return jobs;
}

test.each([
  { name: 'told, 1 process', refusedPer100: 1, ratio: 1.6 },
  { name: 'asked, 1 process', refusedPer100: 3, ratio: 1.1 },
  { name: 'neither, 1 process', refusedPer100: 12, ratio: 1.1 },
  { name: 'told, 4 processes, store', refusedPer100: 4, ratio: 1.6 },
  { name: 'asked, 4 processes, store', refusedPer100: 4, ratio: 1.1 },
])(
  '$name: a hundred calls at once, no call fails, in every kind of window',
  { timeout: 120_000 },
  async ({ name, refusedPer100, ratio }) => {
    const jobs = await jobsOf(name);

    const figures = figuresOfJobs(jobs);

    expect(figures).toMatchObject({ jobs: 5, failed: 0, early: 0 });
    expect(figures.refusedPer100).toBeLessThanOrEqual(refusedPer100);
    expect(figures.ratio).toBeLessThanOrEqual(ratio);
    // A number that the client was told is a cap, for all processes together.
    if (name.startsWith('told')) expect(figures.ofLimit).toBeLessThanOrEqual(1);
  },
);
