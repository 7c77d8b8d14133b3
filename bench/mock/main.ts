/**
 * `npx tsx bench/mock/main.ts`: how fast the mock server is and how much memory it takes. Ratios are of this run alone;
 * `memory` and the like as an argument run one part.
 */
import { spawnSync } from 'node:child_process';

const parts = {
  throughput: async () => (await import('./throughput.ts')).throughput(),
  'in-process': async () => (await import('./in-process.ts')).inProcess(),
  'start-up': async () => (await import('./start-up.ts')).startUp(),
  memory: async () => (await import('./memory.ts')).memory(),
};

const [wanted] = process.argv.slice(2);
if (wanted === undefined) {
  // Each in a process of its own: what one leaves behind is not the next one's.
  for (const part of Object.keys(parts)) {
    const node = ['--import', 'tsx', '--expose-gc', '--max-old-space-size=4096', import.meta.filename, part];
    spawnSync(process.execPath, node, { stdio: 'inherit' });
  }
} else {
  const run = parts[wanted as keyof typeof parts];
  if (run === undefined) throw new Error(`${wanted} is none of ${Object.keys(parts).join(', ')}.`);
  process.stdout.write(`${await run()}\n\n`);
}
