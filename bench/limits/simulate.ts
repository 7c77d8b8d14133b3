/**
 * The complete matrix of design/rate-limiter.md in virtual time: `npx tsx bench/limits/simulate.ts [seeds]`.
 * Every line is the limiter itself against a simulated server: 4 window kinds, limits of 30, 300 and 1 000 per minute,
 * 6 forms of Retry-After, jobs of 1.1 and 2 times the limit and of 2 000 calls.
 */
import {
  EVERYTHING,
  MEASURED,
  measure,
  ROUGH,
  type Situation,
  type Summary,
} from '../../test/helpers/limits-matrix.ts';

const seedCount = Number(process.argv[2] ?? 3);
const selection = { ...EVERYTHING, seeds: Array.from({ length: seedCount }, (_, place) => place + 1) };

async function print(situations: readonly Situation[]): Promise<void> {
  for (const situation of situations) process.stdout.write(row(situation.name, await measure(situation, selection)));
}

function row(name: string, { runs, failed, refusedPer100, ratio, worst }: Summary): string {
  return `| ${name} | ${runs} | ${failed} | ${refusedPer100.toFixed(2)} | ${ratio.toFixed(3)} | ${worst.toFixed(2)} |\n`;
}

process.stdout.write(
  '| situation | jobs | calls failed | 429 per 100 calls | time / optimum | worst |\n|---|--:|--:|--:|--:|--:|\n',
);
await print(MEASURED);
await print(ROUGH);
