/**
 * `npm run test:package -- 22 24 26`: npm installs the package, as `npm publish` would send it, in new projects.
 * Programs use it there with this version of Node and the given ones. Needs the registry; test/packaging/ has the tests
 * that do not.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failureOf, pack, runLine, type Tarball, writePrograms } from '../test/packaging/consumer.ts';
import {
  BUNDLE_CHECKS,
  COMPILE_CHECKS,
  type ConsumerCheck,
  importOf,
  JEST_CHECK,
  MSW_COMPILE_CHECK,
  MSW_RUN_CHECK,
  RUN_CHECKS,
  served,
  smallerThan,
} from '../test/packaging/consumer-checks.ts';
import { installNode, installPackage } from './install-package.ts';

/** Beside jest and msw, with the settings that docs/testing.md shows. */
const JEST_WITH_MSW_CHECK: ConsumerCheck = {
  name: 'jest with msw',
  line: 'jest --ci --silent --config jest-with-msw.config.cjs with-msw',
};
const JEST = ['jest@30', 'msw@2', '@babel/preset-env@7'];

/** With the packages of `BUNDLERS`. */
const BUNDLER_CHECKS: readonly ConsumerCheck[] = [
  {
    name: 'bundled by webpack',
    line: served(
      'webpack ./default-transport.mjs --target node --mode none',
      'alone/webpack/main.js',
      '-o alone/webpack',
    ),
  },
  {
    name: 'bundled by Rollup',
    line: served(
      'rollup default-transport.mjs --silent --inlineDynamicImports -p node-resolve -p commonjs -p json',
      'alone/rollup.mjs',
      '-o alone/rollup.mjs',
    ),
  },
  {
    name: 'FxRatesError alone, bundled by Rollup',
    line: `echo "${importOf('FxRatesError')}" > part.mjs && ${smallerThan(8_000, 'rollup part.mjs --silent -p node-resolve')}`,
  },
  {
    name: 'bundled by Vite for a server',
    line: served(
      'vite build --ssr default-transport.mjs --logLevel error',
      'alone/vite/default-transport.mjs',
      '--outDir alone/vite',
    ),
  },
];

/** Needs a newer Node than the package. */
const UNDICI_8_CHECK: ConsumerCheck = { name: 'beside undici 8', line: 'node with-undici-8.mjs' };
const UNDICI_8_MIN_NODE = 22;

/** Next replaces the global `fetch`. With the packages of `NEXT`. */
const NEXT_CHECK: ConsumerCheck = { name: 'in a page of Next', line: 'node next-app.mjs' };
const NEXT = ['next@16', 'react@19', 'react-dom@19'];

const BUNDLERS = [
  ...['webpack@5', 'webpack-cli@6', 'vite@7'],
  ...['rollup@4', '@rollup/plugin-node-resolve@16', '@rollup/plugin-commonjs@28', '@rollup/plugin-json@6'],
];

/** A runtime other than Node, from npm: its command, and the possible places of its program. */
interface OtherRuntime {
  readonly name: string;
  readonly version: string;
  readonly program: RegExp;
  readonly checks: readonly ConsumerCheck[];
}

const OTHER_RUNTIMES: readonly OtherRuntime[] = [
  { name: 'bun', version: '1', program: /@oven\/bun-[\w-]+\/bin\/bun(\.exe)?$/, checks: runtimeChecks('bun') },
  { name: 'deno', version: '2', program: /@deno\/[\w-]+\/deno(\.exe)?$/, checks: runtimeChecks('deno run -A') },
];

/** Runs Cloudflare's workerd; needs this Node. */
const MINIFLARE = { version: '4', node: '22' };

function workerCheck(modules: string): ConsumerCheck {
  const bundle = 'esbuild worker.mjs --bundle --platform=node --format=esm --log-level=warning';
  const ask = `fxrates mock --plan developer -- node ask-worker.mjs '${modules}'`;
  return { name: 'clients in a worker', line: `${bundle} --outfile=alone/worker.mjs && ${ask}` };
}

function runtimeChecks(run: string): readonly ConsumerCheck[] {
  const cli = `${run} node_modules/fxrates/dist/cli/fxrates.cjs`;
  return [
    { name: 'client', line: `fxrates mock -- ${run} default-transport.mjs` },
    { name: 'client through a proxy', line: `node proxied.mjs ${run}` },
    { name: 'client and mock server, ES modules', line: `${run} program.mjs` },
    { name: 'client and mock server, CommonJS', line: `${run} program.cjs` },
    { name: 'command line', line: `${cli} mock -- ${cli} latest base=EUR --get rates.USD` },
  ];
}

/** Runs with every version of Node; the other checks do not depend on the version. */
const NODES = ['', ...process.argv.slice(2)].map((version) => (version ? installNode(version) : process.execPath));
/** The major versions of the optional peer, with the oldest Node that each supports. */
const MSWS = [
  { msw: 2, minNode: 20 },
  { msw: 3, minNode: 22 },
];
let failures = 0;

