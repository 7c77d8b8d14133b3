import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundledProgram } from '../../helpers/child-program.ts';
import { hasProgram } from '../../helpers/has-program.ts';
import { close, listen } from '../../helpers/listen.ts';
import { type RawServer, respond, startRawServer } from '../../helpers/raw-server.ts';
import { failure, success } from '../../helpers/service-replies.ts';
import { type Ending, play, type Scene } from './mixed-undici.child.ts';

const run = promisify(execFile);
const mixedUndici = await bundledProgram(new URL('./mixed-undici.child.ts', import.meta.url));

let server: RawServer;

beforeAll(async () => {
  server = await startRawServer({
    onRequest: ({ socket, head }) => {
      if (head.includes('reset=1')) socket.resetAndDestroy();
      else if (head.includes('refuse=')) respond(socket, failure(400, { code: 'bad_base' }));
      else if (head.includes('long=1')) respond(socket, { body: 'x'.repeat(20_000) });
      else if (!head.includes('stall=1')) respond(socket, success({ EUR: 1 }));
    },
  });
});

afterAll(() => server.close());

/** Runs the scenes in order in a new process, which must print nothing else. */
async function playApart(scenes: readonly Scene[]): Promise<Record<string, Record<string, Ending>>> {
  const { stdout, stderr } = await run(process.execPath, [mixedUndici, server.url, ...scenes]);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function expectRightEndings(scene: Scene, { ok, reset, long, stall }: Record<string, Ending>): void {
  expect(ok).toEqual({ data: scene.includes('MockAgent') ? { mocked: true } : { EUR: 1 } });
  expect(reset).toMatchObject({ kind: 'network' });
  expect(long).toMatchObject({ kind: 'response', message: expect.stringContaining('longer than 10000 bytes') });
  expect(stall).toMatchObject({ kind: 'timeout' });
}

test.concurrent.each<Scene[][]>([
  [['nothing before', 'the built-in fetch before', 'a global MockAgent']],
  [['the built-in fetch before', "Node's own dispatcher", 'an Agent']],
])('in a new process, works with %j one after the other', async (scenes) => {
  const endings = await playApart(scenes);

  for (const scene of scenes) expectRightEndings(scene, endings[scene] ?? {});
});

test.each<Scene>(['an Agent', 'an Agent with interceptors', 'a MockAgent', 'a proxy'])('supports %s', async (scene) => {
  expectRightEndings(scene, await play(scene, server.url));
});

const nodeFetch = await bundledProgram(new URL('./node-fetch.child.ts', import.meta.url));

test("Node's own fetch works after a call of the client, also with a dispatcher that is set then", async () => {
  const { stdout, stderr } = await run(process.execPath, [nodeFetch, server.url]);

  expect(stderr).toBe('');
  const through = expect.arrayContaining(['/api/v1/latest?later=1']);
  expect(JSON.parse(stdout)).toEqual({ isLate: true, statuses: [200, 200], through });
});

const CALLS = 8;
const halfOpen = await bundledProgram(new URL('./half-open.child.ts', import.meta.url));

/** Responds when all calls have arrived, on a connection each. After `/abandon`, it ignores the connections that are open. */
async function serve(): Promise<string> {
  const open = new Set<Socket>();
  const abandoned = new WeakSet<Socket>();
  const waiting: (() => void)[] = [];
  const abandon = () => {
    for (const socket of open) abandoned.add(socket);
  };
  const server = createServer(({ url = '', socket }, response) => {
    if (abandoned.has(socket)) return;
    if (url === '/abandon') abandon();
    const respond = () => response.end(JSON.stringify(success({ EUR: 1 }).body));
    waiting.push(respond);
    if (!url.includes('call=') || waiting.length === CALLS) for (const one of waiting.splice(0)) one();
  });
  server.on('connection', (socket) => open.add(socket));
  onTestFinished(() => close(server));
  return `http://127.0.0.1:${await listen(server)}`;
}

const runtimes = [
  { name: 'Node.js', program: process.execPath, args: [] },
  { name: 'Bun', program: 'bun', args: [] },
  { name: 'Deno', program: 'deno', args: ['run', '--quiet', '-A'] },
];

for (const { name, program, args } of runtimes) {
  test.skipIf(!hasProgram(program))(`on ${name}, a retry uses none of the connections that are half open`, async () => {
    const url = await serve();

    const { stdout } = await run(program, [...args, halfOpen, url]);

    expect(JSON.parse(stdout)).toEqual({ data: { EUR: 1 }, attempts: 2 });
  });
}

const frozen = await bundledProgram(new URL('./frozen-intrinsics.child.ts', import.meta.url));

test('calls, batches, polls and the mock server work with frozen built-in objects', async () => {
  const { stdout } = await run(process.execPath, ['--frozen-intrinsics', frozen, server.url]);

  expect(JSON.parse(stdout)).toEqual({
    latest: { EUR: 1 },
    batch: [{ EUR: 1 }, { EUR: 1 }],
    'batch that is left': { EUR: 1 },
    poll: { EUR: 1 },
    refused: 'RequestError bad_base',
    aborted: 'AbortError undefined',
    mock: 'string',
    reset: 'NetworkError ECONNRESET',
    truncate: 'NetworkError UND_ERR_SOCKET',
    'error with the key': 'NetworkError undefined',
  });
});
