import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { bundledProgram } from '../../helpers/child-program.ts';
import { hasProgram } from '../../helpers/has-program.ts';
import { close, listen } from '../../helpers/listen.ts';
import { success } from '../../helpers/service-replies.ts';

const CALLS = 8;
const child = await bundledProgram(new URL('./half-open.child.ts', import.meta.url));

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

    const { stdout } = await promisify(execFile)(program, [...args, child, url]);

    expect(JSON.parse(stdout)).toEqual({ data: { EUR: 1 }, attempts: 2 });
  });
}
