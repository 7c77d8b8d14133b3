import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Document, isCollection, isNode, isPair, LineCounter, type Node, parseDocument, visit } from 'yaml';
import { makeFolder } from '../../src/replace-file.ts';
import { generateFiles } from './generate-files.ts';
import { type Refusal, refusalText, SpecError } from './spec-node.ts';

const ROOT = join(import.meta.dirname, '../..');

const USAGE = 'usage: npm run generate -- [--spec FILE] [--out FOLDER] [--check]';

/** A wrong argument or document. `main` prints the message without a stack. */
class InputError extends Error {}

/**
 * openapi.yaml → src/generated. `--check` writes nothing and fails if a file is not up to date. Prints all problems;
 * returns the exit code.
 */
export async function main(args: readonly string[], print: (line: string) => void): Promise<number> {
  try {
    const { spec, out, check } = readFlags(args);
    const files = await generate(spec);
    if (check) return await compare(files, out, print);
    await write(files, out);
    return 0;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    print(error.message);
    return 1;
  }
}

function readFlags(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
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

type Files = ReadonlyMap<string, string>;

async function generate(spec: string): Promise<Files> {
  const lines = new LineCounter();
  const document = parseDocument(await readSpec(spec), { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS')
    throw new InputError(`${nameOf(spec)} has several YAML documents; pass one OpenAPI document with --spec FILE`);
  const placed = (offset: number | undefined, problem: string) => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${nameOf(spec)}:${line}:${col} ${problem}`;
  };
  if (error !== undefined) throw new InputError(placed(error.pos[0], error.message));
  const alias = firstAlias(document);
  if (alias !== undefined) {
    throw new InputError(placed(alias.range?.[0], 'YAML aliases are not implemented; write a $ref'));
  }
  try {
    return format(generateFiles(document.toJS()), ROOT);
  } catch (refused) {
    if (!(refused instanceof SpecError)) throw refused;
    const text = (refusal: Refusal) => placed(offsetOf(refusal, document), refusalText(refusal));
    throw new InputError(refused.refusals.map(text).join('\n'));
  }
}

/** Aliases can form a cycle, or make a billion values of a few. */
function firstAlias(document: Document): Node | undefined {
  let first: Node | undefined;
  visit(document, {
    Alias(_, alias) {
      first = alias;
      return visit.BREAK;
    },
  });
  return first;
}

/** Formats files like `npm run fix`, in one run of the formatter. */
function format(files: ReadonlyMap<string, string>, cwd: string): Map<string, string> {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [biome, 'format', '--stdin-file-path=src/generated/file.ts'],
    { cwd, encoding: 'utf8', input: [...files.values()].join(SEPARATOR), maxBuffer: Number.POSITIVE_INFINITY },
  );
  if (status !== 0) throw new Error(`The formatter refused the generated code:\n${stderr}`);
  const texts = stdout.split(SEPARATOR.trim());
  return new Map([...files.keys()].map((name, index) => [name, `${texts[index]?.trim()}\n`]));
}

/** The formatter does not change comments. */
const SEPARATOR = '\n// ---- the next generated file ----\n';

async function write(files: Files, out: string): Promise<void> {
  try {
    await makeFolder(out);
    await Promise.all([...files].map(([name, text]) => writeFile(join(out, name), text)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InputError(`${nameOf(out)} cannot be written (${code}); pass a folder with --out FOLDER`);
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
  const path = relative(process.cwd(), spec);
  return path.startsWith('..') ? spec : path;
}

/** Where the key or the item of a list begins that is the problem, or its nearest parent that is in the document. */
function offsetOf({ path, key }: Refusal, document: Document): number | undefined {
  let found: unknown = document.contents;
  let inner: unknown = found;
  for (const name of key === undefined ? path : [...path, key]) {
    // YAML reads an unquoted key such as 200 as a number.
    const isNamed = (item: unknown, index: number) => String(isPair(item) ? item.key : index) === name;
    const item = isCollection(inner) ? inner.items.find(isNamed) : undefined;
    if (item === undefined) break;
    [found, inner] = isPair(item) ? [item.key, item.value] : [item, item];
  }
  return isNode(found) ? found.range?.[0] : undefined;
}

async function compare(files: Files, out: string, print: (line: string) => void): Promise<number> {
  let exitCode = 0;
  for (const [name, text] of files) {
    const path = join(out, name);
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) continue;
    print(`${relative(process.cwd(), path)} is not what the spec says; run: npm run generate`);
    exitCode = 1;
  }
  return exitCode;
}
