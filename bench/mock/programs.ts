import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtMock, CLI, MOCK_MODULE } from '../built.ts';
import { peers } from './peers.ts';
import { type Population, populate } from './population.mjs';
import { LATEST, type RecordedResponse, responseOf } from './recorded-response.ts';
import type { ServerProgram } from './server-process.ts';

export const BARE = 'bare node:http';

const file = (name: string) => join(import.meta.dirname, name);

/** The mock's response to `latest`. */
export async function mockResponse(): Promise<RecordedResponse> {
  const { createMockServer } = await builtMock();
  const mock = createMockServer();
  const { key } = mock.createKey();
  return responseOf(await mock.fetch(`${mock.baseUrl}${LATEST}`, { headers: { authorization: `Bearer ${key}` } }));
}

/** A server that only sends the response. */
export function bareServer(response: RecordedResponse, directory: string): ServerProgram {
  const path = join(directory, 'response.json');
  writeFileSync(path, JSON.stringify(response));
  return { name: BARE, args: (port) => [file('bare-server.mjs'), path, `${port}`], keys: ['any'] };
}

/** `mock.serve()` in a script. It has so many keys that none reaches its limit during the bench. */
export async function servingMock(name: string, population: Population): Promise<ServerProgram> {
  const { createMockServer } = await builtMock();
  const keys = populate(createMockServer(), population);
  const given = [population.spaces, population.keys, population.journalSize].map(String);
  return { name, args: (port) => [file('mock-process.mjs'), MOCK_MODULE, `${port}`, ...given], keys };
}

/** `fxrates mock`. */
export function mockCommand(): ServerProgram {
  // The seed decides the key, so it is the same in every process.
  const print = [process.execPath, '-p', 'process.env.FXRATES_API_KEY'];
  const key = execFileSync(process.execPath, [CLI, 'mock', '-q', '--', ...print], { encoding: 'utf8' }).trim();
  return { name: 'fxrates mock', args: (port) => [CLI, 'mock', '--port', `${port}`], keys: [key] };
}

/** The other servers, and a note about those that are not installed. */
export function peerServers(response: RecordedResponse, directory: string) {
  const { programs, missing } = peers(response, directory);
  const notes = missing.length === 0 ? [] : [`Not installed: ${missing.join(', ')} (npm ci --prefix bench).`];
  return { programs, notes };
}
