import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../scripts/generator/main.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const GENERATED = 'src/generated';
const FILES = ['operation-methods.ts', 'operations.ts', 'schemas.ts', 'service.ts', 'types.ts'];

const spec = await readFile(join(ROOT, 'openapi.yaml'), 'utf8');

test('src/generated matches openapi.yaml, byte for byte', async () => {
  expect((await readdir(join(ROOT, GENERATED))).sort()).toEqual(FILES);
  expect(await run('--check')).toEqual({ exitCode: 0, stderr: '' });
});

test('--check names every file that differs or is missing, and writes none', async () => {
  const out = temporaryFolder();
  await run('--out', out);
  await writeFile(join(out, 'types.ts'), '// edited\n');
  await rm(join(out, 'service.ts'));

  const { exitCode, stderr } = await run('--check', '--out', out);

  expect(exitCode).toBe(1);
  expect(stderr.match(/\w+\.ts is not what the spec says; run: npm run generate/g)).toEqual([
    'service.ts is not what the spec says; run: npm run generate',
    'types.ts is not what the spec says; run: npm run generate',
  ]);
  expect(await readdir(out)).not.toContain('service.ts');
  expect(await readFile(join(out, 'types.ts'), 'utf8')).toBe('// edited\n');
});

test('--spec reads another spec; if it is rejected, the place is reported and nothing is written', async () => {
  const out = temporaryFolder();
  const typo = join(out, 'typo.yaml');
  await writeFile(typo, spec.replace('x-extensible-enum: [free', 'x-extensible-enums: [free'));

  const { exitCode, stderr } = await run('--spec', typo, '--out', out);

  expect(exitCode).toBe(1);
  const place = '#/components/schemas/QuotaData/properties/plan/x-extensible-enums';
  const line = spec.split('\n').findIndex((text) => text.trim() === 'plan:') + 1;
  expect(stderr).toMatch(new RegExp(`typo\\.yaml:${line + 2}:11 ${place}: unknown key 'x-extensible-enums'; .*\\n$`));
  expect(await readdir(out)).toEqual(['typo.yaml']);
});

test.each(["'200'", '200'])('a refusal below the status %s has the line of its place', async (status) => {
  const out = temporaryFolder();
  const typo = join(out, 'typo.yaml');
  const text = spec.replaceAll("'200':", `${status}:`).replace('The latest rates.', '$&\n          contnet: {}');
  await writeFile(typo, text);

  const { stderr } = await run('--spec', typo, '--out', out);

  const line = text.split('\n').findIndex((one) => one.includes('The latest rates.')) + 1;
  expect(stderr).toContain(`typo.yaml:${line + 1}:`);
});

test.each([
  ['openapi: 3.1.0\npaths: [\n', /broken\.yaml:3:1 .+\n$/],
  ['a: 1\n---\nb: 2\n', /broken\.yaml has several YAML documents; pass one OpenAPI document with --spec FILE\n$/],
  ['', /broken\.yaml:1:1 #: this is not an OpenAPI document: a map is expected\n$/],
  ['a: 1\na: 2\n', /broken\.yaml:2:1 duplicated mapping key\n$/],
  ['just text', /broken\.yaml:1:1 #: this is not an OpenAPI document: a map is expected\n$/],
  ['info: { title: !!binary aGk= }', /broken\.yaml:1:1 #: this is not an OpenAPI document: 'openapi' is missing\n$/],
  ['{"asyncapi": "3.0.0"}', /broken\.yaml:1:1 #: this is not an OpenAPI document: 'openapi' is missing\n$/],
])('the document %j is refused in one line', async (text, message) => {
  const out = temporaryFolder();
  const broken = join(out, 'broken.yaml');
  await writeFile(broken, text);

  const { exitCode, stderr } = await run('--spec', broken, '--out', out);

  expect(exitCode).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr.split('\n')).toHaveLength(2);
  expect(await readdir(out)).toEqual(['broken.yaml']);
});

test('anchors, aliases and merge keys are read, and a problem inside of an alias has its place', async () => {
  const out = temporaryFolder();
  const aliased = join(out, 'aliased.yaml');
  const text = spec
    .replace(
      "default:\n          $ref: '#/components/responses/Failed'",
      "default: &failed\n          $ref: '#/components/responses/Failed'",
    )
    .replace("default:\n          $ref: '#/components/responses/Failed'", 'default: *failed')
    .replace('    QuotaResponse:\n      type: object', '    QuotaResponse:\n      <<: { type: object }');
  expect(text.match(/[&*]failed|<<:/g)).toHaveLength(3);
  await writeFile(aliased, text);

  expect(await run('--spec', aliased, '--out', out)).toEqual({ exitCode: 0, stderr: '' });
  expect(await readFile(join(out, 'types.ts'), 'utf8')).toBe(await readFile(join(ROOT, GENERATED, 'types.ts'), 'utf8'));

  await writeFile(
    aliased,
    text.replace(
      "default: &failed\n          $ref: '#/components/responses/Failed'",
      "default: &failed\n          $ref: '#/nowhere'",
    ),
  );
  const { stderr } = await run('--spec', aliased, '--out', out);
  const line = text.split('\n').findIndex((one) => one.includes('default: *failed')) + 1;
  expect(stderr).toContain(`aliased.yaml:${line}:9 `);
});

test.each([
  [['--spec', 'nowhere.yaml'], /^\S*nowhere\.yaml does not exist; pass an OpenAPI document with --spec FILE\n$/],
  [['--spec', ROOT], /is a folder; pass an OpenAPI document with --spec FILE\n$/],
  [
    ['--spec', 'https://api.test/openapi.yaml'],
    /^https:\S+ is a URL; download it first and pass the file with --spec\n$/,
  ],
  [['--sepc', 'x'], /^Unknown option '--sepc'; usage: npm run generate -- \[--spec FILE\] .*\n$/],
  [['--spec'], /^Option '--spec <value>' argument missing; usage: .*\n$/],
  [['--out', '/proc/x'], /^\/proc\/x cannot be written \(\w+\); pass a folder with --out FOLDER\n$/],
  [['--out', join(ROOT, 'package.json')], /^\S*package\.json cannot be written \(\w+\); pass a folder .*\n$/],
  [['openapi.yaml'], /^Unexpected argument 'openapi\.yaml'; usage: .*\n$/],
])('%j is refused in one line', async (flags, message) => {
  const { exitCode, stderr } = await run(...flags);

  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(message)]);
});

/** Runs `npm run generate` for this project. Notes are left out: openapi.yaml can have parts that cause one. */
async function run(...args: readonly string[]): Promise<{ readonly exitCode: number; readonly stderr: string }> {
  const lines: string[] = [];
  const exitCode = await main(args, (line) => void (line.startsWith('note: ') || lines.push(`${line}\n`)));
  return { exitCode, stderr: lines.join('') };
}
