import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import type { Env } from '../io.ts';
import { cacheFolder, pathIn } from './folders.ts';

/** Each version of Node.js, and each place where fxrates is installed, such as a project, adds about a hundred files. */
const MOST_FILES = 1_000;

/** `compileCache` of `node:module`, as far as this version of Node.js has it (22.1 and later). */
interface CompileCache {
  readonly enableCompileCache?: (folder: string) => unknown;
}

/**
 * Makes Node.js store compiled code in the user's own folder, because others can write to the default, which is the
 * folder for temporary files. If that is not possible, each start compiles the code again.
 */
export function useCompileCache(env: Env, node: CompileCache = module as CompileCache): void {
  const parent = cacheFolder(env);
  const folder = compileCacheFolder(env);
  if (node.enableCompileCache === undefined || parent === undefined || folder === undefined) return;
  try {
    // Not `recursive`, which never returns for a path below `/proc`, and creates a home folder that is not there.
    for (const path of [dirname(parent), parent]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    if (fileCount(folder) > MOST_FILES) clearCompileCache(env);
    node.enableCompileCache(folder);
  } catch {
    // The cache is not worth an error.
  }
}

/** Not by `recursive`, which takes several milliseconds at each start. */
function fileCount(folder: string): number {
  const versions = existsSync(folder) ? readdirSync(folder) : [];
  return versions.reduce((count, version) => count + readdirSync(join(folder, version)).length, 0);
}

function compileCacheFolder(env: Env): string | undefined {
  return pathIn(cacheFolder(env), 'compiled');
}

/** Removes all compiled code; returns the number and the bytes of its files. */
export function clearCompileCache(env: Env): { readonly files: number; readonly bytes: number } {
  const folder = compileCacheFolder(env);
  const size = compileCacheSize(env);
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return size;
}

export function compileCacheSize(env: Env): { readonly files: number; readonly bytes: number } {
  const folder = compileCacheFolder(env);
  if (folder === undefined || !existsSync(folder)) return { files: 0, bytes: 0 };
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = entries.map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return { files: bytes.length, bytes: bytes.reduce((sum, size) => sum + size, 0) };
}
