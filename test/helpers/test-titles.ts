import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** The titles of all tests in a file that run: those of `test('…')` and `test.each(…)('…')`, without skipped tests. */
export function testTitles(path: string): readonly string[] {
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
