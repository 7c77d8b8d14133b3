import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { hasBundle } from '../helpers/cli-bundle.ts';

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
  readonly integrity?: string;
  readonly link?: boolean;
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));
const packages = Object.entries<LockedPackage>(lock.packages).filter(([path]) => path !== '');
const licensesOf = (some: typeof packages) => [...new Set(some.map(([, { license }]) => license))].sort();

/** The packages that `npm install fxrates` installs. */
const installed = packages.filter(([, { dev, peer }]) => dev !== true && peer !== true);

test('no package that users install runs an install script', () => {
  expect(installed.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
});

test('users install few packages, each with its hash', () => {
  expect(installed.map(([path]) => path).sort()).toEqual(
    [
      ...['chalk', 'commander', 'undici', 'zod'],
      ...['cross-spawn', 'isexe', 'path-key', 'shebang-command', 'shebang-regex', 'which'],
    ]
      .map((name) => `node_modules/${name}`)
      .sort(),
  );
  expect(packages.filter(([, { integrity, link }]) => integrity === undefined && link !== true)).toEqual([]);
});

test('packages that users install are under the licences MIT and ISC', () => {
  expect(licensesOf(installed)).toEqual(['ISC', 'MIT']);
});

test('a job that may publish runs no code of the project or of its packages', () => {
  const workflow = parse(readFileSync(new URL('../../.github/workflows/publish.yml', import.meta.url), 'utf8'));
  const jobs = Object.values<{ permissions?: Record<string, string>; steps: { uses?: string; run?: string }[] }>(
    workflow.jobs,
  );
  const publishing = jobs.filter(({ permissions }) => permissions?.['id-token'] === 'write');

  expect(workflow.permissions).toEqual({ contents: 'read' });
  expect(publishing.flatMap(({ steps }) => steps.map(({ run, uses = '' }) => run ?? uses.replace(/@.*/, '')))).toEqual([
    ...['actions/setup-node', 'actions/download-artifact'],
    'npm publish ./fxrates-*.tgz --ignore-scripts --provenance --access public',
    'actions/deploy-pages',
  ]);
});

describe.skipIf(!hasBundle)('the built files', () => {
  const dist = new URL('../../dist/', import.meta.url);
  const files = hasBundle ? readdirSync(dist, { recursive: true, encoding: 'utf8' }) : [];
  const code = files
    .filter((path) => /\.c?js$/.test(path))
    .map((path) => ({ path, text: readFileSync(new URL(path, dist), 'utf8') }));

  test('load the declared dependencies, and nothing else', () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(new URL('../package.json', dist), 'utf8'));
    const specifiers = code.flatMap(({ text }) =>
      Array.from(
        text.matchAll(/(?:\brequire\(|\bcreateRequire\)?\([\w.]+\)\(|\bimport\(|^import |\bfrom )"([^"]+)"/gm),
        ([, name = '']) => name,
      ),
    );
    const loaded = specifiers.filter((name) => !name.startsWith('.') && !isBuiltin(name));
    const names = new Set(loaded.map((name) => name.split('/')[0]));

    expect([...names].sort()).toEqual(Object.keys(dependencies).sort());
    expect(Object.keys(peerDependencies)).toEqual(['msw']); // loaded by `createRequire`, where it is used
  });

  test('contain no package but those of the control panel, whose licences are beside them', () => {
    const bundled = code.filter(({ text }) => /^ *\/\/ node_modules\//m.test(text)); // esbuild names each file in a comment
    const licenses = readFileSync(new URL('licenses.txt', dist), 'utf8');
    const named = Array.from(licenses.matchAll(/^([\w-]+)$/gm), ([, name]) => name);

    expect(code.some(({ text }) => /^ *\/\/ src\/client\//m.test(text))).toBe(true);
    expect(bundled.map(({ path }) => path)).toEqual([]);
    expect(named).toEqual([...packagesOfPanel()].sort());
    expect(licenses.match(/copyright (\(c\) )?\d{4}/gi)?.length).toBeGreaterThanOrEqual(named.length);
  });
});

function packagesOfPanel(): readonly string[] {
  const folder = new URL('../../src/mock-server/panel/browser/', import.meta.url);
  const texts = readdirSync(folder)
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(new URL(path, folder), 'utf8'));
  const imported = texts.flatMap((text) =>
    Array.from(text.matchAll(/^import (?!type ).* from '([a-z][\w-]*)/gm), ([, name]) => name),
  );
  return [...new Set(imported)].filter((name) => name !== undefined);
}
