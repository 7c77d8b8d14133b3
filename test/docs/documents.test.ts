import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program/program.ts';
import { createMockServer, type RunningServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, PATIENT, Running } from '../helpers/cli-bundle.ts';
import { readDocument } from '../helpers/document.ts';
import { hasProgram } from '../helpers/has-program.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { TSC_7 } from '../helpers/typescript.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const documents = ['README.md', ...pages.map((name) => `docs/${name}`)].map((name) => readDocument(root, name));
const withExamples = documents.filter(
  ({ snippets, commands, files }) => [...snippets, ...commands, ...files].length > 0,
);

/** Commands that test/e2e/cli-examples.test.ts runs. */
const inHelp = createProgram()
  .all()
  .flatMap(({ examples }) => examples.map(({ command }) => command));

/** A runner for the tests that a page shows. */
interface TestRunner {
  readonly name: string;
  readonly files: RegExp;
  /** The command line, without the file. */
  readonly line: string;
  /** The same without a mock around it, for tests that start one if there is none. */
  readonly lineAlone?: string;
  /** A command that succeeds if the runner is installed. Default: it is a dependency of this project. */
  readonly probe?: string;
}

/** The first one whose pattern matches the file name is used. */
const RUNNERS: readonly TestRunner[] = [
  {
    name: 'vitest',
    files: /\.test\.ts$/,
    line: `node ${join(root, 'node_modules/vitest/vitest.mjs')} run ${PATIENT} --root .`,
  },
  {
    name: 'jest',
    files: /-jest\.test\.cjs$/,
    line: `node ${join(root, 'node_modules/jest/bin/jest.js')} ${PATIENT} --rootDir .`,
  },
  { name: 'node:test', files: /\.test\.mjs$/, line: 'node --test' },
  {
    name: 'pytest',
    files: /^test_\w+\.py$/,
    line: 'fxrates mock -- python3 -m pytest -q -p no:cacheprovider',
    lineAlone: 'python3 -m pytest -q -p no:cacheprovider',
    probe: 'python3 -m pytest --version',
  },
  { name: 'go', files: /_test\.go$/, line: 'fxrates mock -- go test', probe: 'go version' },
];

const needsBuild = describe.skipIf(!hasBundle); // npm run build; `npm test` does it first
const mock = createMockServer({ seed: 7 });
const binaries = temporaryFolder();
let server: RunningServer;
let redis: RedisServer | undefined;
let env: Record<string, string>;
/** Inside the project, so that `import 'fxrates'` finds the built package as it would in node_modules. */
let folder: string;

beforeAll(async () => {
  server = await mock.serve();
  redis = hasRedis ? await startRedis() : undefined;
  folder = mkdtempSync(join(root, '.documents-'));
  writeFileSync(join(binaries, 'fxrates'), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
  chmodSync(join(binaries, 'fxrates'), 0o755);
  const { key } = mock.createKey({ plan: 'developer' });
  symlinkSync(process.execPath, join(binaries, 'node'));
  const path = `${binaries}:${process.env['PATH']}`;
  env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key, PATH: path, HOME: binaries };
  if (redis) env['REDIS_URL'] = redis.url;
  for (const { name, snippets, files } of withExamples) {
    mkdirSync(join(folderOf(name), 'node_modules/.bin'), { recursive: true });
    symlinkSync(join(binaries, 'fxrates'), join(folderOf(name), 'node_modules/.bin/fxrates'));
    writeFileSync(join(folderOf(name), 'vitest.config.mjs'), 'export default {};'); // otherwise, vitest uses the project's own
    for (const file of files) writeFileSync(join(folderOf(name), file.name), file.code);
    for (const [index, code] of snippets.entries()) writeFileSync(snippetOf(name, index), code);
  }
});

afterAll(async () => {
  await server.close();
  await redis?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const folderOf = (document: string) => join(folder, document.replaceAll('/', '-'));
const snippetOf = (document: string, index: number) => join(folderOf(document), `snippet-${index}.ts`);

needsBuild.each(withExamples)('$name', ({ name, snippets, commands, files }) => {
  const runLine = (line: string) => new Running('sh', ['-c', `cd "$0" && ${line}`, folderOf(name)], { env }).ended;

  for (const [index, code] of snippets.entries()) {
    test.skipIf(code.includes('REDIS_URL') && !hasRedis)(`snippet ${index + 1} runs`, async () => {
      const script = snippetOf(name, index).replace(/ts$/, 'mjs');
      // On a busy machine, a call with the deadline of the page may be late.
      const patient = code.replaceAll(/(?<=deadlineMs: |AbortSignal\.timeout\()[\d_]+/g, '300_000');
      const javascript = await transform(patient, { loader: 'ts', target: 'node20' });
      writeFileSync(script, javascript.code);

      // msw reads the localStorage that Node 26 has without a file, which causes a warning.
      const args = ['--disable-warning=ExperimentalWarning', script];
      const { code: exitCode, stderr, stdout } = await new Running(process.execPath, args, { env }).ended;

      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const shown = stdout.split('\n').map((line) => line.replaceAll(' ', '').replace(/Error:.*/, 'Error'));
      for (const [, printed = ''] of code.matchAll(/console\.log\(.*\/\/ (\[[\d, ]+\]|\w+Error|\d+)(?=:|$)/gm))
        expect(shown).toContain(printed.replaceAll(' ', ''));
    });
  }

  for (const command of commands.filter((one) => !inHelp.includes(one))) {
    test.skipIf(command.includes('| jq') && !hasProgram('jq'))(`the command runs: ${command}`, async () => {
      const { code, stderr } = await runLine(command);

      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    });
  }

  for (const runner of RUNNERS) {
    const tests = files.flatMap((file) => (testRunnerOf(file.name) === runner ? [file.name] : [])).join(' ');
    if (tests === '') continue;
    const { line, lineAlone } = runner;
    const check = async (start: string) => {
      const { code, stdout, stderr } = await runLine(`${start} ${tests}`);

      expect({ code, output: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, output: '' });
    };
    test.skipIf(!isInstalled(runner))(`${tests} passes under ${runner.name}`, () => check(line));
    if (lineAlone === undefined) continue;
    test.skipIf(!isInstalled(runner))(`${tests} passes under ${runner.name} alone`, () => check(lineAlone));
  }
});

needsBuild('all documents', () => {
  test('the snippets and files compile under strict settings', async () => {
    const strict =
      '--strict --skipLibCheck --exactOptionalPropertyTypes --module nodenext --target es2023 --types node';
    const sources = withExamples.flatMap(({ name, snippets, files }) => [
      ...snippets.map((_, index) => snippetOf(name, index)),
      ...files.filter((file) => file.name.endsWith('.ts')).map((file) => join(folderOf(name), file.name)),
    ]);
    const args = [TSC_7, '--ignoreConfig', '--noEmit', '--moduleDetection', 'force', ...strict.split(' '), ...sources];

    const { stdout } = await new Running(process.execPath, args, { env }).ended;

    expect(stdout).toBe('');
  });
});

test('the page on testing has a test for every runner', () => {
  const { files } = documents.find(({ name }) => name === 'docs/testing.md')!;
  const runners = files.map((file) => testRunnerOf(file.name)?.name);

  expect(runners).toEqual(expect.arrayContaining(['vitest', 'jest', 'node:test', 'pytest', 'go']));
});

function testRunnerOf(file: string): TestRunner | undefined {
  return RUNNERS.find(({ files }) => files.test(file));
}

function isInstalled({ probe }: TestRunner): boolean {
  return probe === undefined || spawnSync('sh', ['-c', probe]).status === 0;
}
