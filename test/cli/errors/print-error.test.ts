import { expect, test } from 'vitest';
import { CliError, relatedCommand, systemReason } from '../../../src/cli/errors/cli-error.ts';
import { crashReport } from '../../../src/cli/errors/crash-report.ts';
import { printError } from '../../../src/cli/errors/print-error.ts';
import { Interrupted, WriteFailure } from '../../../src/cli/io/io.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import { FakeIo, type FakeIoOptions, runCli, usageError } from '../../helpers/cli-io.ts';

const NO_SETTINGS = { FXRATES_BASE_URL: undefined, FXRATES_API_KEY: undefined };

test.each([
  ['a wide terminal', { tty: ['stderr' as const], columns: 100 }],
  ['a narrow terminal', { tty: ['stderr' as const], columns: 40 }],
  ['a log', { columns: 40 }],
])('on %s, a command is beside its label', async (_, options) => {
  const { stderr } = await runCli('quota', { env: NO_SETTINGS, ...options });

  expect(stderr).toContain('  Store it:    fxrates auth login --base-url https://…\n');
});

type Printed = FakeIoOptions & { readonly output?: 'auto' | 'json'; readonly verbose?: number };

/** What is written to stderr for an error, and the exit code. */
async function printed(error: unknown, { output = 'auto', verbose = 0, ...options }: Printed = {}) {
  const io = new FakeIo(options);
  const screen = new Screen(io, { color: 'never', quiet: 0, output, verbose });
  const code = await printError(error, screen);
  return { code, stderr: io.written.stderr };
}

const writeFailure = (code: string) => new WriteFailure(Object.assign(new Error(`write ${code}`), { code }));

test.each([
  [new Interrupted('SIGINT'), 130],
  [new Interrupted('SIGQUIT'), 131],
  [new Interrupted('SIGTERM'), 143],
  [new Interrupted('SIGHUP'), 129],
  [writeFailure('EPIPE'), 0],
])('an interruption or a closed pipe is no message: %s', async (error, code) => {
  expect(await printed(error, { verbose: 2 })).toEqual({ code, stderr: '' });
});

test.each([
  [writeFailure('ENOSPC'), 'cannot write the output — no space left on the device (ENOSPC)'],
  [writeFailure('EIO'), 'cannot write the output — write EIO'],
  [Object.assign(new Error('boom'), { code: 'EPIPE' }), 'unexpected failure — boom'],
  ['a text', 'unexpected failure — a text'],
])('%s is reported as: %s', async (error, message) => {
  const { code, stderr } = await printed(error);

  expect(code).toBe(1);
  expect(stderr).toMatch(/^fxrates: .*\n/);
  expect(stderr.split('\n')[0]).toBe(`fxrates: ${message}`);
  expect(stderr.includes('This is a bug of fxrates.')).toBe(message.startsWith('unexpected'));
});

test('as JSON, an error has its known fields and no others', async () => {
  const options = { code: 'no_key' } as const;
  const facts = { status: 429, cause_code: 'rate_limited', retry_after_seconds: 7, resets_at: '2026-02-01' };
  const full = new CliError('what', { ...options, facts, why: 'why', hints: ['one', 'two'] });

  const [bare, all] = [new CliError('what', options), full].map((error) => printed(error, { output: 'json' }));

  expect(JSON.parse((await bare)!.stderr)).toEqual({ error: { code: 'no_key', message: 'what', exit_code: 4 } });
  expect(JSON.parse((await all)!.stderr)).toEqual({
    error: {
      code: 'no_key',
      message: 'what — why',
      status: 429,
      cause_code: 'rate_limited',
      retry_after_seconds: 7,
      resets_at: '2026-02-01',
      hint: 'one\ntwo',
      exit_code: 4,
    },
  });
});

test('only -vv shows the stack, with those of the causes', async () => {
  const error = new CliError('what', { code: 'command', cause: new TypeError('below') });

  const [once, twice] = [await printed(error, { verbose: 1 }), await printed(error, { verbose: 2 })];

  expect(once.stderr).toBe('fxrates: what\n');
  expect(twice.stderr).toMatch(/^fxrates: what\nCliError: what\n +at [\s\S]*\nCaused by: TypeError: below\n +at /);
  expect(twice.stderr.match(/Caused by/g)).toHaveLength(1);
  expect((await printed('a text', { verbose: 2 })).stderr).not.toContain('Caused by');
});

