import { spawnSync } from 'node:child_process';
import { median } from '../median.ts';
import type { Figures } from './figures.ts';
import { bareServer, mockCommand, mockResponse, peerServers, servingMock } from './programs.ts';
import { type ServerProgram, startServer } from './server-process.ts';
import { withDirectory } from './with-directory.ts';

const ROUNDS = 9;
const NOTHING = 'node -e 0, until it ends';

/** Time from the start of Node.js to the first response with status 200. */
export function startUp(): Promise<Figures> {
  return withDirectory(async (directory) => {
    const response = await mockResponse();
    const { programs, notes } = peerServers(response, directory);
    const mock = await servingMock('mock.serve() in a script', { spaces: 0, keys: 1, journalSize: 1000 });
    const servers = [bareServer(response, directory), mock, mockCommand(), ...programs];
    const times = await inTurns(servers);
    const base = median(times.get(NOTHING) ?? []);
    const rows = Array.from(times, ([name, ms]) => [name, median(ms), median(ms) / base] as const);
    return { heads: ['start-up', 'ms until the first 200', '/ node -e 0'], rows, notes: [METHOD, ...notes] };
  });
}

const METHOD = `Asked every 5 ms for /api/v1/latest; medians of ${ROUNDS} alternating runs.`;

async function inTurns(servers: readonly ServerProgram[]): Promise<ReadonlyMap<string, number[]>> {
  const times = new Map([NOTHING, ...servers.map(({ name }) => name)].map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < ROUNDS; round += 1) {
    const note = (name: string, ms: number) => {
      // The first round fills the file cache.
      if (round >= 0) times.get(name)?.push(ms);
    };
    const startedAt = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    note(NOTHING, performance.now() - startedAt);
    for (const server of servers) {
      await using running = await startServer(server);
      note(server.name, running.startedInMs);
    }
  }
  return times;
}
