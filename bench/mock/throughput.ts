import { median } from '../median.ts';
import { type Answer, isWhole } from './answer.ts';
import type { Figures } from './figures.ts';
import { bareServer, mockAnswer, peerServers, servingMock } from './programs.ts';
import { rawLoad } from './raw-load.ts';
import { type ServerProcess, type ServerProgram, startServer } from './server-process.ts';
import { withDirectory } from './with-directory.ts';

const ROUNDS = 9;
const LOAD = { connections: 16, ms: 1_000 };
/** Each has 1000 requests a minute, more than the turns of a minute make. */
const KEYS = 500;

interface Contender {
  readonly program: ServerProgram;
  readonly server: ServerProcess;
  readonly speeds: number[];
}

/** Requests per second over HTTP: the mock beside a bare node:http server and other mocks with the same answer. */
export function throughput(): Promise<Figures> {
  return withDirectory(async (directory) => {
    const answer = await mockAnswer();
    const { programs, notes } = peerServers(answer, directory);
    const mocks = [
      await servingMock('mock.serve()', { spaces: 0, keys: KEYS }),
      await servingMock('mock.serve(), with 100 spaces', { spaces: 100, keys: KEYS }),
    ];
    const contenders: Contender[] = [];
    try {
      for (const program of [bareServer(answer, directory), ...mocks, ...programs]) {
        contenders.push({ program, server: await startServer(program), speeds: [] });
      }
      await takeTurns(contenders, answer);
    } finally {
      for (const { server } of contenders) await server[Symbol.asyncDispose]();
    }
    return { heads: HEADS, rows: rowsOf(contenders), notes: [METHOD, ...notes] };
  });
}

const HEADS = ['over HTTP', 'requests/s', '/ bare', 'bytes of the answer'];
const METHOD =
  `GET /api/v1/latest over ${LOAD.connections} plain sockets, one request at a time on each; medians of ${ROUNDS} turns ` +
  `of ${LOAD.ms / 1000} s, the servers one after the other in each round. json-server indents its answer.`;

async function takeTurns(contenders: readonly Contender[], answer: Answer): Promise<void> {
  for (const { program, server } of contenders) {
    if (!isWhole(server.body, answer)) throw new Error(`${program.name} gives another answer: ${server.body}`);
  }
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { program, server, speeds } of contenders) {
      const speed = await rawLoad(server.url, { ...LOAD, keys: program.keys });
      // The first round warms up.
      if (round >= 0) speeds.push(speed);
    }
  }
}

function rowsOf(contenders: readonly Contender[]): Figures['rows'] {
  const base = median(contenders[0]?.speeds ?? []);
  return contenders.map(({ program, server, speeds }) => {
    const speed = median(speeds);
    return [program.name, speed, speed / base, Buffer.byteLength(server.body)];
  });
}
