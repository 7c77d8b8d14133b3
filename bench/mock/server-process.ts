import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { LATEST } from './recorded-response.ts';

const ASK_AGAIN_MS = 5;
const TOO_LONG_MS = 60_000;

/** A server that a Node.js command starts. */
export interface ServerProgram {
  readonly name: string;
  readonly args: (port: number) => readonly string[];
  /** Keys that it accepts. */
  readonly keys: readonly string[];
}

export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  /** Milliseconds from the start of Node.js to the first response with status 200. */
  readonly startedInMs: number;
  /** The body of that response. */
  readonly body: string;
}

/** Starts a server in its own process; resolves when it serves. */
export async function startServer({ name, args, keys }: ServerProgram): Promise<ServerProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const child = spawn(process.execPath, args(port), { stdio: 'ignore' });
  for (;;) {
    const body = await served(url, keys[0] ?? '');
    const startedInMs = performance.now() - startedAt;
    if (body !== undefined) return { url, startedInMs, body, [Symbol.asyncDispose]: stop };
    if (child.exitCode !== null || startedInMs > TOO_LONG_MS) {
      await stop();
      throw new Error(`${name} does not serve ${LATEST}: ${process.execPath} ${args(port).join(' ')}`);
    }
    await setTimeout(ASK_AGAIN_MS);
  }

  async function stop() {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/** The body if the response has status 200. */
function served(url: string, key: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${key}` };
    const outgoing = request(`${url}${LATEST}`, { agent: false, headers }, async (response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      resolve(response.statusCode === 200 ? body : undefined);
    });
    outgoing.on('error', () => resolve(undefined)); // not listening yet
    outgoing.end();
  });
}
