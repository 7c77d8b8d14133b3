import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { beforeAll, describe, expect, test } from 'vitest';
import { hasBundle } from '../helpers/cli-bundle.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
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

// npm run build; `npm test` does it first. Other Nodes and a real installation: npm run test:package -- 22 24 26
describe.skipIf(!hasBundle)('the package', () => {
  beforeAll(async () => {
    tarball = await pack(folder);
    plain = join(folder, 'plain');
    besideMsw = join(folder, 'beside-msw');
    writePrograms(plain);
    writePrograms(besideMsw);
    await installOffline(tarball, plain, ['@types/node']);
    await installOffline(tarball, besideMsw, ['@types/node', 'msw']);
  });

  test('contains the files that package.json names, and no others', () => {
    const paths = tarball.files.map(({ path }) => path);
    const { exports, bin, main, man, types, typesVersions } = JSON.parse(
      readFileSync(join(plain, 'node_modules/fxrates/package.json'), 'utf8'),
    );
    const named = textsOf([exports, bin, main, man, types, typesVersions]);

    expect(man).toEqual(['./dist/man/fxrates.1']); // npm 11 does not link a man page that is a plain string
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
      'dist/man/fxrates.1',
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

/** The targets of the links of a page, or the documents that a docstring names. The large picture is not packed. */
function documentsIn(path: string, text: string): string[] {
  if (/\.d\.c?ts$/.test(path)) return text.match(/[\w/-]+\.md\b/g) ?? [];
  const links = Array.from(text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g), ([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:|panel\.png$/.test(link)).map((link) => join(dirname(path), link));
}

/** All texts in a value of package.json. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
