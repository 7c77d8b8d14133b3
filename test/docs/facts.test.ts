import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { notShown } from '../../src/generated/service.ts';

const page = fileURLToPath(new URL('../../docs/facts.md', import.meta.url));

/** The headings of the service's specification that state facts, with their number of statements. */
const SPECIFICATION = {
  'What the service does': 7,
  'Response envelope': 4,
  'Quota record': 7,
  'API key': 4,
  'States and transitions': 5,
  Endpoints: 2,
  'GET /api/v1/quota': 5,
  'GET /api/v1/latest': 1,
  Authentication: 9,
  Errors: 4,
  Limits: 9,
  Versioning: 1,
};

const NOT_SHOWN = 'What the specification does not show';
const PRISM = 'Independent checks';

const text = readFileSync(page, 'utf8');

/** The tables of the page by heading, each row as its cells. */
const tables = Object.fromEntries(
  text
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
  text.matchAll(/^\[([\w-]+)\]: (\S+\.test\.ts) "(.+)"$/gm),
  ([, label = '', path = '', title = '']) => ({ label, path, title }),
);

test('every statement of the specification is a fact of the page, under its heading', () => {
  const counts = Object.fromEntries(Object.entries(facts).map(([heading, rows]) => [heading, rows.length]));
  const numbers = Object.values(facts).flatMap((rows) => rows.map(([number]) => Number(number)));

  expect(counts).toEqual(SPECIFICATION);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

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
  const files = new Set(proofs.map(({ path }) => path));
  const titles = new Map([...files].map((path) => [path, testTitles(join(dirname(page), path))]));

  expect(proofs.filter(({ title, path }) => !titles.get(path)?.includes(title))).toEqual([]);
});

/** The titles of all tests in a file that run: those of `test('…')` and `test.each(…)('…')`, without skipped tests. */
function testTitles(path: string): readonly string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && isTest(node.expression)) titles.push(...texts(node.arguments[0]));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true));
  return titles;
}

/** Whether it is `test`, or the result of `test.each(…)`. */
function isTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return callee.text === 'test';
  return (
    ts.isCallExpression(callee) &&
    ts.isPropertyAccessExpression(callee.expression) &&
    callee.expression.name.text === 'each' &&
    isTest(callee.expression.expression)
  );
}

function texts(title: ts.Expression | undefined): string[] {
  return title !== undefined && ts.isStringLiteralLike(title) ? [title.text] : [];
}
