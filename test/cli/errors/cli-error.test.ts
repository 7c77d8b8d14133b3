import { expect, test } from 'vitest';
import { systemReason } from '../../../src/cli/errors/cli-error.ts';
import { runCli } from '../../helpers/cli-io.ts';

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
  const { code, stderr } = await runCli(['latest', '--timeout', 'x'.repeat(2000)]);

  expect(code).toBe(2);
  expect(stderr).toContain(`--timeout expects a duration, got '${'x'.repeat(60)}…' (2000 characters)`);
  expect(stderr.length).toBeLessThan(300);
});
