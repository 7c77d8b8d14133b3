import { expect, test } from 'vitest';
import { CliError, fileError, storageError, systemReason } from '../../../src/cli/errors/cli-error.ts';
import { runCli } from '../../helpers/cli-io.ts';

test.each([
  ['ENOENT', 'the file does not exist'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['ENOSPC', 'no space left on the device'],
])('%s means that %s', (code, reason) => {
  expect(systemReason({ code, message: 'other words' })).toBe(reason);
});

test('a system error without a known code has the message of the system', () => {
  expect(systemReason({ code: 'EIO', message: 'i/o error' })).toBe('i/o error');
  expect(systemReason({ message: 'broken' })).toBe('broken');
  expect(systemReason({})).toBe('unknown reason');
});

test('an error has its reason in the message, and its cause only if there is one', () => {
  const cause = new Error('below');
  const options = { code: 'any', exitCode: 1 } as const;

  expect(new CliError('what', options)).toMatchObject({ name: 'CliError', message: 'what', details: options });
  expect(Object.hasOwn(new CliError('what', options), 'cause')).toBe(false);
  expect(new CliError('what', { ...options, why: 'why', cause })).toMatchObject({ message: 'what — why', cause });
});

test('an error of a file names the reason; one of a file of fxrates also another folder', () => {
  const cause = Object.assign(new Error('ENOENT: open'), { code: 'ENOENT' });

  expect(fileError("cannot read 'a'", cause)).toMatchObject({
    details: { code: 'file', exitCode: 1 },
    message: "cannot read 'a' — the file does not exist",
    cause,
  });
  expect(storageError('cannot read config.json', 'why', { cause })).toMatchObject({
    details: { code: 'storage', hints: [expect.stringContaining('export FXRATES_CONFIG_DIR=')] },
    message: 'cannot read config.json — why',
    cause,
  });
});

test('a long value is shortened in a usage error', async () => {
  const { code, stderr } = await runCli(['latest', '--timeout', 'x'.repeat(2000)]);

  expect(code).toBe(2);
  expect(stderr).toContain(`--timeout expects a duration, got '${'x'.repeat(60)}…' (2000 characters)`);
  expect(stderr.length).toBeLessThan(300);
});
