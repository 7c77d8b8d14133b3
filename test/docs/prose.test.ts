import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { checkProse, markdownPassages } from '../../scripts/prose.ts';

test.each([
  ['The state is kept by nobody.', '"nobody": name the user, the process or the object'],
  ['The admin API wants a token.', '"wants": a program does not want: needs, requires, expects'],
  ['The value is no number.', '"is no": write: is not a …'],
  ['The request\ngoes on.', '"goes on": write: continues'],
  ['The file is not there.', '"is not there": write: is missing'],
  ['It asks again and again.', '"again and again": write: repeatedly, sometimes, permanently'],
  ['What a fault can only fake is refused.', expect.stringContaining('"What …" as the subject')],
  [`${'one two '.repeat(15)}ends.`, 'a sentence of 31 words; at most 30'],
])('reports a problem in: %s', (text, message) => {
  expect(checkProse(text).map((finding) => finding.message)).toEqual([message]);
});

test.each([
  'Acquire a permit. The maximum is 30.',
  'There is no default. A call is no longer retried.',
  'What does the client do? It waits.',
  `${'one two '.repeat(14)}ends. ${'One two '.repeat(15)}.`,
])('accepts: %s', (text) => {
  expect(checkProse(text)).toEqual([]);
});

test('separates paragraphs, list items and table cells, each with its line, without code', () => {
  const page = [
    '# Title',
    'A paragraph with `code in it`',
    'on [two](lines.md#x) lines.',
    '- an item',
    '  of a list',
    '',
    '| cell | **other** |',
    '|---|---|',
    '',
    '```sh',
    'npm test',
    '```',
  ].join('\n');

  const passages = markdownPassages(page).map(({ text, line }) => [line, text.replace(/\s+/g, ' ').trim()]);

  expect(passages).toEqual([
    [1, 'Title'],
    [2, expect.stringMatching(/^A paragraph with X{12} on two lines\.$/)],
    [4, 'an item of a list'],
    [7, 'cell'],
    [7, 'other'],
  ]);
});

const root = fileURLToPath(new URL('../..', import.meta.url));

// Texts of several lines are scripts and parts of pages.
test('messages follow the rules for prose', () => {
  const messages = sourceFiles().flatMap((file) =>
    textsIn(file).filter((text) => !/[\n<]/.test(text) && text.split(/\s+/).length >= 5),
  );

  expect(messages.length).toBeGreaterThan(400);
  expect(messages.flatMap((text) => checkProse(text).map(({ message }) => `${message}, in: ${text}`))).toEqual([]);
});

function sourceFiles(): readonly ts.SourceFile[] {
  const folder = join(root, 'src');
  const paths = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((path) => path.endsWith('.ts'));
  return paths.map((path) =>
    ts.createSourceFile(path, readFileSync(join(folder, path), 'utf8'), ts.ScriptTarget.ES2023, true),
  );
}

/** The string literals of a file; each value in a template becomes a different word. */
function textsIn(node: ts.Node): readonly string[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text];
  const inside: string[] = [];
  ts.forEachChild(node, (child) => {
    inside.push(...textsIn(child));
  });
  if (!ts.isTemplateExpression(node)) return inside;
  const text = node.head.text + node.templateSpans.map(({ literal }, place) => `Value${place}${literal.text}`).join('');
  return [text, ...inside];
}
