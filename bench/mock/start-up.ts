import { spawnSync } from 'node:child_process';
import { buildMock } from './built-mock.ts';
import { median, table } from './measure.ts';

const ROUNDS = 9;

/** From starting Node until a mock has listened and is closed. */
export async function startUp(): Promise<string> {
  const programs = {
    'node -e 0': '0',
    'a mock that listens': `
      const { createMockServer } = await import(${JSON.stringify(await buildMock())});
      await (await createMockServer().serve()).close();`,
  };
  const times = new Map(Object.keys(programs).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, program] of Object.entries(programs)) {
      const startedAt = performance.now();
      spawnSync(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
      times.get(name)?.push(performance.now() - startedAt);
    }
  }
  const rows = Array.from(times, ([name, values]) => [name, median(values).toFixed(0)]);
  return table(['start-up', 'ms'], rows);
}
