import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inTurn, median } from '../report.ts';
import { peers } from './peers.ts';
import { rawLoad } from './raw-load.ts';
import {
  bareServer,
  mockCommand,
  mockResponse,
  type RecordedResponse,
  type ServerProcess,
  type ServerProgram,
  servingMock,
  startServer,
} from './servers.ts';

/** Results of one part of the bench: names in the first column, figures in the others. */
export interface Figures {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly [string, ...number[]])[];
  readonly method: string;
}

interface PartOptions {
  readonly withPeers: boolean;
}

// Many short turns, so that other load on the machine affects both servers of a pair alike.
const TURNS = 40;
const LOAD = { connections: 16, ms: 250 };
const WARM_UP_TURNS = 4;
/** Each key allows 1000 requests per minute, more than the turns of a minute send. */
const KEYS = 2_000;

interface Contender {
  readonly program: ServerProgram;
  readonly server: ServerProcess;
  readonly speeds: number[];
}

/** Requests per second over HTTP: the mock, a bare node:http server and other mocks, all with the same response. */
export async function throughput({ withPeers }: PartOptions): Promise<Figures> {
  using directory = temporaryDirectory();
  const response = await mockResponse();
  const others = withPeers ? peers(response, directory.path) : [];
  const mocks = [
    await servingMock('mock.serve()', { spaces: 0, keys: KEYS, journalSize: 1000 }),
    await servingMock('mock.serve(), with 100 spaces', { spaces: 100, keys: KEYS, journalSize: 1000 }),
    // Keeps as many entries as the first row, to show the cost of spaces without that of their journals.
    await servingMock('100 spaces, 10 entries each', { spaces: 100, keys: KEYS, journalSize: 10 }),
  ];
  const contenders: Contender[] = [];
  try {
    for (const program of [bareServer(response, directory.path), ...mocks, ...others]) {
      contenders.push({ program, server: await startServer(program), speeds: [] });
    }
    await takeTurns(contenders, response);
  } finally {
    for (const { server } of contenders) await server[Symbol.asyncDispose]();
  }
  const heads = ['over HTTP', 'requests/s', '/ bare'];
  return { heads, rows: speedRows(contenders), method: THROUGHPUT_METHOD };
}

const THROUGHPUT_METHOD =
  `GET /api/v1/latest over ${LOAD.connections} plain sockets, one request at a time on each; medians of ${TURNS} turns ` +
  `of ${LOAD.ms / 1000} s, the servers one after the other in each round, in turn from either end. "/ bare" is the median ` +
  'of the ratios within a round.';

async function takeTurns(contenders: readonly Contender[], response: RecordedResponse): Promise<void> {
  for (const contender of contenders) checkResponse(contender, response);
  for (let turn = -WARM_UP_TURNS; turn < TURNS; turn += 1) {
    for (const { program, server, speeds } of inTurn(contenders, turn)) {
      const speed = await rawLoad(server.url, { ...LOAD, keys: program.keys });
      if (turn >= 0) speeds.push(speed);
    }
  }
}

function checkResponse({ program, server }: Contender, response: RecordedResponse): void {
  if (currencies(server.body) === currencies(response.body)) return;
  throw new Error(`${program.name} sends another response: ${server.body}`);
}

function speedRows(contenders: readonly Contender[]): Figures['rows'] {
  const bare = contenders[0]?.speeds ?? [];
  return contenders.map(({ program, speeds }) => {
    const ratios = speeds.map((speed, turn) => speed / (bare[turn] ?? Number.NaN));
    return [program.name, median(speeds), median(ratios)];
  });
}

/** The currencies of a response. Servers may indent it differently. */
function currencies(body: string): string {
  const { success, data } = JSON.parse(body);
  return success === true ? Object.keys(data.rates).sort().join() : '';
}

const STARTS = 9;
const NOTHING = 'node -e 0, until it ends';

/** Time from the start of Node.js to the first response with status 200. */
export async function startUp({ withPeers }: PartOptions): Promise<Figures> {
  using directory = temporaryDirectory();
  const response = await mockResponse();
  const others = withPeers ? peers(response, directory.path) : [];
  const mock = await servingMock('mock.serve() in a script', { spaces: 0, keys: 1, journalSize: 1000 });
  const servers = [bareServer(response, directory.path), mock, mockCommand(), ...others];
  const times = new Map([NOTHING, ...servers.map(({ name }) => name)].map((name): [string, number[]] => [name, []]));
  for (let start = 0; start <= STARTS; start += 1) {
    const startedAt = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    times.get(NOTHING)?.push(performance.now() - startedAt);
    for (const server of inTurn(servers, start)) {
      await using running = await startServer(server);
      times.get(server.name)?.push(running.startedInMs);
    }
  }
  // The first start fills the file cache.
  const medians = Array.from(times, ([name, ms]) => [name, median(ms.slice(1))] as const);
  const rows = medians.map(([name, ms]) => [name, ms, ms / (medians[0]?.[1] ?? Number.NaN)] as const);
  const method = `Asked every 5 ms for /api/v1/latest; medians of ${STARTS} alternating runs.`;
  return { heads: ['start-up', 'ms until the first 200', '/ node -e 0'], rows, method };
}

function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'fxrates-bench-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
