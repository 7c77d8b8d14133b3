#!/usr/bin/env node
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { VERSION } from '../version.ts';
import { crashReport } from './errors/crash-report.ts';
import { cacheFolder } from './storage/folders.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const argv = process.argv.slice(2);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`fxrates needs Node.js 20.19 or later, this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${VERSION}\n`);
} else {
  (argv[0] === '__complete' ? complete() : start()).catch(crash);
}

/** Imports everything else here and not above, so that the compile cache, if Node.js has one, includes it. */
async function start(): Promise<void> {
  process.title = 'fxrates'; // hides the arguments from other users: a key may have been typed there by mistake
  process.exitCode = 1; // stays when the event loop runs dry before the command ends
  process.on('uncaughtException', crash);
  enableCompileCache();
  const env = { ...process.env };
  // Node.js would warn on stderr that it ignores NO_COLOR; here NO_COLOR wins, and a child still gets both.
  if (env['NO_COLOR']) delete process.env['FORCE_COLOR'];
  const { runOnNode } = await import('./node-io.ts');
  process.exitCode = await runOnNode(argv, env);
}

/**
 * Node.js 22.1 and later have one. It is put into the user's own folder: others may write into that for temporary files.
 * Without such a folder, or one that cannot be written, each start compiles anew.
 */
function enableCompileCache(): void {
  const { enableCompileCache: enable } = module as { readonly enableCompileCache?: (folder: string) => unknown };
  const folder = cacheFolder(process.env);
  if (enable === undefined || folder === undefined) return;
  try {
    // Not `recursive`, which never returns for a path below `/proc`, and creates a home folder that is not there.
    for (const path of [dirname(folder), folder]) if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    enable(join(folder, 'compiled'));
  } catch {
    // The cache is not worth an error.
  }
}

/** Runs at each press of the TAB key, so it loads as little as it can. */
async function complete(): Promise<void> {
  enableCompileCache();
  const { completionText } = await import('./commands/completion/complete.ts');
  process.stdout.write(await completionText(argv.slice(1), process.env));
}

/** Loads nothing: the failure may be that of loading, as after an upgrade under a running `--watch`. */
function crash(error: unknown): void {
  process.stderr.write(crashReport(error, argv, process.env), () => process.exit(1));
}
