import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { type DocComment, readDocComment } from './doc-comment.ts';

/** A field, accessor or method of an interface or a class. */
export interface Member {
  readonly name: string;
  /** Each signature of a method without its documentation; empty for a field. */
  readonly signatures: readonly string[];
  /** The type of a field as written in the source, without `undefined` if the field is optional. */
  readonly type: string;
  readonly isOptional: boolean;
  readonly isStatic: boolean;
  readonly doc: DocComment;
}

/** An exported interface, class, function, constant or type. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'class' | 'interface' | 'function' | 'type' | 'constant';
  /** Names of the public declarations whose members it inherits. */
  readonly bases: readonly string[];
  /** Members of bases that are not exported, then its own members. */
  readonly members: readonly Member[];
  /** The source of a type, or the signatures of a function. */
  readonly signatures: readonly string[];
  readonly doc: DocComment;
}

type Declared =
  | ts.InterfaceDeclaration
  | ts.ClassDeclaration
  | ts.FunctionDeclaration
  | ts.TypeAliasDeclaration
  | ts.VariableStatement;

type Container = ts.InterfaceDeclaration | ts.ClassDeclaration;

/**
 * Returns all exports of an entry point as written in the source. Without type checking, that takes less than a second.
 */
export function readDeclarations(entry: string): ReadonlyMap<string, Declaration> {
  const exported = new Map<string, readonly Declared[]>();
  for (const statement of parse(entry).statements) {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier) continue;
    const file = targetOf(entry, statement.moduleSpecifier);
    const names =
      statement.exportClause && ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name }) => name.text)
        : namesIn(file);
    for (const name of names) exported.set(name, find(file, name));
  }
  const isPublic = (name: string) => exported.has(name);
  return new Map(
    Array.from(exported).flatMap(([name, nodes]) => {
      const declaration = toDeclaration(name, nodes, isPublic);
      return declaration ? [[name, declaration] as const] : [];
    }),
  );
}

/**
 * The documentation of the properties of the object literal in a constant, by name; with `path`, of the literal in the
 * property of these names.
 */
export function readPropertyDocs(
  file: string,
  constant: string,
  path: readonly string[] = [],
): ReadonlyMap<string, DocComment> {
  const [statement] = find(file, constant);
  if (statement === undefined) throw new Error(`${file} has no ${constant}`);
  const literal = path.reduce<ts.Node | undefined>(
    (node, name) => propertiesIn(node).find((property) => nameOf(property.name) === name),
    statement,
  );
  return new Map(propertiesIn(literal).map((property) => [nameOf(property.name) ?? '', readDocComment([property])]));
}

function propertiesIn(node: ts.Node | undefined): readonly ts.ObjectLiteralElementLike[] {
  return (node && firstLiteral(node))?.properties.filter(({ name }) => name !== undefined) ?? [];
}

const parsed = new Map<string, ts.SourceFile>();

function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known) return known;
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2023, true);
  parsed.set(file, source);
  return source;
}

function targetOf(file: string, specifier: ts.Expression): string {
  return join(dirname(file), ts.isStringLiteral(specifier) ? specifier.text : '');
}

function namesIn(file: string): string[] {
  return parse(file).statements.flatMap((statement) => {
    const name = isDeclared(statement) && isExported(statement) ? declaredName(statement) : undefined;
    return name === undefined ? [] : [name];
  });
}

/** Finds the declarations of a name through imports and re-exports; those of a function are its overloads. */
function find(file: string, name: string): readonly Declared[] {
  const source = parse(file);
  const own = source.statements.filter(isDeclared).filter((statement) => declaredName(statement) === name);
  if (own.length > 0) return own;
  for (const statement of source.statements) {
    const hit = bindingsOf(statement).find((binding) => binding.name.text === name);
    if (hit) return find(targetOf(file, hit.from), hit.imported);
  }
  return [];
}

interface Binding {
  readonly name: ts.ModuleExportName;
  readonly imported: string;
  readonly from: ts.Expression;
}

/** The names that a statement imports or re-exports from another file of the project. */
function bindingsOf(statement: ts.Statement): Binding[] {
  if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
  const from = statement.moduleSpecifier;
  if (!from?.getText().startsWith("'.")) return [];
  const names = ts.isImportDeclaration(statement) ? statement.importClause?.namedBindings : statement.exportClause;
  if (!names || !(ts.isNamedImports(names) || ts.isNamedExports(names))) return [];
  return names.elements.map(({ name, propertyName }) => ({ name, imported: (propertyName ?? name).text, from }));
}

function isDeclared(node: ts.Node): node is Declared {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableStatement(node)
  );
}

function declaredName(node: Declared): string | undefined {
  return ts.isVariableStatement(node) ? node.declarationList.declarations[0]?.name.getText() : node.name?.text;
}

function isExported(node: Declared): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

function toDeclaration(
  name: string,
  nodes: readonly Declared[],
  isPublic: (name: string) => boolean,
): Declaration | undefined {
  const [first] = nodes;
  if (first === undefined) return undefined;
  const doc = readDocComment(nodes);
  const none = { bases: [], members: [] };
  if (ts.isFunctionDeclaration(first)) {
    const signatures = visibleSignatures(nodes as readonly ts.FunctionDeclaration[]);
    return { name, kind: 'function', ...none, signatures, doc };
  }
  if (ts.isTypeAliasDeclaration(first)) return { name, kind: 'type', ...none, signatures: [sourceOf(first)], doc };
  if (ts.isVariableStatement(first)) return { name, kind: 'constant', ...none, signatures: [], doc };
  const kind = ts.isClassDeclaration(first) ? 'class' : 'interface';
  const { bases, members } = contentsOf(first, isPublic);
  return { name, kind, bases, members, signatures: [], doc };
}

