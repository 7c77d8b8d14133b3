import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { PEER_PACKAGES, peerVersion } from '../peers.ts';
import type { RecordedResponse, ServerProgram } from './servers.ts';

interface Peer {
  readonly name: string;
  readonly package: string;
  readonly bin: string;
  /** Writes the files that the peer reads. Returns a function of the port that gives the arguments to serve them. */
  readonly serve: (response: RecordedResponse, directory: string) => (port: number) => readonly string[];
}

/** Each serves the same response and logs as little as possible, because the mock writes no log. */
const PEERS: readonly Peer[] = [
  {
    name: 'Mockoon CLI',
    package: '@mockoon/cli',
    bin: 'bin/run.js',
    serve: ({ body }, directory) => {
      const data = write(join(directory, 'mockoon.json'), mockoonEnvironment(body));
      const quiet = ['--disable-log-to-file', '--disable-admin-api', '--max-transaction-logs', '0'];
      return (port) => ['start', '--data', data, '--hostname', '127.0.0.1', '--port', `${port}`, ...quiet];
    },
  },
  {
    name: 'Prism',
    package: '@stoplight/prism-cli',
    bin: 'dist/index.js',
    serve: ({ body }, directory) => {
      const document = write(join(directory, 'openapi.json'), contractWith(JSON.parse(body)));
      return (port) => ['mock', document, '--host', '127.0.0.1', '--port', `${port}`, '--verboseLevel', 'silent'];
    },
  },
];

/** The other servers. */
export function peers(response: RecordedResponse, directory: string): readonly ServerProgram[] {
  return PEERS.map(({ name, package: of, bin, serve }) => {
    const args = serve(response, directory);
    return {
      name: `${name} ${peerVersion(of)}`,
      args: (port) => [join(PEER_PACKAGES, of, bin), ...args(port)],
      keys: ['any'],
    };
  });
}

function write(path: string, content: unknown): string {
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** openapi.yaml with the response as the only example of `latest`. */
function contractWith(example: unknown): unknown {
  const contract = parse(readFileSync(join(import.meta.dirname, '../../openapi.yaml'), 'utf8'));
  const content = contract.paths['/api/v1/latest'].get.responses['200'].content['application/json'];
  content.examples = { response: { value: example } };
  return contract;
}

/**
 * One route without templates, which Mockoon would search for in each response. Its migrations add all missing fields.
 */
function mockoonEnvironment(body: string) {
  const response = {
    uuid: '00000000-0000-4000-8000-000000000003',
    body,
    statusCode: 200,
    headers: [{ key: 'content-type', value: 'application/json' }],
    disableTemplating: true,
    default: true,
  };
  const route = {
    uuid: '00000000-0000-4000-8000-000000000002',
    type: 'http',
    method: 'get',
    endpoint: 'api/v1/latest',
    responses: [response],
  };
  return {
    uuid: '00000000-0000-4000-8000-000000000001',
    lastMigration: 33,
    name: 'rates',
    routes: [route],
    rootChildren: [{ type: 'route', uuid: route.uuid }],
  };
}
