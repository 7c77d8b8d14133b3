import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly dev?: boolean;
  readonly peer?: boolean;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'));
const packages = Object.entries<LockedPackage>(lock.packages).filter(([path]) => path !== '');
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
