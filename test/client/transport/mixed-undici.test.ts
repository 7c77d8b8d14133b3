import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundledProgram } from '../../helpers/child-program.ts';
import { type RawServer, respond, startRawServer } from '../../helpers/raw-server.ts';
import { success } from '../../helpers/service-replies.ts';
import { type Ending, play, type Scene } from './mixed-undici.child.ts';

const run = promisify(execFile);
const child = await bundledProgram(new URL('./mixed-undici.child.ts', import.meta.url));

let server: RawServer;

beforeAll(async () => {
  server = await startRawServer({
    onRequest: ({ socket, head }) => {
      if (head.includes('reset=1')) socket.resetAndDestroy();
      else if (head.includes('long=1')) respond(socket, { body: 'x'.repeat(20_000) });
      else if (!head.includes('stall=1')) respond(socket, success({ EUR: 1 }));
    },
  });
});

afterAll(() => server.close());

/** Runs the scenes in order in a new process, which must print nothing else. */
async function playApart(scenes: readonly Scene[]): Promise<Record<string, Record<string, Ending>>> {
  const { stdout, stderr } = await run(process.execPath, [child, server.url, ...scenes]);
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

test.each<Scene>(['an Agent', 'an Agent with interceptors', 'a MockAgent', 'a proxy'])(
  'works with %s',
  async (scene) => {
    expectRightEndings(scene, await play(scene, server.url));
  },
);
