import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { bundledProgram } from '../../helpers/child-program.ts';
import { respond, startRawServer } from '../../helpers/raw-server.ts';
import { success } from '../../helpers/service-replies.ts';

const run = promisify(execFile);
const child = await bundledProgram(new URL('./node-fetch.child.ts', import.meta.url));

test.each([
  ['works', [], []],
  ['works, and the client uses a dispatcher that the program then sets', ['dispatcher'], ['/api/v1/latest?later=1']],
])("Node's own fetch with a body %s after a call of the client", async (_, args, through) => {
  const server = await startRawServer({ onRequest: ({ socket }) => respond(socket, success({ EUR: 1 })) });
  onTestFinished(() => server.close());

  const { stdout, stderr } = await run(process.execPath, [child, server.url, ...args]);

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ loaded: true, status: 200, through: expect.arrayContaining(through) });
});