test.each([
  [
    'Set the clock of this machine right, then try again.',
    '\n  Set the clock of this machine right,\n  then try again.\n',
  ],
  [
    'fxrates latest base=USD symbols=EUR,GBP,JPY,CHF --cache 10m',
    '\n  fxrates latest base=USD symbols=EUR,GBP,JPY,CHF --cache 10m\n',
  ],
])('on a narrow terminal, a hint is broken at words if it is a sentence, and no command: %s', async (hint, shown) => {
  const error = new CliError('what', { code: 'command', hints: [hint] });

  expect((await printed(error, { tty: ['stderr'], columns: 40 })).stderr).toBe(`fxrates: what\n${shown}`);
});

test('a long message is broken at words on a terminal only', async () => {
  const error = new CliError('cannot read the file', { code: 'command', why: 'the disk is full of words' });

  const [terminal, log] = [await printed(error, { tty: ['stderr'], columns: 40 }), await printed(error)];

  expect(
    terminal.stderr
      .trimEnd()
      .split('\n')
      .every((line) => line.length <= 40),
  ).toBe(true);
  expect(terminal.stderr.trimEnd().replaceAll('\n', ' ').replace(/ +/g, ' ')).toBe(log.stderr.trimEnd());
});

const REPORT_IT = 'This is a bug of fxrates. Please report it with the output of the same command with -vv.';
const withCode = (code: string) => Object.assign(new Error('boom'), { code });

test.each([
  [new Error('boom\n- /a/file'), 'boom', REPORT_IT],
  ['a text', 'a text', REPORT_IT],
  [undefined, 'undefined', REPORT_IT],
  [withCode('EMFILE'), 'boom', 'The limit on open files is too low. Raise it:  ulimit -n 256'],
  [withCode('ENFILE'), 'boom', 'The system has too many files open.'],
  [withCode('EAGAIN'), 'boom', 'The system refuses a resource at the moment, such as one more process.'],
  [withCode('ENOMEM'), 'boom', 'The system has no memory left.'],
  [withCode('ERR_ACCESS_DENIED'), 'boom', expect.stringContaining('Node.js runs with --permission.')],
  [withCode('MODULE_NOT_FOUND'), 'boom', expect.stringContaining('A file of fxrates is missing.')],
  [withCode('toString'), 'boom', REPORT_IT],
])('the report of %s has its first line and the next step, in a command and outside', async (error, what, nextStep) => {
  const report = crashReport(error, [], {});
  const [headline, empty, step, end] = report.split('\n');

  expect([headline, empty, end]).toEqual([`fxrates: unexpected failure — ${what}`, '', '']);
  expect(step?.trim()).toEqual(nextStep);
  expect((await printed(error)).stderr).toBe(report);
});

test.each([
  ['quota --json', {}],
  ['quota -o json', {}],
  ['--output=json quota', {}],
  ['quota', { FXRATES_OUTPUT: 'json' }],
])('the report of %s is one line of JSON with %j', (line, env) => {
  const report = crashReport(new Error('boom\nmore'), line.split(' '), env);

  expect(report.endsWith('}\n')).toBe(true);
  expect(JSON.parse(report)).toEqual({
    error: { code: 'internal', message: 'unexpected failure — boom', exit_code: 1 },
  });
});

test.each([
  [['quota'], {}, false],
  [['quota', '-v'], {}, false],
  [['quota', '-vv'], {}, true],
  [['quota'], { FXRATES_DEBUG: '2' }, true],
  [['quota', '-vv', '--json'], {}, true],
])('the report for %j with %j has the stack: %s', (argv, env, hasStack) => {
  const report = crashReport(new Error('boom'), argv, env);

  expect(report.includes('    at ')).toBe(hasStack);
  expect(crashReport('a text', argv, env)).not.toContain('undefined');
});

test.each([
  ['ENOENT', 'the file does not exist'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['ENOSPC', 'no space left on the device'],
  ['EIO', 'words of the system'],
])('%s means that %s', (code, reason) => {
  expect(systemReason({ code, message: 'words of the system' })).toBe(reason);
});

test('a long value is shortened in a usage error', async () => {
  const stderr = await usageError(['latest', '--timeout', 'x'.repeat(2000)]);

  expect(stderr).toContain(`--timeout expects a duration, got '${'x'.repeat(60)}…' (2000 characters)`);
  expect(stderr.length).toBeLessThan(300);
});

test.each([
  [{}, 'fxrates quota'],
  [{ profile: 'work' }, 'fxrates quota --profile work'],
  [{ baseUrl: 'http://x.test', insecureHttp: true }, 'fxrates quota --base-url http://x.test --insecure-http'],
  [{ keyFile: 'a b.txt', keyStdin: true }, "fxrates quota --key-file 'a b.txt' --key-stdin < key.txt"],
])('with the options %j, the command for the quota is %s', (options, expected) => {
  expect(relatedCommand(['quota'], options)).toBe(expected);
});
