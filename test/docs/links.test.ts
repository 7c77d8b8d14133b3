import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

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

/** Without code. */
function textOf(page: string): string {
  return readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '');
}
