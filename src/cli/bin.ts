#!/usr/bin/env node
import { VERSION } from '../version.ts';
import { crashReport } from './errors/crash-report.ts';
import { writeWhole } from './io/write-whole.ts';
import { useCompileCache } from './settings/folders.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const argv = process.argv.slice(2);
const isVersion = argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V');

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`fxrates needs Node.js 20.19 or later, this is ${process.versions.node}\n`);
  process.exitCode = 1;
} else if (!isVersion || !writeToStdout(`${VERSION}\n`)) {
  // If stdout fails, the command is run to report that.
  (argv[0] === '__complete' ? complete() : start()).catch(crash);
}

/** Imports everything else here and not above, so that the compile cache, if Node.js has one, includes it. */
async function start(): Promise<void> {
  process.title = 'fxrates'; // hides the arguments from other users: a key may have been typed there by mistake
  process.exitCode = 1; // stays when the event loop runs dry before the command ends
  process.on('uncaughtException', crash);
  useCompileCache(process.env);
  const env = { ...process.env };
  // Node.js would warn on stderr that it ignores NO_COLOR; here NO_COLOR wins, and a child still gets both.
  if (env['NO_COLOR']) delete process.env['FORCE_COLOR'];
  const { runOnNode } = await import('./program/main.ts');
  process.exitCode = await runOnNode(argv, env);
}

/** False if it could not be written. */
function writeToStdout(text: string): boolean {
  try {
    const rest = writeWhole(1, text);
    if (rest.length > 0) process.stdout.write(rest);
    return true;
  } catch {
    return false;
  }
}

/** Runs at each press of the TAB key, so it loads as little as it can. */
async function complete(): Promise<void> {
  useCompileCache(process.env);
  const { completionText } = await import('./program/main.ts');
  writeToStdout(await completionText(argv.slice(1), process.env));
}

/** Loads no module, because the error can be that a module is missing, such as after an upgrade during a `--watch`. */
function crash(error: unknown): void {
  process.stderr.write(crashReport(error, argv, process.env), () => process.exit(1));
}
