import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

/** Formats TypeScript the way `npm run fix` would. */
export async function format(source: string, cwd: string): Promise<string> {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const child = spawn(process.execPath, [biome, 'format', '--stdin-file-path=src/generated/file.ts'], { cwd });
  child.stdin.end(source);
  const exited = new Promise((resolve) => child.once('close', resolve));
  const [formatted, problem] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await exited) !== 0) throw new Error(`The formatter refused the generated code:\n${problem}`);
  return formatted;
}
