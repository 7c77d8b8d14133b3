#!/usr/bin/env node
import module from 'node:module';
import { VERSION } from '../version.ts';
import { crashReport } from './errors/crash-report.ts';

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
  // Else V8 optimises the HTTP parser of fetch at its first use, and the process cannot end before that is done. Later
  // versions do not wait. Other architectures may need the optimiser for code that their baseline cannot compile.
  if (major === 20 && ['x64', 'arm64'].includes(process.arch)) {
    const { setFlagsFromString } = await import('node:v8');
    setFlagsFromString('--liftoff-only');
  }
  const env = { ...process.env };
  // Node.js would warn on stderr that it ignores NO_COLOR; here NO_COLOR wins, and a child still gets both.
  if (env['NO_COLOR']) delete process.env['FORCE_COLOR'];
  const { runOnNode } = await import('./node-io.ts');
  process.exitCode = await runOnNode(argv, env);
}

/** Node.js 22.1 and later have one. */
function enableCompileCache(): void {
  (module as { readonly enableCompileCache?: () => void }).enableCompileCache?.();
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
