import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { parse, YAMLParseError } from 'yaml';
import { format } from './generator/format.ts';
import { generateFiles } from './generator/generate-files.ts';
import { SpecError } from './generator/spec-node.ts';

const ROOT = join(import.meta.dirname, '..');

/** openapi.yaml → src/generated. `--check` writes nothing and fails when a file is not up to date. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      spec: { type: 'string', default: join(ROOT, 'openapi.yaml') },
      out: { type: 'string', default: join(ROOT, 'src/generated') },
    },
  });
  const files = await generate(values.spec);
  if (values.check) return check(files, values.out);
  await mkdir(values.out, { recursive: true });
  await Promise.all(files.map(([name, text]) => writeFile(join(values.out, name), text)));
}

async function generate(spec: string): Promise<(readonly [name: string, text: string])[]> {
  const files = generateFiles(parse(await readFile(spec, 'utf8')));
  return Promise.all([...files].map(async ([name, source]) => [name, await format(source, ROOT)] as const));
}

async function check(files: readonly (readonly [name: string, text: string])[], out: string): Promise<void> {
  for (const [name, text] of files) {
    const path = join(out, name);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue;
    process.stderr.write(`${relative(process.cwd(), path)} is not what the spec says; run: npm run generate\n`);
    process.exitCode = 1;
  }
}

await main().catch((error: unknown) => {
  if (!(error instanceof SpecError || error instanceof YAMLParseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
