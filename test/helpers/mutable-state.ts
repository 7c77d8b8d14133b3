import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * Lists state of the modules in `folder` that can change after loading, as `file name`: fields of classes that are not
 * `readonly` or hold a container, and variables of a module or of a function that an inner function changes.
 */
export function mutableState(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.sort().flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(`${folder}/${file}`, 'utf8'), ts.ScriptTarget.Latest, true);
    return [...fields(source), ...variables(source)].map((name) => `${file} ${name}`);
  });
}

function fields(source: ts.SourceFile): string[] {
  return all(source, ts.isPropertyDeclaration)
    .filter((field) => !isReadonly(field) || isContainer(field.initializer))
    .map((field) => field.name.getText());
}

function isReadonly(field: ts.PropertyDeclaration): boolean {
  return field.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) ?? false;
}

/** Variables that outlive a call: those of a module, and those that an inner function uses. */
function variables(source: ts.SourceFile): string[] {
  const kept = all(source, ts.isVariableDeclaration).filter((variable) => {
    const isLet = (variable.parent.flags & ts.NodeFlags.Const) === 0;
    return (isLet || isContainer(variable.initializer)) && isKept(variable);
  });
  return kept.map(({ name }) => name.getText());
}

function isKept(variable: ts.VariableDeclaration): boolean {
  const home = functionAround(variable);
  if (home === undefined) return true;
  const name = variable.name.getText();
  const inside = all(home, ts.isIdentifier).filter((use) => use.text === name && use.parent !== variable);
  return inside.some((use) => functionAround(use) !== home && isChange(use));
}

/** Whether this use changes the variable or its content. */
function isChange(use: ts.Identifier): boolean {
  const { parent } = use;
  if (ts.isBinaryExpression(parent)) return parent.left === use && /=$/.test(parent.operatorToken.getText());
  if (ts.isPropertyAccessExpression(parent))
    return /^(?:set|add|push|delete|clear|shift|pop|splice)$/.test(parent.name.text);
  return ts.isPrefixUnaryExpression(parent) || ts.isPostfixUnaryExpression(parent);
}

function isContainer(value: ts.Expression | undefined): boolean {
  if (value === undefined) return false;
  if (ts.isNewExpression(value)) return /^(?:(?:Weak)?(?:Map|Set)|Heap)$/.test(value.expression.getText());
  return ts.isArrayLiteralExpression(value) && value.elements.length === 0;
}

function functionAround(node: ts.Node): ts.Node | undefined {
  let around = node.parent;
  while (around !== undefined && !ts.isFunctionLike(around)) around = around.parent;
  return around;
}

function all<Kind extends ts.Node>(root: ts.Node, isKind: (node: ts.Node) => node is Kind): Kind[] {
  const found: Kind[] = [];
  const visit = (node: ts.Node): void => {
    if (isKind(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
}
