import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { format } from './generator/format.ts';
import { generateFiles } from './generator/generate-files.ts';
import { type Refusal, refusalText, SpecError } from './generator/spec-node.ts';

const ROOT = join(import.meta.dirname, '..');

const USAGE = 'usage: npm run generate -- [--spec FILE] [--out FOLDER] [--check]';

/** Something the caller can set right; `main` prints the message alone. */
class InputError extends Error {}

/** openapi.yaml → src/generated. `--check` writes nothing and fails when a file is not up to date. */
async function main(): Promise<void> {
  const { spec, out, check } = readFlags();
  const files = await generate(spec);
  if (check) return compare(files, out);
  await mkdir(out, { recursive: true });
  await Promise.all(files.map(([name, text]) => writeFile(join(out, name), text)));
}

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        check: { type: 'boolean', default: false },
        spec: { type: 'string', default: join(ROOT, 'openapi.yaml') },
        out: { type: 'string', default: join(ROOT, 'src/generated') },
      },
    });
    return values;
  } catch (error) {
    const [problem = ''] = error instanceof Error ? error.message.split(/\. |\n/) : [];
    throw new InputError(`${problem}; ${USAGE}`);
  }
}

type Files = readonly (readonly [name: string, text: string])[];

/** Nothing is written before all of it is known to be good. */
async function generate(spec: string): Promise<Files> {
  const lines = new LineCounter();
  const document = parseDocument(await readSpec(spec), { lineCounter: lines, merge: true });
  const [error] = document.errors;
  if (error !== undefined)
    throw new InputError(`${nameOf(spec)}: ${error.message.split('\n', 1)[0]?.replace(/:$/, '')}`);
  try {
    const files = generateFiles(document.toJS());
    return await Promise.all([...files].map(async ([name, source]) => [name, await format(source, ROOT)] as const));
  } catch (refused) {
    if (!(refused instanceof SpecError)) throw refused;
    const text = (refusal: Refusal) => `${nameOf(spec)}:${lineOf(refusal, document, lines)} ${refusalText(refusal)}`;
    throw new InputError(refused.refusals.map(text).join('\n'));
  }
}

async function readSpec(spec: string): Promise<string> {
  if (/^\w+:\/\//.test(spec)) throw new InputError(`${spec} is a URL; download it first and pass the file with --spec`);
  try {
    return await readFile(spec, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem =
      code === 'ENOENT' ? 'does not exist' : code === 'EISDIR' ? 'is a folder' : `cannot be read (${code})`;
    throw new InputError(`${nameOf(spec)} ${problem}; pass an OpenAPI document with --spec FILE`);
  }
}

function nameOf(spec: string): string {
  return relative(process.cwd(), spec);
}

/** Line and column of a refusal; of the nearest place above it if there is nothing at the place itself. */
function lineOf({ path }: Refusal, document: Document, lines: LineCounter): string {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length).map(numeric), true);
    if (!isNode(node) || !node.range) continue;
    const { line, col } = lines.linePos(node.range[0]);
    return `${line}:${col}`;
  }
  return '1:1';
}

/** YAML counts the items of a list, and reads a key like 200 without quotes as a number. */
function numeric(key: string): unknown {
  return /^\d+$/.test(key) ? Number(key) : key;
}

async function compare(files: Files, out: string): Promise<void> {
  for (const [name, text] of files) {
    const path = join(out, name);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue;
    process.stderr.write(`${relative(process.cwd(), path)} is not what the spec says; run: npm run generate\n`);
    process.exitCode = 1;
  }
}

await main().catch((error: unknown) => {
  if (!(error instanceof InputError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
