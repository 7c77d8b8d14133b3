import { expect, test } from 'vitest';
import { crashReport } from '../../../src/cli/errors/crash-report.ts';

const REPORT_IT = 'This is a bug of fxrates. Please report it with the output of the same command with -vv.';
const withCode = (code: string) => Object.assign(new Error('boom'), { code });

test.each([
  [new Error('boom\n- /a/file'), 'boom', REPORT_IT],
  ['a text', 'a text', REPORT_IT],
  [undefined, 'undefined', REPORT_IT],
  [withCode('EMFILE'), 'boom', 'The limit on open files is too low. Raise it:  ulimit -n 256'],
  [withCode('ENFILE'), 'boom', 'The system has too many files open.'],
  [withCode('MODULE_NOT_FOUND'), 'boom', expect.stringContaining('A file of fxrates is missing.')],
  [withCode('toString'), 'boom', expect.anything()],
])('the report of %s has its first line and the next step', (error, what, nextStep) => {
  const [headline, empty, step, end] = crashReport(error, [], {}).split('\n');

  expect([headline, empty, end]).toEqual([`fxrates: unexpected failure — ${what}`, '', '']);
  expect(step?.trim()).toEqual(nextStep);
});

test('with --json the report is one line of JSON', () => {
  const report = crashReport(new Error('boom\nmore'), ['quota', '--json'], {});

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
