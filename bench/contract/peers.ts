/**
 * Reads openapi.yaml with other tools. Spectral lints it and the document of the admin API. Two generators write
 * clients from it, which must compile in strict mode and call both operations of the mock over HTTP. Exits with 1 if
 * any step fails.
 * `npm ci --prefix bench --ignore-scripts && npm run bench:peers`; `--json`, `--record`.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { openApi } from '../../src/mock-server/server/openapi.ts';
import { adminRoutes } from '../../src/mock-server/server/routes.ts';
import { PEER_PACKAGES, requirePeers } from '../peers.ts';
import { readOptions, report } from '../report.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const SPEC = join(ROOT, 'openapi.yaml');
const RULES = join(ROOT, '.spectral.yaml');
const CACHE = join(PEER_PACKAGES, '.cache');

interface Peer {
  readonly name: string;
  readonly generate: readonly string[];
  /**
   * A program that calls `latest` with base=EUR, which its types must reject, and `quota`; it prints both responses.
   */
  readonly program: string;
}

const BASE_URL = "process.env['URL'] ?? ''";
const FREE_FORM =
  '// @ts-expect-error The document shows no parameters; those that are passed all the same are sent.\n';

const PEERS: readonly Peer[] = [
  {
    name: 'openapi-typescript + openapi-fetch',
    generate: ['openapi-typescript', SPEC, '-o', 'paths.ts'],
    program: `import createClient from 'openapi-fetch';
import type { paths } from './paths';
const headers = { authorization: 'Bearer ' + process.env['KEY'] };
const client = createClient<paths>({ baseUrl: ${BASE_URL}, headers });
${FREE_FORM}const latest = await client.GET('/api/v1/latest', { params: { query: { base: 'EUR' } } });
const quota = await client.GET('/api/v1/quota');
console.log(JSON.stringify([latest.data, quota.data]));`,
  },
  {
    name: 'hey-api',
    generate: ['openapi-ts', '-i', SPEC, '-o', 'hey', '-c', '@hey-api/client-fetch'],
    program: `import { client } from './hey/client.gen';
import { latest, quota } from './hey/sdk.gen';
client.setConfig({ baseUrl: ${BASE_URL}, auth: () => process.env['KEY'] });
${FREE_FORM}const rates = await latest({ query: { base: 'EUR' } });
console.log(JSON.stringify([rates.data, (await quota()).data]));`,
  },
];

interface Result {
  readonly name: string;
  /** Errors of the compiler in strict mode, and of the calls; empty if there are none. */
  readonly problems: readonly string[];
}

const options = readOptions({});
requirePeers();
await mkdir(CACHE, { recursive: true });
const folder = await mkdtemp(join(CACHE, 'contract-'));
try {
  const lint = await lintBoth();
  const results: Result[] = [];
  for (const peer of PEERS) results.push(await tryPeer(peer));
  const good = results.filter(({ problems }) => problems.length === 0);
  const figures = { generatedClientsThatWork: good.length, problemsReportedBySpectral: lint.length };
  report('peers', { text: asText(lint, results), json: { lint, results }, figures }, options);
  process.exitCode = good.length === PEERS.length && lint.length === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Problems that Spectral reports in the documents of the service and of the admin API. */
async function lintBoth(): Promise<readonly string[]> {
  const admin = join(folder, 'admin.json');
  await writeFile(admin, JSON.stringify(openApi(adminRoutes)));
  const { stdout } = await tool(['spectral', 'lint', SPEC, admin, '-r', RULES, '-f', 'text', '-F', 'hint']);
  const lines = stdout.split('\n').filter((line) => /:\d+:\d+ /.test(line));
  if (lines.length === 0 && !stdout.startsWith('No results')) throw new Error(`Spectral did not lint: ${stdout}`);
  return lines;
}

async function tryPeer({ name, generate, program }: Peer): Promise<Result> {
  await tool(generate);
  await writeFile(join(folder, 'main.ts'), program);
  const options = { strict: true, noEmit: true, skipLibCheck: true, target: 'es2023', module: 'preserve' };
  const compilerOptions = { ...options, lib: ['es2023', 'dom', 'dom.iterable'], types: ['node'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['main.ts'] }));
  const { stdout } = await tool(['tsc', '-p', 'tsconfig.json', '--pretty', 'false']);
  const mock = createMockServer({ seed: 7 });
  try {
    const typeErrors = stdout.split('\n').filter((line) => line.includes('error TS'));
    return { name, problems: [...typeErrors, ...(await problemsOfCalls(mock))] };
  } finally {
    await mock.close();
  }
}

async function problemsOfCalls(mock: MockServer): Promise<readonly string[]> {
  const { url } = await mock.serve();
  const { key } = mock.createKey();
  const outfile = join(folder, 'main.mjs');
  await build({ entryPoints: [join(folder, 'main.ts')], bundle: true, platform: 'node', format: 'esm', outfile });
  const { stdout } = await run(process.execPath, [outfile], { env: { ...process.env, URL: url, KEY: key } });
  const [latest, quota] = JSON.parse(stdout) as {
    readonly data?: { readonly base?: string; readonly plan?: string };
  }[];
  return [
    ...(latest?.data?.base === 'EUR' ? [] : ['does not send base=EUR']),
    ...(quota?.data?.plan === 'free' ? [] : ['does not read the quota']),
    ...(mock.journal.list().some(({ hasKeyInUrl }) => hasKeyInUrl) ? ['puts the key into URLs'] : []),
  ];
}

/**
 * Runs a command of bench/node_modules and returns its output; ignores its exit code. Throws if it cannot be started.
 */
async function tool([name = '', ...args]: readonly string[]): Promise<{ readonly stdout: string }> {
  const path = join(PEER_PACKAGES, '.bin', name);
  return run(path, args, { cwd: folder, maxBuffer: 2 ** 26 }).catch((error) => {
    if (typeof error.code === 'number') return error;
    throw error;
  });
}

function asText(lint: readonly string[], results: readonly Result[]): string {
  const lines = results.map(
    ({ name, problems }) => `${name}: ${problems.length === 0 ? 'works' : problems.join('\n')}`,
  );
  return [`Spectral: ${lint.length} findings in two documents`, ...lint, ...lines].join('\n');
}