function contentsOf(node: Container, isPublic: (name: string) => boolean): Pick<Declaration, 'bases' | 'members'> {
  const own = ownMembers(node);
  const inherited: Member[] = [];
  const bases: string[] = [];
  for (const { expression, typeArguments } of node.heritageClauses?.flatMap(({ types }) => types) ?? []) {
    const name = expression.getText();
    const [base] = find(node.getSourceFile().fileName, name);
    if (isPublic(name) || !base || !isContainer(base)) bases.push(withArguments(name, typeArguments));
    else {
      const contents = contentsOf(base, isPublic);
      bases.push(...contents.bases);
      inherited.push(...contents.members);
    }
  }
  const isOverridden = ({ name }: Member) => own.some((member) => member.name === name);
  return { bases, members: [...inherited.filter((member) => !isOverridden(member)), ...own] };
}

function isContainer(node: Declared): node is Container {
  return ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node);
}

function withArguments(name: string, typeArguments: ts.NodeArray<ts.TypeNode> | undefined): string {
  return typeArguments ? `${name}<${typeArguments.map((argument) => argument.getText()).join(', ')}>` : name;
}

/** The public members; overloads count as one. */
function ownMembers(node: Container): Member[] {
  const byName = new Map<string, ts.Node[]>();
  for (const member of node.members as ts.NodeArray<ts.ClassElement | ts.TypeElement>) {
    const name = ts.isIndexSignatureDeclaration(member) ? indexName(member) : nameOf(member.name);
    if (name === undefined || isHidden(member)) continue;
    byName.set(name, [...(byName.get(name) ?? []), member]);
  }
  return Array.from(byName, ([name, nodes]) => toMember(name, nodes));
}

/** `[field: string]`, for additional fields. */
function indexName({ parameters }: ts.IndexSignatureDeclaration): string {
  return `[${parameters.map((parameter) => parameter.getText()).join(', ')}]`;
}

function isHidden(node: ts.Node): boolean {
  const hidden = [ts.SyntaxKind.PrivateKeyword, ts.SyntaxKind.ProtectedKeyword];
  return ts.canHaveModifiers(node) && (node.modifiers?.some(({ kind }) => hidden.includes(kind)) ?? false);
}

function nameOf(name: ts.PropertyName | undefined): string | undefined {
  if (name === undefined || ts.isPrivateIdentifier(name)) return undefined;
  if (ts.isComputedPropertyName(name)) {
    const text = name.expression.getText();
    return text.startsWith('Symbol.') ? `[${text}]` : undefined;
  }
  return name.text;
}

function toMember(name: string, nodes: readonly ts.Node[]): Member {
  const [first] = nodes;
  const doc = readDocComment(nodes);
  const isStatic = first !== undefined && ts.canHaveModifiers(first) && isStaticMember(first);
  const methods = nodes.filter((node) => ts.isMethodDeclaration(node) || ts.isMethodSignature(node));
  if (methods.length > 0) {
    const isOptional = methods.some(({ questionToken }) => questionToken !== undefined);
    return { name, signatures: visibleSignatures(methods), type: '', isOptional, isStatic, doc };
  }
  const isOptional = first !== undefined && ts.isPropertySignature(first) && first.questionToken !== undefined;
  return { name, signatures: [], type: typeOf(first, isOptional), isOptional, isStatic, doc };
}

function isStaticMember(node: ts.HasModifiers): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false;
}

function typeOf(node: ts.Node | undefined, isOptional: boolean): string {
  if (node === undefined) return '';
  if (ts.isPropertyDeclaration(node) && !node.type) return node.initializer?.getText() ?? '';
  const { type } = node as ts.PropertySignature;
  const text = type?.getText().replaceAll(/\s+/g, ' ') ?? '';
  const defined = isOptional ? text.replace(/ \| undefined$/, '') : text;
  return /^\([^()]*(\([^()]*\)[^()]*)*\)$/.test(defined) ? defined.slice(1, -1) : defined;
}

type Callable = ts.FunctionDeclaration | ts.MethodDeclaration | ts.MethodSignature;

/** The overloads without the implementation, the shortest first. */
function visibleSignatures(nodes: readonly Callable[]): string[] {
  const overloads = nodes.filter((node) => !('body' in node && node.body));
  const visible = overloads.length > 0 ? overloads : nodes;
  return visible.map(signatureOf).sort((one, other) => one.length - other.length);
}

function signatureOf(node: Callable): string {
  const body = 'body' in node ? node.body : undefined;
  const source = node.getSourceFile().text.slice(node.getStart(), body?.getStart() ?? node.end);
  const words = source.trim().replace(/^(?:(?:export|static|override|async|function) |\*)+/, '');
  return dedent(words.replace(/;$/, ''), node).replaceAll('types.', '');
}

function sourceOf(node: ts.TypeAliasDeclaration): string {
  return dedent(node.getText().replace(/^export /, ''), node);
}

/** Removes the indentation of the first line from all other lines. */
function dedent(text: string, node: ts.Node): string {
  const source = node.getSourceFile();
  const { character } = source.getLineAndCharacterOfPosition(node.getStart());
  return text.replaceAll(`\n${' '.repeat(character)}`, '\n');
}

function firstLiteral(node: ts.Node): ts.ObjectLiteralExpression | undefined {
  if (ts.isObjectLiteralExpression(node)) return node;
  return ts.forEachChild(node, firstLiteral);
}
