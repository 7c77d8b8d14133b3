import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockServer, type RunningServer } from '../../src/mock-server/index.ts';
import { BUNDLE, hasBundle, Running } from '../helpers/cli-bundle.ts';
import { readDocument } from '../helpers/document.ts';
import { hasRedis, type RedisServer, startRedis } from '../helpers/redis-server.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = readdirSync(join(root, 'docs')).map((name) => `docs/${name}`);
const documents = ['README.md', ...pages].map((name) => readDocument(root, name));
const readme = documents[0]!;
const withExamples = documents.filter(({ snippets, commands }) => snippets.length + commands.length > 0);

const needsBuild = describe.skipIf(!hasBundle); // npm run build; `npm test` does it first
const mock = createMockServer({ seed: 7 });
let server: RunningServer;
let redis: RedisServer | undefined;
let env: Record<string, string>;
/** Inside the project, so that `import 'fxrates'` finds the built package as it would in node_modules. */
let folder: string;
let binaries: string;

beforeAll(async () => {
  server = await mock.serve();
  redis = hasRedis ? await startRedis() : undefined;
  folder = mkdtempSync(join(root, '.documents-'));
  binaries = mkdtempSync(join(tmpdir(), 'fxrates-bin-'));
  writeFileSync(join(binaries, 'fxrates'), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
  chmodSync(join(binaries, 'fxrates'), 0o755);
  const { key } = mock.createKey({ plan: 'developer' });
  const path = `${binaries}:${dirname(process.execPath)}:${process.env['PATH']}`;
  env = { FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key, PATH: path, HOME: binaries };
  if (redis) env['REDIS_URL'] = redis.url;
});

afterAll(async () => {
  await server.close();
  await redis?.kill();
  for (const temporary of [folder, binaries]) rmSync(temporary, { recursive: true, force: true });
});

needsBuild.each(withExamples)('$name', ({ name, snippets, commands }) => {
  const fileOf = (index: number) => join(folder, `${name.replaceAll('/', '-')}-${index}.ts`);

  for (const [index, code] of snippets.entries()) {
    test.skipIf(code.includes('REDIS_URL') && !hasRedis)(`snippet ${index + 1} runs`, async () => {
      writeFileSync(fileOf(index), code);
      const args = ['--import', 'tsx', fileOf(index)];

      const { code: exitCode, stderr } = await new Running(process.execPath, args, { env }).ended;

      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    });
  }

  for (const command of commands) {
    test(`the command runs: ${command}`, async () => {
      const { code, stderr } = await new Running('sh', ['-c', command], { env }).ended;

      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    });
  }

  test('the snippets compile under strict settings', async () => {
    for (const [index, code] of snippets.entries()) writeFileSync(fileOf(index), code);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const strict = '--noEmit --strict --exactOptionalPropertyTypes --module nodenext --target es2023 --types node';
    const args = [tsc, ...strict.split(' '), ...snippets.map((_, index) => fileOf(index))];

    const { stdout } = await new Running(process.execPath, args, { env }).ended;

    expect(stdout).toBe('');
  });
});

test('the README gives a snippet to each of the three users', () => {
  expect(readme.snippets.length).toBeGreaterThanOrEqual(3);
  expect(readme.commands.length).toBeGreaterThanOrEqual(5);
});