const folder = mkdtempSync(join(tmpdir(), 'fxrates-package-'));
try {
  const tarball = await pack(folder);
  const plain = await installInto('plain', [tarball.path, '@types/node@20']);
  printSizes(tarball, join(plain, 'node_modules'));
  for (const node of NODES) await runAll(RUN_CHECKS, plain, node);
  await runAll([...COMPILE_CHECKS, ...BUNDLE_CHECKS], plain, process.execPath);
  for (const runtime of OTHER_RUNTIMES) await runOther(runtime, plain);
  await runWorker(plain);
  await runWith(BUNDLERS, BUNDLER_CHECKS, tarball);
  await runWith(NEXT, [NEXT_CHECK], tarball);
  await runWith(JEST, [JEST_CHECK, JEST_WITH_MSW_CHECK], tarball);
  const besideUndici8 = await installInto('undici-8', [tarball.path, 'undici@8']);
  for (const node of NODES) {
    if ((await majorOf(node)) >= UNDICI_8_MIN_NODE) await runAll([UNDICI_8_CHECK], besideUndici8, node);
  }
  for (const { msw, minNode } of MSWS) {
    const project = await installInto(`msw-${msw}`, [tarball.path, '@types/node@20', `msw@${msw}`]);
    await runAll([named(MSW_COMPILE_CHECK, msw)], project, process.execPath);
    for (const node of NODES) {
      if ((await majorOf(node)) >= minNode) await runAll([named(MSW_RUN_CHECK, msw)], project, node);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(failures === 0 ? '\nall passed' : `\n${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

/** The install scripts of these packages may not have run: the programs are in platform-specific packages. */
async function runOther({ name, version, program, checks }: OtherRuntime, project: string): Promise<void> {
  const modules = attempted(() => installPackage(name, version));
  const files = modules === undefined ? [] : readdirSync(modules, { recursive: true, encoding: 'utf8' });
  const path = files.find((file) => program.test(file));
  if (modules === undefined || path === undefined) return print(`skip ${name}: npm has no program for this platform`);
  await runAll(checks, project, join(modules, path), `${name}@${version}`);
}

async function runWorker(project: string): Promise<void> {
  const node = attempted(() => installNode(MINIFLARE.node));
  const modules = attempted(() => installPackage('miniflare', MINIFLARE.version));
  if (node === undefined || modules === undefined) return print('skip workerd: npm has no miniflare for this platform');
  await runAll([workerCheck(modules)], project, node, 'workerd');
}

/** Runs the checks in a project with these packages too. */
async function runWith(packages: readonly string[], checks: readonly ConsumerCheck[], tarball: Tarball): Promise<void> {
  const project = await installInto(`with-${packages[0]}`, [tarball.path, ...packages]).catch((error: Error) => error);
  if (project instanceof Error) print(`skip ${packages.join(', ')}: ${project.message}`);
  else await runAll(checks, project, process.execPath);
}

function attempted<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // the caller prints that it is skipped
  }
}

function named({ name, line }: ConsumerCheck, msw: number): ConsumerCheck {
  return { name: `${name} ${msw}`, line };
}

async function majorOf(node: string): Promise<number> {
  const { stdout } = await runLine('node -p process.versions.node', folder, node);
  return Number.parseInt(stdout, 10);
}

/** Creates a project with these packages and the users' programs. */
async function installInto(name: string, packages: readonly string[]): Promise<string> {
  const project = join(folder, name);
  writePrograms(project);
  const result = await runLine(`npm install --no-audit --no-fund --loglevel=error ${packages.join(' ')}`, project);
  if (result.code !== 0) throw new Error(`npm install ${packages.join(' ')}: ${result.stderr}`);
  return project;
}

/** With `program`, a Node or another runtime, first in PATH. */
async function runAll(checks: readonly ConsumerCheck[], project: string, program: string, label = ''): Promise<void> {
  const version = label || (await runLine('node --version', project, program)).stdout.trim();
  for (const { name, line } of checks) {
    const failure = failureOf(await runLine(line, project, program));
    print(`${failure ? 'FAIL' : 'ok  '} ${version.padEnd(9)} ${name}`);
    if (failure) print(failure);
    if (failure) failures++;
  }
}

function printSizes({ sizeBytes, unpackedBytes, files }: Tarball, modules: string): void {
  print(`tarball ${kilobytes(sizeBytes)}, unpacked ${kilobytes(unpackedBytes)}, ${files.length} files`);
  const packages = readdirSync(modules).filter((name) => !name.startsWith('.') && !name.startsWith('@'));
  const others = packages.filter((name) => name !== 'fxrates' && name !== 'undici-types');
  const sizes = others.map((name) => `${name} ${kilobytes(folderBytes(join(modules, name)))}`);
  print(`dependencies: ${sizes.join(', ')}`);
}

function folderBytes(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
