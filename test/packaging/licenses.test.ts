import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasBundle } from '../helpers/cli-bundle.ts';

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));
const packages = Object.entries<LockedPackage>(lock.packages).filter(([path]) => path !== '');
const licensesOf = (some: typeof packages) => [...new Set(some.map(([, { license }]) => license))].sort();

test('packages that users install are under the MIT licence', () => {
  const installed = packages.filter(([, { dev = false }]) => !dev);

  expect(installed.map(([path]) => path.replace('node_modules/', ''))).toEqual(['chalk', 'commander', 'undici', 'zod']);
  expect(licensesOf(installed)).toEqual(['MIT']);
});

test('packages that only developers install have licences without conditions on this package', () => {
  // Python-2.0 asks for its notice in copies, MPL-2.0 is about changes of its own files, and CC-BY-4.0 about copies of data
  // (caniuse-lite); this package has none of them.
  const allowed = [
    '0BSD',
    'Apache-2.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'BlueOak-1.0.0',
    'CC-BY-4.0',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MPL-2.0',
    'Python-2.0',
  ];
  const others = packages.filter(
    ([, { license = 'none' }]) => !license.split(/[()]| OR /).some((one) => allowed.includes(one)),
  );

  expect(others).toEqual([]);
});

test.skipIf(!hasBundle)('the package has the licence text of every package in its bundles', () => {
  const text = readFileSync(new URL('../../dist/licenses.txt', import.meta.url), 'utf8');
  const named = Array.from(text.matchAll(/^(\S+) \d+\.\d+\.\d+$/gm), ([, name]) => name);

  expect(named).toEqual(expect.arrayContaining(['chalk', 'commander', 'cross-spawn', ...packagesOfPanel()]));
  expect(text.match(/^copyright|Copyright \(c\)/gim)?.length).toBeGreaterThanOrEqual(named.length - 3);
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
