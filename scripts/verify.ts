/**
 * `npm test`: all checks that must pass before a change is merged. Continues after a failure, so that one run reports
 * all of them. The last line counts each test, and each other step as one; skipped tests have a line before it.
 */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { spawn } from 'cross-spawn';
import { TSC_7 } from '../test/helpers/typescript.ts';

type Step = readonly [name: string, command: readonly string[]];

/** One after the other, beside the build and the tests: they need only the sources. */
const SOURCE_STEPS: readonly Step[] = [
  ['format, lint and import rules (biome)', ['biome', 'check', '--error-on-warnings', '.']],
  ['types (tsc)', [TSC_7, '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/verify.tsbuildinfo']],
  ['types of the control panel (tsc)', [TSC_7, '-p', 'src/mock-server/panel/browser']],
  ['English of documents and help (prose)', ['tsx', 'scripts/lint-prose.ts']],
  ['no dead files, exports or dependencies (knip)', ['knip']],
  ['docstrings of the API reference (typedoc)', ['typedoc', '--emit', 'none']],
];
/** The tests and the demo use the package. */
const BUILD: Step = ['build (tsup)', ['tsup', '--silent']];
const DEMO: Step = ['demo', ['tsx', 'scripts/demo.ts']];

if (process.argv.length > 2) {
  process.stderr.write(
    'npm test runs everything and has no arguments; to run some tests: npm run test:unit -- test/client\n',
  );
  process.exit(2);
}

/** The results of steps that end while vitest writes to the terminal. */
const laterLines: string[] = [];
let isTesting = false;

const ofSources = runSteps(SOURCE_STEPS);
const built = await runStep(BUILD);
isTesting = true;
const demo = runStep(DEMO);
const tests = await runTests();
isTesting = false;
for (const line of laterLines) print(line);
const steps = [built, await demo, ...(await ofSources)];
const failed = tests.failed + steps.filter((isGood) => !isGood).length;
process.exitCode = failed === 0 ? 0 : 1;
if (tests.skipped > 0) print(`\n${tests.skipped} skipped`);
print(`\n${tests.passed + steps.filter(Boolean).length} passed, ${failed} failed`);

async function runSteps(steps: readonly Step[]): Promise<readonly boolean[]> {
  const results: boolean[] = [];
  for (const step of steps) results.push(await runStep(step));
  return results;
}

/** Whether it succeeded. */
async function runStep([name, [tool = '', ...rest]]: Step): Promise<boolean> {
  const startedAt = performance.now();
  const child = spawn(binary(tool), rest, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | string>((resolve) => {
    child.on('error', ({ message }) => resolve(message));
    child.on('close', (code, signal) => resolve(code ?? String(signal)));
  });
  const [status, ...outputs] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const isGood = status === 0;
  print(`${isGood ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (!isGood) print([...outputs, typeof status === 'string' ? status : ''].filter(Boolean).join('\n'));
  return isGood;
}

/** Runs the tests, prints their output, and reads the counts from vitest's report. */
async function runTests(): Promise<{ readonly passed: number; readonly failed: number; readonly skipped: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-verify-'));
  const report = join(folder, 'report.json');
  const args = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const [status] = await once(spawn(binary('vitest'), args, { stdio: ['ignore', 'inherit', 'inherit'] }), 'exit');
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(readFileSync(report, 'utf8'));
    // A failure that no test has, such as an unhandled rejection, counts as one.
    const failed = numFailedTests === 0 && status !== 0 ? 1 : numFailedTests;
    return { passed: numPassedTests, failed, skipped: numPendingTests + numTodoTests };
  } catch (error) {
    print(`FAIL tests: vitest left no report (${String(error)})`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The path of a tool that this project installs; an absolute path is returned as it is. */
function binary(name: string): string {
  return resolve(import.meta.dirname, '../node_modules/.bin', name);
}

function print(text: string): void {
  if (isTesting) laterLines.push(text);
  else process.stdout.write(`${text}\n`);
}
