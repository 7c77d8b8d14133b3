import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A runner for the tests that a page shows. */
export interface TestRunner {
  readonly name: string;
  readonly files: RegExp;
  /** The command line, without the file. */
  readonly line: string;
}

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The first one whose pattern matches the file name is used. */
const RUNNERS: readonly TestRunner[] = [
  {
    name: 'vitest',
    files: /\.test\.ts$/,
    line: `node ${join(MODULES, 'vitest/vitest.mjs')} run --root .`,
  },
  { name: 'jest', files: /-jest\.test\.cjs$/, line: `node ${join(MODULES, 'jest/bin/jest.js')} --rootDir .` },
  { name: 'node:test', files: /\.test\.mjs$/, line: 'node --test' },
  { name: 'pytest', files: /^test_\w+\.py$/, line: 'fxrates mock -- python3 -m pytest -q -p no:cacheprovider' },
  { name: 'go', files: /_test\.go$/, line: 'fxrates mock -- go test' },
];

/** Commands that show whether an optional runner is installed. */
const PROBES: Readonly<Record<string, readonly string[]>> = {
  pytest: ['python3', '-m', 'pytest', '--version'],
  go: ['go', 'version'],
};

export function testRunnerOf(file: string): TestRunner | undefined {
  return RUNNERS.find(({ files }) => files.test(file));
}

export function isInstalled({ name }: TestRunner): boolean {
  const [program, ...args] = PROBES[name] ?? ['node', '--version'];
  return spawnSync(program!, args).status === 0;
}
