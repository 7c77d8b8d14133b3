import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { publint } from 'publint';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../bench/free-port.ts';
import { connectMockServer, createMockServer } from '../../src/mock-server/index.ts';
import { hasBundle, Running } from '../helpers/cli-bundle.ts';
import { hasProgram } from '../helpers/has-program.ts';
import { byNodeHttp } from '../helpers/mock-adapters.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { until } from '../helpers/until.ts';
import { failureOf, installOffline, pack, runLine, type Tarball, writePrograms } from './consumer.ts';
import {
  BUNDLE_CHECKS,
  COMPILE_CHECKS,
  JEST_CHECK,
  MSW_COMPILE_CHECK,
  MSW_RUN_CHECK,
  RUN_CHECKS,
} from './consumer-checks.ts';

/** Outside the project, so that only the package and its dependencies are found. */
const folder = temporaryFolder();
let tarball: Tarball;
let plain: string;
let besideMsw: string;

beforeAll(async () => {
  if (hasBundle) tarball = await pack(folder);
});

// npm run build; `npm test` does it first. Other Nodes and a real installation: npm run test:package -- 22 24 26
describe.skipIf(!hasBundle)('the package', () => {
  beforeAll(async () => {
    plain = join(folder, 'plain');
    besideMsw = join(folder, 'beside-msw');
    writePrograms(plain);
    writePrograms(besideMsw);
    await installOffline(tarball, plain, ['@types/node']);
    await installOffline(tarball, besideMsw, ['@types/node', 'msw']);
  });

  test('contains the files that package.json names, and no others', () => {
    const paths = tarball.files.map(({ path }) => path);
    const { exports, bin, main, types, typesVersions } = JSON.parse(
      readFileSync(join(plain, 'node_modules/fxrates/package.json'), 'utf8'),
    );
    const named = textsOf([exports, bin, main, types, typesVersions]);

    expect(paths).toEqual(expect.arrayContaining(named.map((path) => path.slice(2))));
    // Types that two entries share are in a file such as `limit-store.d-BwTit8A7.d.ts`.
    const isCodeOrPage = (path: string) =>
      /^dist\/[\w/-]+(\.d-[\w-]+)?(\.d\.c?ts|\.c?js)$|^docs\/[\w-]+\.md$/.test(path);
    expect(paths.filter((path) => !isCodeOrPage(path)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist/licenses.txt',
      'docs/pictures/panel.png',
      'docs/pictures/terminal.png',
      'openapi.yaml',
      'package.json',
    ]);
  });

  test('no page or type names a document that is not in the package', () => {
    const paths = tarball.files.map(({ path }) => path);
    const packed = paths.filter((path) => /\.(md|d\.c?ts)$/.test(path));
    const astray = packed.flatMap((path) => {
      const text = readFileSync(join(plain, 'node_modules/fxrates', path), 'utf8');
      return documentsIn(path, text).filter((name) => !paths.includes(name));
    });

    expect(packed).toEqual(expect.arrayContaining(['README.md', 'docs/client.md', 'dist/index.d.ts']));
    expect(astray).toEqual([]);
  });

  test('has exports that publint accepts', async () => {
    const { messages } = await publint({ pkgDir: join(plain, 'node_modules/fxrates'), pack: false, strict: true });

    expect(messages).toEqual([]);
  });

  test('has types that every moduleResolution finds, according to attw', async () => {
    expect(failureOf(await runLine(`attw '${tarball.path}' --no-emoji`, folder))).toBe('');
  });

  test('has CommonJS that every loader reads: without import() and import.meta', () => {
    const files = tarball.files.map(({ path }) => path).filter((path) => path.endsWith('.cjs'));
    const texts = files.map((path) => readFileSync(join(plain, 'node_modules/fxrates', path), 'utf8'));

    expect(files).toEqual(expect.arrayContaining(['dist/index.cjs', 'dist/mock-server.cjs', 'dist/msw.cjs']));
    expect(texts.filter((text) => /\bimport\(|\bimport\.meta\b/.test(text))).toEqual([]);
  });

  test('is small: under 800 kB to load, and no script runs when it is installed', () => {
    const { scripts } = JSON.parse(readFileSync(join(plain, 'node_modules/fxrates/package.json'), 'utf8'));

    expect(tarball.sizeBytes).toBeLessThan(800 * 1024);
    expect(Object.keys(scripts).filter((name) => /install|prepare/.test(name))).toEqual([]);
  });

  test.each([...RUN_CHECKS, JEST_CHECK, ...COMPILE_CHECKS, ...BUNDLE_CHECKS])('works: $name', async ({ line }) => {
    expect(failureOf(await runLine(line, plain))).toBe('');
  });

  test.each([MSW_RUN_CHECK, MSW_COMPILE_CHECK])('works: $name', async ({ line }) => {
    expect(failureOf(await runLine(line, besideMsw))).toBe('');
  });
});

/** The targets of the links of a page, or the documents that a docstring names. */
function documentsIn(path: string, text: string): string[] {
  if (/\.d\.c?ts$/.test(path)) return text.match(/[\w/-]+\.md\b/g) ?? [];
  const links = Array.from(text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g), ([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => join(dirname(path), link));
}

/** All texts in a value of package.json. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8');
const block = (language: string, marker: string) =>
  Array.from(page.matchAll(/^```(\w+)\n(.*?)^```$/gms)).find(
    ([, name, code]) => name === language && code?.includes(marker),
  )?.[2] ?? '';
const dockerfile = Object.fromEntries(
  block('dockerfile', 'FROM')
    .trim()
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
);
const compose = parse(block('yaml', '# compose.yaml'));
const { mock: mockService, tests: testService } = compose.services;
const ciScript = String(parse(block('yaml', '# .github'))[0].run);

describe.skipIf(!hasBundle)('the steps of the Dockerfile and of compose.yaml, without Docker', () => {
  const home = join(folder, 'container');

  beforeAll(async () => {
    // Replaces `npm install --global`, which needs a registry.
    await installOffline(tarball, home, []);
  });

  test('a container becomes healthy, responds under the name of its service, and exits at SIGTERM', async () => {
    const port = String(await freePort());
    const env = {
      ...mockService.environment,
      HOME: home,
      PATH: [join(home, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    };
    const [program, ...args] = JSON.parse(dockerfile['ENTRYPOINT'] ?? '[]');
    const container = new Running(program, [...args, ...mockService.command, '--port', port], { env, stdin: 'open' });
    await container.shows('stderr', 'Requests:');

    const health = dockerfile['HEALTHCHECK']?.replace(/^.*? CMD /, '').replace('4010', port) ?? '';
    const { code: healthCode } = await new Running('sh', ['-c', health], { env }).ended;
    const { host } = new URL(testService.environment.FXRATES_BASE_URL);
    const headers = { host, authorization: `Bearer ${testService.environment.FXRATES_API_KEY}` };
    const response = await byNodeHttp(`http://127.0.0.1:${port}`)({ target: '/api/v1/quota', headers });
    const adminUrl = testService.environment.FXRATES_MOCK_ADMIN_URL.replace('mock:4010', `127.0.0.1:${port}`);
    const remote = connectMockServer(adminUrl);
    await remote.expectRequests({ headers: { host: 'mock:4010' } }).toHaveCount(1);
    container.kill('SIGTERM');
    const { code } = await container.ended;

    expect([healthCode, response.status, code]).toEqual([0, 200, 0]);
  });

  test.skipIf(!hasProgram('curl'))(
    'the steps for CI wait for the mock, run tests with its key, and stop it',
    async () => {
      const port = String(await freePort());
      // Replaces the packages and the tests of a reader.
      const lines = ciScript
        .replace(/\S+\/fxrates mock/, `node_modules/.bin/fxrates mock --port ${port}`)
        .replace('npm test', 'fxrates latest base=EUR --get base && echo "$FXRATES_MOCK_ADMIN_TOKEN"');
      const atPort = (text: string) => text.replaceAll('4010', port);
      const path = [join(home, 'node_modules/.bin'), process.env['PATH']].join(delimiter);
      const env = { HOME: home, PATH: path };

      const { code, stdout } = await new Running('sh', ['-ec', `cd "$0"\n${atPort(lines)}`, home], { env }).ended;

      expect({ code, stdout }).toEqual({ code: 0, stdout: 'EUR\nknown-to-tests-alone\n' });
      expect(readFileSync(join(home, 'mock.log'), 'utf8')).toContain('GET /api/v1/latest');
      await until(() =>
        fetch(`http://127.0.0.1:${port}`).then(
          () => false,
          () => true,
        ),
      );
    },
    60_000,
  );

  test('an unhealthy container is noticed', async () => {
    const health = dockerfile['HEALTHCHECK']?.replace(/^.*? CMD /, '').replace('4010', String(await freePort())) ?? '';

    expect((await new Running('sh', ['-c', health], {}).ended).code).toBe(1);
  });
});

test('the key in the documents is the one that the seed gives', () => {
  const { key } = createMockServer({ seed: 7 }).createKey({ plan: 'developer' });

  expect(page.match(/fx_live_[0-9a-f]+/g)?.every((shown) => shown === key)).toBe(true);
  expect(testService.environment.FXRATES_API_KEY).toBe(key);
});
