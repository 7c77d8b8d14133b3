import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { readDocComment } from '../../scripts/reference/doc-comment.ts';
import { readSwitchDocs } from '../../scripts/reference/mock-page.ts';
import { referencePages } from '../../scripts/reference/pages.ts';
import { readDeclarations } from '../../scripts/reference/read-declarations.ts';
import { allCommands } from '../../src/cli/command-tree.ts';
import { programTree } from '../../src/cli/program.ts';
import * as client from '../../src/client/index.ts';
import { adminRoutes } from '../../src/mock-server/admin/routes.ts';
import { SWITCH_NAMES, switches } from '../../src/mock-server/behaviour/switches.ts';
import { faultKinds } from '../../src/mock-server/faults/fault-kinds.ts';
import * as mockServer from '../../src/mock-server/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = referencePages(root);
const page = (name: string) => pages.get(`docs/reference/${name}.md`) ?? '';

test.each(Array.from(pages))('%s matches the code; npm run docs:reference writes it', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});

test('the reference names everything that the entry points export', () => {
  const exported = [
    ...Object.keys(client).map((name) => ['client', name] as const),
    ...Object.keys(mockServer).map((name) => ['mock-server', name] as const),
  ];

  expect(exported.length).toBeGreaterThan(20);
  expect(exported.filter(([name, value]) => !new RegExp(`\\b${value}\\b`).test(page(name)))).toEqual([]);
});

test('the reference names every command and option', () => {
  const commands = allCommands(programTree()).slice(1);
  const headings = commands.map(({ path }) => ['### `fxrates', ...path].join(' '));
  const options = commands.flatMap(({ options }) => options.flatMap(({ names }) => names));

  expect(headings.filter((heading) => !page('cli').includes(heading))).toEqual([]);
  expect(options.filter((name) => !new RegExp(`\`(-\\w, )?${name}\\b`).test(page('cli')))).toEqual([]);
});

test('the reference has a heading for every admin route and fault, and a row for every switch', () => {
  const routes = adminRoutes.map(({ method, path }) => `### \`${method} ${path}\``);
  const faults = Object.keys(faultKinds).map((kind) => `### \`${kind}\``);
  const rows = SWITCH_NAMES.map((name) => `| \`${name}\` |`);

  expect(routes.filter((heading) => !page('admin-api').includes(heading))).toEqual([]);
  expect([...faults, ...rows].filter((text) => !page('mock-server').includes(text))).toEqual([]);
});

test('every switch has a comment that states its default', () => {
  const docs = readSwitchDocs(root);
  const defaults = SWITCH_NAMES.map((name) => {
    const { default: value } = switches[name];
    return [name, typeof value === 'string' ? `'${value}'` : String(value)];
  });

  expect(SWITCH_NAMES.map((name) => [name, docs.get(name)?.byDefault])).toEqual(defaults);
  expect(SWITCH_NAMES.filter((name) => docs.get(name)?.paragraphs.length !== 1)).toEqual([]);
});

test.each([
  ['client', ['timeoutMs', 'fx.batch()', 'error.kind', 'onRequest', 'rateLimit.perMinute']],
  ['mock-server', ['replay', 'allowRemote', 'unsafe', 'mock.accounts.create()', 'mock.clock.advanceTo()']],
])('%s.md has a heading for each option, method, error field and hook', (name, headings) => {
  expect(headings.filter((heading) => !page(name).includes(`### \`${heading}\`\n`))).toEqual([]);
});

test('a declaration is read with its overloads, inherited members and documentation', () => {
  const declarations = readDeclarations(join(root, 'src/client/index.ts'));
  const members = declarations.get('FxRates')?.members ?? [];
  const latest = members.find(({ name }) => name === 'latest');

  expect(latest?.signatures.length).toBe(3);
  expect(latest?.doc.paragraphs[0]).toBe('Latest exchange rates.');
  expect(members.map(({ name }) => name)).not.toContain('request');
  expect(declarations.get('CallOptions')?.members.find(({ name }) => name === 'priority')).toMatchObject({
    type: "'high' | 'normal' | 'low'",
    isOptional: true,
    doc: { byDefault: "`'normal'`" },
  });
});

test.each([
  ['`@default` with a value becomes code', '/** Text. @default 10_000 */', '`10_000`'],
  [
    'a default in words stays as it is',
    '/** Text.\n * @default the value of the client\n */',
    'the value of the client',
  ],
  ['a sentence with a default is a default', "/** Text. Default: `'wait'`. More. */", "`'wait'`"],
])('%s', (_, comment, byDefault) => {
  const source = ts.createSourceFile(
    'options.ts',
    `${comment}\nexport const option = 1;`,
    ts.ScriptTarget.ES2023,
    true,
  );

  const doc = readDocComment(Array.from(source.statements));

  expect(doc.byDefault).toBe(byDefault);
  expect(doc.paragraphs.join(' ')).not.toContain('efault');
});

test('an example with a fence is read without it', () => {
  const comment = '/**\n * Text.\n * @example\n * ```ts\n * call();\n * ```\n */\nexport const option = 1;';
  const source = ts.createSourceFile('options.ts', comment, ts.ScriptTarget.ES2023, true);

  expect(readDocComment(Array.from(source.statements)).examples).toEqual(['call();']);
});
