import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { builtMock, CLI, MOCK_MODULE } from '../built.ts';
import { freePort } from '../free-port.ts';

export const LATEST = '/api/v1/latest?base=EUR';

/** The response that each server must send for `LATEST`: that of the mock. */
export interface RecordedResponse {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

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

const ASK_AGAIN_MS = 5;
const TOO_LONG_MS = 60_000;

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

export async function mockResponse(): Promise<RecordedResponse> {
  const { createMockServer } = await builtMock();
  const mock = createMockServer();
  const { key } = mock.createKey();
  const response = await mock.fetch(`${mock.baseUrl}${LATEST}`, { headers: { authorization: `Bearer ${key}` } });
  const { connection: _, 'keep-alive': __, ...headers } = Object.fromEntries(response.headers);
  return { body: await response.text(), headers };
}

/** A bare node:http server, which only sends the response. */
export function bareServer(response: RecordedResponse, directory: string): ServerProgram {
  const path = join(directory, 'response.json');
  writeFileSync(path, JSON.stringify(response));
  return { name: 'bare node:http', args: (port) => [script('bare-server.mjs'), path, `${port}`], keys: ['any'] };
}

export interface Population {
  readonly spaces: number;
  readonly keys: number;
  /** Journal entries that the mock keeps, and that each space keeps. */
  readonly journalSize: number;
}

/** `mock.serve()` in a script. The seed of the mock determines its keys, so a mock in this process has the same ones. */
export async function servingMock(name: string, population: Population): Promise<ServerProgram> {
  const { createMockServer } = await builtMock();
  const { populate } = (await import(script('mock-process.mjs'))) as {
    populate(mock: ReturnType<typeof createMockServer>, population: Population): string[];
  };
  const given = JSON.stringify(population);
  const keys = populate(createMockServer(), population);
  return { name, args: (port) => [script('mock-process.mjs'), MOCK_MODULE, `${port}`, given], keys };
}

/** `fxrates mock`. */
export function mockCommand(): ServerProgram {
  // The seed determines the key, so it is the same in every process.
  const print = [process.execPath, '-p', 'process.env.FXRATES_API_KEY'];
  const key = execFileSync(process.execPath, [CLI, 'mock', '-q', '--', ...print], { encoding: 'utf8' }).trim();
  return { name: 'fxrates mock', args: (port) => [CLI, 'mock', '--port', `${port}`], keys: [key] };
}

function script(name: string): string {
  return join(import.meta.dirname, name);
}
