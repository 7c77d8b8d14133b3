import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Document, isCollection, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
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
  const document = parseDocument(await readSpec(spec), { lineCounter: lines, merge: true });
  const [error] = document.errors;
  if (error?.code === 'MULTIPLE_DOCS')
    throw new InputError(`${nameOf(spec)} has several YAML documents; pass one OpenAPI document with --spec FILE`);
  if (error !== undefined)
    throw new InputError(`${nameOf(spec)}: ${error.message.split('\n', 1)[0]?.replace(/:$/, '')}`);
  const aliases = aliasProblems(document);
  try {
    if (aliases.length > 0) throw new SpecError(aliases);
    return format(generateFiles(plainValue(document)), ROOT);
  } catch (refused) {
    if (!(refused instanceof SpecError)) throw refused;
    const text = (refusal: Refusal) => `${nameOf(spec)}:${lineOf(refusal, document, lines)} ${refusalText(refusal)}`;
    throw new InputError(refused.refusals.map(text).join('\n'));
  }
}

/** Aliases that cannot be followed, with the place of each. */
function aliasProblems(document: Document): Refusal[] {
  const problems: Refusal[] = [];
  visit(document, {
    Alias(key, alias, parents) {
      const path = pathOf(key, parents);
      const target = alias.resolve(document);
      if (target === undefined) problems.push({ path, problem: `no anchor &${alias.source} precedes this alias` });
      else if (parents.includes(target)) problems.push({ path, problem: `*${alias.source} contains itself` });
    },
  });
  return problems;
}

/** The parser follows 100 aliases, and multiplies those that nest, so that a few cannot make a billion values. */
function plainValue(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new SpecError([{ path: [], problem: 'more than 100 YAML aliases; write a $ref instead' }]);
  }
}

/** The keys that lead to a node that the parser visits. */
function pathOf(key: number | 'key' | 'value' | null, parents: readonly unknown[]): string[] {
  return parents.flatMap((node, index) => {
    if (isPair(node)) return [String(isScalar(node.key) ? node.key.value : node.key)];
    const next = parents[index + 1];
    return isSeq(node) ? [String(next === undefined ? key : node.items.indexOf(next))] : [];
  });
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
    // Not `recursive`: below /proc it would never end.
    await mkdir(out).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
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

/** Line and column of a problem, or of its nearest parent that is in the document. */
function lineOf({ path }: Refusal, document: Document, lines: LineCounter): string {
  let place: unknown = document.contents;
  for (const key of path) {
    // YAML reads an unquoted key such as 200 as a number.
    const inner = isCollection(place) ? (place.get(key, true) ?? place.get(Number(key), true)) : undefined;
    if (!isNode(inner)) break;
    place = inner;
  }
  const { line, col } = lines.linePos((isNode(place) && place.range?.[0]) || 0);
  return `${line}:${col}`;
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
