import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

/** Formats files like `npm run fix`, in one run of the formatter. */
export function format(files: ReadonlyMap<string, string>, cwd: string): Map<string, string> {
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
