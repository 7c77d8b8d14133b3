import { median } from '../median.ts';
import type { Figures } from './figures.ts';
import { bareServer, mockResponse, peerServers, servingMock } from './programs.ts';
import { rawLoad } from './raw-load.ts';
import { isWhole, type RecordedResponse } from './recorded-response.ts';
import { type ServerProcess, type ServerProgram, startServer } from './server-process.ts';
import { withDirectory } from './with-directory.ts';

// Many short turns, so that other load on the machine affects both servers of a pair alike.
const ROUNDS = 40;
const LOAD = { connections: 16, ms: 250 };
const WARM_UP_ROUNDS = 4;
/** Each key allows 1000 requests per minute, more than the turns of a minute send. */
const KEYS = 800;

interface Contender {
  readonly program: ServerProgram;
  readonly server: ServerProcess;
  readonly speeds: number[];
}

/** Requests per second over HTTP: the mock, a bare node:http server and other mocks, all with the same response. */
export function throughput({ peers }: { readonly peers: boolean }): Promise<Figures> {
  return withDirectory(async (directory) => {
    const response = await mockResponse();
    const { programs, notes } = peers ? peerServers(response, directory) : { programs: [], notes: [] };
    const mocks = [
      await servingMock('mock.serve()', { spaces: 0, keys: KEYS, journalSize: 1000 }),
      await servingMock('mock.serve(), with 100 spaces', { spaces: 100, keys: KEYS, journalSize: 1000 }),
      // Keeps as many entries as the first row, to show the cost of spaces without that of their journals.
      await servingMock('100 spaces, 10 entries each', { spaces: 100, keys: KEYS, journalSize: 10 }),
    ];
    const contenders: Contender[] = [];
    try {
      for (const program of [bareServer(response, directory), ...mocks, ...programs]) {
        contenders.push({ program, server: await startServer(program), speeds: [] });
      }
      await takeTurns(contenders, response);
    } finally {
      for (const { server } of contenders) await server[Symbol.asyncDispose]();
    }
    return { heads: HEADS, rows: rowsOf(contenders), notes: [METHOD, ...notes] };
  });
}

const HEADS = ['over HTTP', 'requests/s', '/ bare', 'bytes of the response'];
const METHOD =
  `GET /api/v1/latest over ${LOAD.connections} plain sockets, one request at a time on each; medians of ${ROUNDS} turns ` +
  `of ${LOAD.ms / 1000} s, the servers one after the other in each round, in turn from either end. "/ bare" is the median ` +
  `of the ratios within a round. json-server indents its response.`;

async function takeTurns(contenders: readonly Contender[], response: RecordedResponse): Promise<void> {
  for (const contender of contenders) checkResponse(contender, response);
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (const { program, server, speeds } of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const speed = await rawLoad(server.url, { ...LOAD, keys: program.keys });
      if (round >= 0) speeds.push(speed);
    }
  }
}

function checkResponse({ program, server }: Contender, response: RecordedResponse): void {
  if (!isWhole(server.body, response)) throw new Error(`${program.name} gives another response: ${server.body}`);
}

function rowsOf(contenders: readonly Contender[]): Figures['rows'] {
  const bare = contenders[0]?.speeds ?? [];
  return contenders.map(({ program, server, speeds }) => {
    const ratios = speeds.map((speed, round) => speed / (bare[round] ?? Number.NaN));
    return [program.name, median(speeds), median(ratios), Buffer.byteLength(server.body)];
  });
}
