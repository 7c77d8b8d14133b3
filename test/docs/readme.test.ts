import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockServer, type RunningServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, Running } from '../helpers/cli-bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```(ts|sh)\n(.*?)^```$/gms)].map(([, language, code]) => ({
  language,
  code: code!,
}));
const snippets = blocks.filter(({ language }) => language === 'ts');
/** The commands of shell blocks that can end by themselves, with what a reader's own project stands for left out. */
const commands = blocks
  .filter(({ language, code }) => language === 'sh' && !code.includes('npm ci'))
  .flatMap(({ code }) => code.split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter((line) => line.startsWith('fxrates') && !line.endsWith('&'))
  .map((line) => line.replace(/-- (npm test|pytest)$/, '-- sh -c "test -n \\"$FXRATES_API_KEY\\""'));

const needsBuild = test.skipIf(!hasBundle); // npm run build; `npm test` does it first
const mock = createMockServer({ seed: 7 });
let server: RunningServer;
let env: Record<string, string>;
/** Inside the project, so that `import 'fxrates'` finds the built package as it would in node_modules. */
let folder: string;
let binaries: string;

beforeAll(async () => {
  server = await mock.serve();
  folder = mkdtempSync(join(root, '.readme-'));
  binaries = mkdtempSync(join(tmpdir(), 'fxrates-bin-'));
  writeFileSync(join(binaries, 'fxrates'), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
  chmodSync(join(binaries, 'fxrates'), 0o755);
  const { key } = mock.createKey({ plan: 'developer' });
  const path = `${binaries}:${dirname(process.execPath)}:${process.env['PATH']}`;
  env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key, PATH: path };
});

afterAll(async () => {
  await server.close();
  for (const temporary of [folder, binaries]) rmSync(temporary, { recursive: true, force: true });
});

needsBuild.each(snippets.map(({ code }, index) => [index + 1, code] as const))(
  'snippet %i of the README runs',
  async (index, code) => {
    const file = join(folder, `snippet-${index}.ts`);
    writeFileSync(file, code);

    const { code: exitCode, stderr } = await new Running(process.execPath, ['--import', 'tsx', file], { env }).ended;

    expect(stderr).toBe('');
    expect(exitCode).toBe(0);
  },
);

needsBuild('the snippets of the README compile under strict settings', async () => {
  const files = snippets.map(({ code }, index) => {
    const file = join(folder, `typed-${index}.ts`);
    writeFileSync(file, code);
    return file;
  });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--module',
    'nodenext',
    '--target',
    'es2023',
  ];

  const { stdout } = await new Running(process.execPath, [tsc, ...options, '--types', 'node', ...files], { env }).ended;

  expect(stdout).toBe('');
});

needsBuild.each(commands)('the command of the README runs: %s', async (command) => {
  const { code, stderr } = await new Running('sh', ['-c', command], { env }).ended;

  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
});

test('the README gives a snippet to each of the three users', () => {
  expect(snippets.length).toBeGreaterThanOrEqual(3);
  expect(commands.length).toBeGreaterThanOrEqual(5);
});
