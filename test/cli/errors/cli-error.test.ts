import { expect, test } from 'vitest';
import { changedCommand, relatedCommand, systemReason } from '../../../src/cli/errors/cli-error.ts';
import { usageError } from '../../helpers/cli-io.ts';

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

const words = (line: string) => line.split(' ').filter((word) => word !== '');

test.each([
  ['latest', 'fxrates latest --max-wait 2m'],
  ['latest --no-wait -o csv --get rates.EUR', 'fxrates latest -o csv --get rates.EUR --max-wait 2m'],
  ['--max-wait 5s latest --max-wait=1s', 'fxrates latest --max-wait 2m'],
  ['latest --max-wait 5s -- base=USD', 'fxrates latest --max-wait 2m -- base=USD'],
  ['latest --max-waiting -- --no-wait', 'fxrates latest --max-waiting --max-wait 2m -- --no-wait'],
])('%s with another --max-wait is %s', (line, expected) => {
  const change = { without: ['--max-wait=', '--no-wait'], add: ['--max-wait', '2m'] };

  expect(changedCommand(words(line), change)).toBe(expected);
});

test('an option without its optional value is removed alone', () => {
  expect(changedCommand(words('latest --watch -o csv'), { without: ['--watch='] })).toBe('fxrates latest -o csv');
});

test.each([
  ['latest', 'fxrates quota'],
  ['latest base=USD --profile work -o csv', 'fxrates quota --profile work'],
  ['--base-url=http://x.test --insecure-http latest', 'fxrates quota --base-url=http://x.test --insecure-http'],
  ['latest --key-file a.txt --key-stdin', 'fxrates quota --key-file a.txt --key-stdin'],
  ['mock -- curl --profile work', 'fxrates quota'],
])('the quota of the service of %s is %s', (line, expected) => {
  expect(relatedCommand(['quota'], words(line))).toBe(expected);
});
