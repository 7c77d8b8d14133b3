import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { testTitles } from '../../helpers/test-titles.ts';

const folder = fileURLToPath(new URL('../../../src/client/limits', import.meta.url));
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const [table = '', constants = ''] = readme.split('## The constants');

const PARTS = ['gate', 'window', 'burst limit', 'share', 'unit', 'service', 'concurrency', 'store'];
const EVENTS = ['accepted', 'refused', 'failed', 'lost', 'configured', 'time passes', 'store fails', 'store returns'];
const FUNCTION_LINK = /\[`#?(\w+)`\]\(([\w/.-]+\.ts)\)/g;
const TEST_LINK = /\[test\]\(([\w/.-]+\.test\.ts) "([^"]+)"\)/g;

const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| **'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| |\s*\|$/g, '').trim()));
const cells = rows.flatMap(([part = '', ...rest]) => rest.map((cell, place) => ({ part, event: EVENTS[place], cell })));

function parse(file: string): ts.SourceFile {
  const path = join(folder, file);
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
}

/** The functions, methods and fields that a file declares. */
function namesIn(file: string): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node) => {
    const isCallable = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node) || ts.isPropertyAssignment(node);
    if (isCallable && node.name) names.push(node.name.getText().replace('#', ''));
    ts.forEachChild(node, visit);
  };
  visit(parse(file));
  return names;
}

/** The constants of a file that are a number or a short text, as they are written. */
function constantsIn(file: string): readonly string[] {
  return parse(file)
    .statements.filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .flatMap(({ name, initializer }) => {
      const text = initializer?.getText() ?? '';
      const isValue = /^[A-Z][A-Z_]*$/.test(name.getText()) && /^[\w.*/ ']+$/.test(text);
      return isValue ? [`${file} ${name.getText()} = ${text}`] : [];
    });
}

test('the table has a row for each part of the state and a cell for each event', () => {
  expect(rows.map(([part]) => part)).toEqual(PARTS.map((part) => `**${part}**`));
  expect(rows.map(({ length }) => length)).toEqual(PARTS.map(() => EVENTS.length + 1));
  expect(table).toContain(`| | ${EVENTS.join(' | ')} |`);
});

test('each cell names the effect, the function and the test, or says that nothing happens', () => {
  const incomplete = cells.filter(({ cell }) => {
    return cell !== '–' && (cell.match(FUNCTION_LINK) === null || cell.match(TEST_LINK) === null);
  });

  expect(incomplete).toEqual([]);
});

test('every function that the page links to is in its file', () => {
  const links = Array.from(readme.matchAll(FUNCTION_LINK), ([, name = '', file = '']) => ({ name, file }));

  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(({ name, file }) => !namesIn(file).includes(name))).toEqual([]);
});

test('every test that the page names is in its file, by its exact title', () => {
  const links = Array.from(readme.matchAll(TEST_LINK), ([, file = '', title = '']) => ({ file, title }));

  expect(links.length).toBeGreaterThan(30);
  expect(links.filter(({ file, title }) => !testTitles(join(folder, file)).includes(title))).toEqual([]);
});

test('the list has every constant of the limiter with its value and a reason', () => {
  const files = ts.sys.readDirectory(folder, ['.ts']).map((path) => path.slice(folder.length + 1));
  const listed = Array.from(
    constants.matchAll(/^\| \[([\w./-]+)\]\(\1\) \| `(\w+)` \| `([^`]+)` \| (\S.*) \|$/gm),
    ([, file = '', name = '', value = '']) => `${file} ${name} = ${value}`,
  );

  expect(listed.sort()).toEqual(files.flatMap(constantsIn).sort());
});
