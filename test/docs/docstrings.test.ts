import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { checkProse } from '../../scripts/prose/check-prose.ts';
import { type Declaration, type Member, readDeclarations } from '../../scripts/reference/read-declarations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The entry points of the package, from the configuration of its build. */
const library = readFileSync(join(root, 'tsup.config.ts'), 'utf8').match(
  /const LIBRARY = \{\n {2}entry: \{(.*?)\}/s,
)?.[1];
const entries = Array.from(library?.matchAll(/'?([\w-]+)'?: '(src\/[^']+)'/g) ?? [], ([, name = '', file = '']) => ({
  name,
  declarations: readDeclarations(join(root, file)),
}));

test('finds the entry points of the package', () => {
  expect(entries.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['index', 'file-store', 'redis', 'mock-server', 'msw']),
  );
});

test.each(entries)('everything that $name exports has a docstring, and so has every member', ({ declarations }) => {
  const missing = Array.from(declarations.values()).flatMap((declaration) => [
    ...(hasText(declaration) ? [] : [declaration.name]),
    ...declaration.members
      .filter((member) => !isDocumented(member, declaration, declarations))
      .map((member) => `${declaration.name}.${member.name}`),
  ]);

  expect(missing.filter((path) => !EXCEPTIONS.includes(path))).toEqual([]);
});

test.each(entries)('every optional option that $name exports names its default', ({ declarations }) => {
  const missing = Array.from(declarations.values())
    .filter((declaration) => /(Options|Hooks|^AppInfo)$/.test(declaration.name))
    .flatMap((declaration) =>
      declaration.members
        .filter(({ isOptional, doc }) => isOptional && doc.byDefault === undefined)
        .map((member) => `${declaration.name}.${member.name}`),
    );

  expect(missing).toEqual([]);
});

const ofClient = entries.filter(({ name }) => ['index', 'file-store', 'redis'].includes(name));

test.each(ofClient)('the docstrings of $name follow the rules for prose', ({ declarations }) => {
  const findings = Array.from(declarations.values()).flatMap((declaration) =>
    [declaration, ...declaration.members].flatMap(({ name, doc }) =>
      [...doc.paragraphs, ...doc.notes].flatMap((text) =>
        checkProse(withoutCode(text)).map(({ message }) => `${declaration.name}, ${name}: ${message}`),
      ),
    ),
  );

  expect(findings).toEqual([]);
});

// Texts of several lines are scripts and parts of pages.
test('messages follow the rules for prose', () => {
  const messages = sourceFiles().flatMap((file) =>
    textsIn(file).filter((text) => !/[\n<]/.test(text) && text.split(/\s+/).length >= 5),
  );

  expect(messages.length).toBeGreaterThan(400);
  expect(messages.flatMap((text) => checkProse(text).map(({ message }) => `${message}, in: ${text}`))).toEqual([]);
});

type Declarations = ReadonlyMap<string, Declaration>;

function hasText({ doc }: Pick<Declaration, 'doc'>): boolean {
  return doc.paragraphs.length > 0;
}

/** Documented directly, by the member that it overrides, or by the exported declaration of its type. */
function isDocumented(member: Member, { bases }: Declaration, declarations: Declarations): boolean {
  const isIndexSignature = member.name.startsWith('[') && !member.name.startsWith('[Symbol.');
  if (isIndexSignature || hasText(member)) return true;
  const type = declarations.get(member.type);
  if (type !== undefined && hasText(type)) return true;
  return bases.some((base) => {
    const declaration = declarations.get(base.replace(/<.*$/, ''));
    return declaration?.members.some((inherited) => inherited.name === member.name && hasText(inherited)) ?? false;
  });
}

/** Names that need no docstring. */
const EXCEPTIONS = ['RunningServer.port'];

/** Replaces code with a different word each time, with a capital letter, because a sentence can start with code. */
function withoutCode(text: string): string {
  let count = 0;
  return text.replaceAll(/`[^`]*`/g, () => `Code${String.fromCharCode(97 + (count++ % 26))}`);
}

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
