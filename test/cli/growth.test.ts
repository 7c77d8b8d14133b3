import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCli } from '../helpers/cli-io.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const folder = temporaryFolder();

// Calls of an inlined function are not counted, and when V8 inlines one depends on the machine.
for (const flag of ['--no-opt', '--no-maglev']) setFlagsFromString(flag);

/**
 * Counts how often the blocks of code in `src` run: a function, the body of a loop, a branch. Unlike a duration, the count
 * is the same on every machine.
 */
class StepCounter {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await this.#taken();
  }

  async stepsOf(work: () => Promise<unknown>): Promise<number> {
    await work();
    return this.#taken();
  }

  stop(): void {
    this.#session.disconnect();
  }

  /** The counts since the last time. */
  async #taken(): Promise<number> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const functions = result.flatMap((script) => (script.url.includes('/src/') ? script.functions : []));
    return functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0);
  }
}

const counter = new StepCounter();
beforeAll(() => counter.start());
afterAll(() => counter.stop());

/** Twice the input is at most so many times the work: 2 for a linear effort, 4 for a quadratic one. */
const LINEAR = 2.5;
const SIZE = 150;

/** Answers of a size that grows with `n`. */
const SHAPES: Readonly<Record<string, (n: number) => string>> = {
  'deep and wide': (n) => `${'{"a":'.repeat(n)}[${'1,'.repeat(n)}1]${'}'.repeat(n)}`,
  wide: (n) => `{${Array.from({ length: n }, (_, at) => `"N${at}":${at}.5`).join(',')}}`,
  rows: (n) => `[${Array.from({ length: n }, (_, at) => `{"base":"USD","at":${at}}`).join(',')}]`,
  'one name, repeated': (n) => `{${Array.from({ length: n }, (_, at) => `"a":${at}`).join(',')}}`,
  'a long text': (n) => `{"a":"${'x y \\u001b\\n'.repeat(n * 10)}"}`,
  'many digits': (n) => `{"a":${'7'.repeat(n * 10)}.${'3'.repeat(n * 10)}}`,
};

/** Steps and characters of output. */
async function effort(line: string, text: string): Promise<{ readonly steps: number; readonly output: number }> {
  const replies = { body: `{"success":true,"data":${text}}` };
  const env = { HOME: folder, FXRATES_SHARE_LIMIT: 'off' };
  let output = 0;
  const steps = await counter.stepsOf(async () => {
    const { code, stdout, stderr } = await runCli(line, { replies, env, tty: ['stdout', 'stderr'] });
    expect([0, 10]).toContain(code);
    output = stdout.length + stderr.length;
  });
  return { steps, output };
}

test.each(['-o table', '-o json', '-o csv', '-o tsv', '--get a'])(
  'latest %s takes steps in proportion to the answer',
  async (options) => {
    const line = `latest ${options}`;
    await effort(line, '{}'); // loads what the line needs
    const base = await effort(line, '{}');
    for (const [shape, textOf] of Object.entries(SHAPES)) {
      const once = await effort(line, textOf(SIZE));
      const twice = await effort(line, textOf(2 * SIZE));

      const most = LINEAR * (once.steps - base.steps) + base.steps;
      expect(twice.steps - base.steps, `steps for ${shape}`).toBeLessThan(most);
      expect(twice.output, `output for ${shape}`).toBeLessThan(LINEAR * once.output + 4000);
    }
  },
);

const FILES: Readonly<Record<string, (n: number) => string>> = {
  'queries in a file': (n) => 'base=USD\n'.repeat(n),
  'one name in a line': (n) => `${'a=1 '.repeat(n)}\n`,
  'names in a line': (n) => `${Array.from({ length: n }, (_, at) => `a${at}=1`).join(' ')}\n`,
};

test.each(Object.entries(FILES))('batch takes twice the steps for twice the %s', async (name, textOf) => {
  const path = join(folder, 'queries.txt');
  const stepsFor = (n: number) => {
    writeFileSync(path, `${textOf(n)}broken\n`); // reported after the whole file is parsed, so nothing is sent
    return counter.stepsOf(async () => expect((await runCli(['batch', path])).code).toBe(2));
  };
  await stepsFor(1);

  const [base, once, twice] = [await stepsFor(1), await stepsFor(SIZE), await stepsFor(2 * SIZE)];

  expect(twice - base, name).toBeLessThan(LINEAR * (once - base) + base);
});
