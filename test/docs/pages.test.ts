import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { notShown } from '../../src/generated/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = [root, join(root, 'docs')].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => relative(root, join(folder, name))),
);

test.each(pages)('every link of %s has a target', (page) => {
  expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([]);
});

test.each(pages.filter((page) => page.startsWith('docs/')))('a reader of the README finds %s', (page) => {
  expect(linksOf('README.md').concat(linksOf('CONTRIBUTING.md'))).toContain(page);
});

test('every file and folder that the map of changes names exists', () => {
  const map = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').split('## Where a change goes')[1] ?? '';
  const paths = Array.from(map.matchAll(/`([\w./*-]+(?:\/|\.\w+))`/g), ([, path = '']) => path);

  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => ![path, `src/${path}`].some((there) => isThere(there)))).toEqual([]);
});

test.each(pages)('every file that %s names by its path in the repository exists', (page) => {
  const paths = Array.from(
    textOf(page).matchAll(/`((?:src|test|scripts|bench|docs)\/[\w./-]+)`/g),
    ([, path = '']) => path,
  );

  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every file that the page on architecture names exists', () => {
  const files = Array.from(
    textOf('docs/architecture.md').matchAll(/`((?:client|mock-server|cli|generated)\/[\w./-]+)`/g),
  );
  const paths = files.map(([, path = '']) => path);

  expect(paths.length).toBeGreaterThan(25);
  expect(paths.filter((path) => !existsSync(join(root, 'src', path)))).toEqual([]);
});

/** A `*` stands for the beginning of a file's name. */
function isThere(path: string): boolean {
  const [folder = '', ending] = join(root, path).split('*');
  if (!existsSync(folder)) return false;
  return ending === undefined || readdirSync(folder).some((name) => name.endsWith(ending));
}

/** Links within the repository. */
function linksOf(page: string): string[] {
  const links = Array.from(textOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return heading === undefined || headingsOf(target).includes(heading);
}

/** As GitHub creates them: the second one of the same text ends with -1. */
function headingsOf(page: string): string[] {
  const headings = Array.from(textOf(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => heading.toLowerCase());
  const anchors = headings.map((heading) => heading.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/ /g, '-'));
  return anchors.map((anchor, index) => {
    const before = anchors.slice(0, index).filter((other) => other === anchor).length;
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

function sourceOf(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

/** Without code. */
function textOf(page: string): string {
  return sourceOf(page).replace(/^```.*?^```$/gms, '');
}

const run = promisify(execFile);
const child = fileURLToPath(new URL('./call-walk.child.ts', import.meta.url));

/** The files and folders in the table of a call, in its order. A folder ends with a slash. */
function tableOfCall(): string[] {
  const [, text = ''] = sourceOf('docs/architecture.md').split('\n## A call\n');
  const [own = ''] = text.split('\n## ');
  const rows = own.split('\n').filter((line) => /^\| \d+ \|/.test(line));
  return rows.flatMap((row) => Array.from(row.split('|')[2]?.matchAll(/`([^`]+)`/g) ?? [], ([, path = '']) => path));
}

test('the table of a call has each file that a call enters, and no other', async () => {
  const listed = tableOfCall();

  const { stdout } = await run(process.execPath, ['--import', 'tsx', child]);
  const entered: string[] = JSON.parse(stdout);

  const placeOf = (file: string) =>
    listed.find((path) => path === file || (path.endsWith('/') && file.startsWith(path)));
  expect(entered.filter((file) => placeOf(file) === undefined)).toEqual([]);
  expect(listed.filter((path) => !entered.some((file) => placeOf(file) === path))).toEqual([]);
});

const benchmarks = sourceOf('docs/benchmarks.md');
const [comparison = ''] = (sourceOf('README.md').split(/^## Comparison$/m)[1] ?? '').split(/^## /m);
const { scripts } = JSON.parse(sourceOf('package.json'));

test('every row of the comparison in the README is a row of the page on benchmarks', () => {
  const rows = comparison.split('\n').filter((line) => line.startsWith('|'));
  const rowsOfPage = benchmarks.split('\n');

  expect(rows).toHaveLength(3 + 4); // heads, and rows of at most four packages
  expect(rows.filter((row) => !rowsOfPage.includes(row))).toEqual([]);
});

test('the page names every benchmark of package.json, and no other', () => {
  const named = benchmarks.match(/(?<=npm run )bench:\w+/g) ?? [];
  const ofPackage = Object.keys(scripts).filter((name) => name.startsWith('bench:'));

  expect([...new Set(named)].sort()).toEqual(ofPackage.sort());
});

const NOT_SHOWN = 'What the specification does not show';
const PRISM = 'Independent checks';

const factsPage = sourceOf('docs/facts.md');

/** The tables of the page by heading, each row as its cells. */
const tables = Object.fromEntries(
  factsPage
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      const rows = lines.filter((line) => line.startsWith('| ')).slice(1);
      return [heading, rows.map((row) => row.slice(2, -2).split(' | '))] as const;
    }),
);

const { [NOT_SHOWN]: open = [], [PRISM]: _, ...facts } = tables;
/** The tests by label; the title of a link is that of the test. */
const proofs = Array.from(
  factsPage.matchAll(/^\[([\w-]+)\]: (\S+\.test\.ts) "(.+)"$/gm),
  ([, label = '', path = '', title = '']) => ({ label, path, title }),
);

test('the page lists every detail that is not shown, with the behaviour of client and mock', () => {
  expect(open.map(([name]) => name).sort()).toEqual(
    Object.keys(notShown)
      .map((name) => `\`${name}\``)
      .sort(),
  );
});

test('every fact names a test, or states that it is not testable', () => {
  const rows = [...Object.values(facts).flat(), ...open];
  const labels = rows.flatMap(([, , tests = '']) => Array.from(tests.matchAll(/\[([\w-]+)\]/g), ([, label]) => label));

  expect(rows.filter(([, fact, tests = '']) => !fact || !/^(\[.+\]|not testable)$/.test(tests))).toEqual([]);
  expect(new Set(labels)).toEqual(new Set(proofs.map(({ label }) => label)));
});

test('every test that the page names exists with its exact title', () => {
  expect(proofs.length).toBeGreaterThan(40);
  // Only a test that runs has one of these forms, the first after a table.
  const hasTest = ({ path, title }: (typeof proofs)[number]) => {
    const text = readFileSync(join(root, 'docs', path), 'utf8').replaceAll(/\n */g, '');
    return [`'${title}'`, `"${title}"`].some(
      (quoted) => text.includes(`)(${quoted}`) || text.includes(`test(${quoted}`),
    );
  };

  expect(proofs.filter((proof) => !hasTest(proof))).toEqual([]);
});
