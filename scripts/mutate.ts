/**
 * `npm run mutate -- client/limits`: mutation tests of a folder or file below `src/`. Stryker changes one expression at
 * a time, runs the tests that cover it, and lists the changes that no test notices. By default it runs the tests in the
 * folder of the same name. `npm run mutate -- client/state/lifetime.ts client/close.test.ts` names other files or folders.
 *
 * `stryker.config.json` excludes one mutator, `StringLiteral`: the compiler checks most strings, and the others are
 * texts for people.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Simulations, processes, sockets and builds: each needs seconds, and each mutant would run all that cover it. */
const SLOW_TESTS =
  /^test\/(bench|browser|cli\/commands|docs|e2e|generator|packaging)\/|(chaos|fuzz|redis|wild)\.test\.ts$/;

/** Tests outside the folder of the same name. */
const MORE_TESTS: Readonly<Record<string, readonly string[]>> = {
  'client/state': ['client/steps', 'client/api/poll.test.ts'],
  'client/limits': ['client/steps/limit.test.ts', 'client/state/key-limits.test.ts'],
  'client/steps': [
    'client/close.test.ts',
    'client/call/events.test.ts',
    'client/options/resolve-options.test.ts',
    'client/state/key-limits.test.ts',
  ],
  'cli/errors': ['cli/program/main.test.ts'],
  'mock-server/http': [
    'contracts/mock-adapters.test.ts',
    'mock-server/behaviour/switches.test.ts',
    'mock-server/journal',
    'mock-server/security.test.ts',
    'mock-server/service',
    'mock-server/rules',
  ],
  'mock-server/service': [
    'mock-server/behaviour/switches.test.ts',
    'mock-server/rules/mock-rules.test.ts',
    'mock-server/http',
    'mock-server/mock',
  ],
};

const root = join(import.meta.dirname, '..');
const [source = '', ...named] = process.argv.slice(2).map((path) => path.replace(/^(src|test)\/|\/$/g, ''));
if (!existsSync(join(root, 'src', source)) || source === '') {
  fail(`expected a folder or file below src/, such as client/limits or client/limits/retry-after.ts, got '${source}'`);
}
const isFile = statSync(join(root, 'src', source)).isFile();
const folder = isFile ? dirname(source) : source;
const tests = (named.length > 0 ? named : [folder, ...(MORE_TESTS[folder] ?? [])]).flatMap(testsBelow);
if (tests.length === 0) fail(`no fast tests in test/${folder}; add files of test/ after '${source}'`);

const { status } = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js'),
    'run',
    ...['--mutate', isFile ? `src/${source}` : `src/${source}/**/*.ts`],
  ],
  { stdio: 'inherit', cwd: root, env: { ...process.env, MUTATE_TESTS: tests.join() } },
);
process.exitCode = status ?? 1;

function testsBelow(path: string): readonly string[] {
  const from = join(root, 'test', path);
  if (!existsSync(from)) fail(`no such file or folder: test/${path}`);
  if (statSync(from).isFile()) return [`test/${path}`];
  // The tests of a file directly in src/ are directly in test/.
  return readdirSync(from, { recursive: path !== '.', encoding: 'utf8' })
    .map((name) => posix.join('test', path, name.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.test.ts') && !SLOW_TESTS.test(file));
}

function fail(message: string): never {
  process.stderr.write(`mutate: ${message}\n`);
  process.exit(2);
}
