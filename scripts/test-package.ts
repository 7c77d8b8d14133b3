/**
 * `npm run test:package -- 22 24 26`: npm installs the package, as `npm publish` would send it, in new projects.
 * Programs use it there with this version of Node and the given ones. Needs the registry; test/packaging/ has the tests
 * that do not.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENT } from '../test/helpers/cli-bundle.ts';
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

/** Uses of the package in a new project, beside other packages. */
interface Project {
  readonly packages: readonly string[];
  /** Run with every version of Node, from `minNode` on. */
  readonly everywhere?: readonly ConsumerCheck[];
  readonly minNode?: number;
  /** Do not depend on the version of Node. */
  readonly once?: readonly ConsumerCheck[];
}

const PLAIN: Project = {
  packages: ['@types/node@20'],
  everywhere: RUN_CHECKS,
  once: [...COMPILE_CHECKS, ...BUNDLE_CHECKS],
};

const ROLLUP = 'rollup default-transport.mjs --silent --inlineDynamicImports -p node-resolve -p commonjs -p json';
const ROLLUP_PART = smallerThan(8_000, 'rollup part.mjs --silent -p node-resolve');
const WEBPACK = 'webpack ./default-transport.mjs --target node --mode none';
const VITE = 'vite build --ssr default-transport.mjs --logLevel error';

const PROJECTS: readonly Project[] = [
  PLAIN,
  {
    packages: [
      ...['webpack@5', 'webpack-cli@6', 'vite@7'],
      ...['rollup@4', '@rollup/plugin-node-resolve@16', '@rollup/plugin-commonjs@28', '@rollup/plugin-json@6'],
    ],
    once: [
      { name: 'bundled by webpack', line: served(WEBPACK, 'alone/webpack/main.js', '-o alone/webpack') },
      { name: 'bundled by Rollup', line: served(ROLLUP, 'alone/rollup.mjs', '-o alone/rollup.mjs') },
      {
        name: 'FxRatesError alone, bundled by Rollup',
        line: `echo "${importOf('FxRatesError')}" > part.mjs && ${ROLLUP_PART}`,
      },
      {
        name: 'bundled by Vite for a server',
        line: served(VITE, 'alone/vite/default-transport.mjs', '--outDir alone/vite'),
      },
    ],
  },
  // Next replaces the global `fetch`.
  {
    packages: ['next@16', 'react@19', 'react-dom@19'],
    once: [{ name: 'in a page of Next', line: 'node next-app.mjs' }],
  },
  // With the settings that docs/testing.md shows.
  {
    packages: ['jest@30', 'msw@2', '@babel/preset-env@7'],
    once: [
      JEST_CHECK,
      { name: 'jest with msw', line: `jest --ci --silent ${PATIENT} --config jest-with-msw.config.cjs with-msw` },
    ],
  },
  {
    packages: ['undici@8'],
    minNode: 22,
    everywhere: [{ name: 'beside undici 8', line: 'node with-undici-8.mjs' }],
  },
  // The major versions of the optional peer, with the oldest Node that each supports.
  ...[
    { msw: 'msw@2', minNode: 20 },
    { msw: 'msw@3', minNode: 22 },
  ].map(({ msw, minNode }) => ({
    packages: ['@types/node@20', msw],
    minNode,
    everywhere: [MSW_RUN_CHECK],
    once: [MSW_COMPILE_CHECK],
  })),
];

/** Runtimes other than Node, from npm: the command, and the possible places of the program. */
const OTHER_RUNTIMES = [
  { name: 'bun', version: '1', program: /@oven\/bun-[\w-]+\/bin\/bun(\.exe)?$/, run: 'bun' },
  { name: 'deno', version: '2', program: /@deno\/[\w-]+\/deno(\.exe)?$/, run: 'deno run -A' },
];

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

const NODES = ['', ...process.argv.slice(2)].map((version) => (version ? installNode(version) : process.execPath));
let failures = 0;
let skipped = 0;

const folder = mkdtempSync(join(tmpdir(), 'fxrates-package-'));
try {
  const tarball = await pack(folder);
  for (const project of PROJECTS) await runProject(project, tarball);
  for (const runtime of OTHER_RUNTIMES) await orSkip(runtime.name, () => runOther(runtime));
  await orSkip('workerd', runWorker);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(`\n${failures === 0 ? 'all passed' : `${failures} failed`}${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failures === 0 ? 0 : 1;

/** npm does not have each package for every platform. */
async function orSkip(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    print(`skip ${name}: ${error instanceof Error ? error.message : String(error)}`);
    skipped += 1;
  }
}

/** Installs the packages in a new project with the users' programs. */
async function runProject(project: Project, tarball: Tarball): Promise<void> {
  const { packages, everywhere = [], once = [], minNode = 0 } = project;
  const place = placeOf(project);
  writePrograms(place);
  const line = `npm install --no-audit --no-fund --loglevel=error ${tarball.path} ${packages.join(' ')}`;
  print(`\nbeside ${packages.join(' ')}`);
  const before = failures;
  await runAll([{ name: 'npm install', line }], place, process.execPath);
  if (failures > before) return;
  for (const node of NODES) if ((await majorOf(node)) >= minNode) await runAll(everywhere, place, node);
  await runAll(once, place, process.execPath);
}

function placeOf({ packages }: Project): string {
  return join(folder, packages.join('-').replaceAll(/[^\w-]/g, ''));
}

/** The install scripts of these packages may not have run: the programs are in platform-specific packages. */
async function runOther({ name, version, program, run }: (typeof OTHER_RUNTIMES)[number]): Promise<void> {
  const modules = installPackage(name, version);
  const path = readdirSync(modules, { recursive: true, encoding: 'utf8' }).find((file) => program.test(file));
  if (path === undefined) throw new Error('npm has no program for this platform');
  await runAll(runtimeChecks(run), placeOf(PLAIN), join(modules, path), `${name}@${version}`);
}

/** miniflare runs Cloudflare's workerd; it needs this Node. */
async function runWorker(): Promise<void> {
  const node = installNode('22');
  const bundle = 'esbuild worker.mjs --bundle --platform=node --format=esm --log-level=warning';
  const ask = `fxrates mock --plan developer -- node ask-worker.mjs '${installPackage('miniflare', '4')}'`;
  const check = { name: 'clients in a worker', line: `${bundle} --outfile=alone/worker.mjs && ${ask}` };
  await runAll([check], placeOf(PLAIN), node, 'workerd');
}

async function majorOf(node: string): Promise<number> {
  const { stdout } = await runLine('node -p process.versions.node', folder, node);
  return Number.parseInt(stdout, 10);
}

/** With `program`, a Node or another runtime, first in PATH. */
async function runAll(checks: readonly ConsumerCheck[], project: string, program: string, label = ''): Promise<void> {
  const version = label || (await runLine('node --version', project, program)).stdout.trim();
  for (const { name, line } of checks) {
    // A line that does not end rejects.
    const failure = await runLine(line, project, program).then(failureOf, String);
    print(`${failure ? 'FAIL' : 'ok  '} ${version.padEnd(9)} ${name}`);
    if (failure) print(failure);
    if (failure) failures++;
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
