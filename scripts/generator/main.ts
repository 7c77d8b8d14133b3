import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type Document,
  escapePointerFragment,
  getLineColLocation,
  type Loc,
  makeDocumentFromString,
  YamlParseError,
} from '@redocly/openapi-core';
import { isJsonObject } from '../../src/json.ts';
import { makeFolder } from '../../src/replace-file.ts';
import { structureProblems } from './check-structure.ts';
import type { Contract, Refusal } from './contract.ts';
import { withExamples } from './examples.ts';
import { readContract } from './read-contract.ts';
import { refusalText, SpecError, SpecNode } from './spec-node.ts';
import { writeMethods, writeOperations, writeService } from './write-operations.ts';
import { writeSchemas } from './write-schemas.ts';
import { writeTypes } from './write-types.ts';

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
    const files = await generate(spec, print);
    if (check) return await compare(files, out, print);
    await write(files, out);
    return 0;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    print(error.message);
    return 1;
  }
}

const BANNER = '// Generated from openapi.yaml by npm run generate. Do not edit.\n\n';

/** Returns the generated files by name, not formatted yet. */
export function generateFiles(contract: Contract): Map<string, string> {
  const files = {
    'operation-methods.ts': writeMethods(contract),
    'operations.ts': writeOperations(contract),
    'schemas.ts': writeSchemas(contract),
    'service.ts': writeService(contract),
    'types.ts': writeTypes(contract),
  };
  return new Map(Object.entries(files).map(([name, text]) => [name, `${BANNER}${text.trim()}\n`]));
}

/** Reads the contract from a document. @throws SpecError with all problems of the document */
export async function contractOf(document: unknown): Promise<Contract> {
  const problem = isJsonObject(document) ? "'openapi' is missing" : 'a map is expected';
  if (!isJsonObject(document) || !('openapi' in document))
    throw new SpecError([{ path: [], problem: `this is not an OpenAPI document: ${problem}` }]);
  const spec = new SpecNode(document);
  const contract = readContract(spec);
  const { refusals } = spec.document;
  refusals.push(...(await structureProblems(document, refusals)));
  const complete = refusals.length === 0 ? withExamples(contract, spec) : contract;
  if (refusals.length > 0) throw new SpecError(refusals);
  return complete;
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

async function generate(spec: string, print: (line: string) => void): Promise<Files> {
  const { source, parsed } = parse(await readSpec(spec), spec);
  const placed = (refusals: readonly Refusal[]) => {
    const all = refusals.map((refusal) => ({ ...positionOf(refusal, source), text: refusalText(refusal) }));
    const sorted = all.toSorted((one, other) => one.line - other.line || one.col - other.col);
    return sorted.map(({ line, col, text }) => `${nameOf(spec)}:${line}:${col} ${text}`);
  };
  try {
    const contract = await contractOf(parsed);
    for (const note of placed(contract.notes)) print(`note: ${note}`);
    return format(generateFiles(contract), ROOT);
  } catch (refused) {
    if (!(refused instanceof SpecError)) throw refused;
    throw new InputError(placed(refused.refusals).join('\n'));
  }
}

function parse(text: string, spec: string): Document {
  try {
    return makeDocumentFromString(text, spec);
  } catch (error) {
    if (!(error instanceof YamlParseError)) throw error;
    const problem = error.message.replace(/ ?(in ".*")? \(\d+:\d+\)$/, '');
    if (problem.includes('a single document'))
      throw new InputError(`${nameOf(spec)} has several YAML documents; pass one OpenAPI document with --spec FILE`);
    throw new InputError(`${nameOf(spec)}:${error.line || 1}:${error.col || 1} ${problem}`);
  }
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
    makeFolder(out);
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

/** Line and column of the key, or of the item of a list, that is the problem; of what is around it if it is missing. */
function positionOf({ path }: Refusal, source: Document['source']): Loc {
  const pointer = `#/${path.map((name) => escapePointerFragment(name)).join('/')}`;
  try {
    return getLineColLocation({ source, pointer, reportOnKey: true }).start;
  } catch {
    return { line: 1, col: 1 }; // the parser for places does not know all tags of YAML
  }
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
