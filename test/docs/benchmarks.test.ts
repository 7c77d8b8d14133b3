import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const textOf = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const benchmarks = textOf('docs/benchmarks.md');
const [comparison = ''] = (textOf('README.md').split(/^## Comparison$/m)[1] ?? '').split(/^## /m);
const { scripts } = JSON.parse(textOf('package.json'));

test('every row of the comparison in the README is a row of the page on benchmarks', () => {
  const rows = comparison.split('\n').filter((line) => line.startsWith('|'));
  const rowsOfPage = benchmarks.split('\n');

  expect(rows).toHaveLength(3 + 4); // heads, and rows of at most four packages
  expect(rows.filter((row) => !rowsOfPage.includes(row))).toEqual([]);
});

test('every other figure of the comparison in the README is on the page on benchmarks', () => {
  const figures = figuresOf(comparison.replace(/^\|.*$/gm, ''));
  const figuresOfPage = figuresOf(benchmarks);

  expect(figures).toContain('2026-11-25');
  expect(figures.filter((figure) => !figuresOfPage.includes(figure))).toEqual([]);
});

test('every section with figures has its command and its date', () => {
  const sections = benchmarks.split(/^## /m).slice(1);
  const measured = sections.filter((section) => !section.startsWith('Other measurements'));
  const incomplete = measured.filter(
    (section) => !/^2026-\d\d-\d\d[:,]/m.test(section) || !/^[^`\n]*npm run bench:/m.test(section),
  );

  expect(measured.length).toBeGreaterThanOrEqual(5);
  expect(incomplete).toEqual([]);
});

test('the page names every benchmark of package.json, and no other', () => {
  const named = benchmarks.match(/(?<=npm run )bench:\w+/g) ?? [];
  const ofPackage = Object.keys(scripts).filter((name) => name.startsWith('bench:'));

  expect([...new Set(named)].sort()).toEqual(ofPackage.sort());
});

/** Numbers with their unit, and dates. */
function figuresOf(text: string): readonly string[] {
  return text.match(/(?:\d[\d.,-]*)?\d(?: (?:%|kB|ms))?/g) ?? [];
}
