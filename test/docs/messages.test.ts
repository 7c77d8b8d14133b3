import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { checkProse } from '../../scripts/prose.ts';

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
