import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';
import { quotaRecord, success } from '../../helpers/service-replies.ts';

const folder = mkdtempSync(join(tmpdir(), 'fxrates-pipe-'));
const env = { FXRATES_CONFIG_DIR: folder, HOME: folder };
const replies = success(quotaRecord());

test.each([
  ...['latest', 'latest --envelope', 'latest --shape', 'latest --get plan --get rates --json', 'quota', 'api /x'],
  ...[
    'quota --no-forecast',
    'auth status --json',
    'doctor --json',
    'cache info',
    'config list',
    'version',
    'latest --dry-run',
  ],
])('%s in a pipe is JSON', async (line) => {
  const options = { env, replies: line.includes('rates') ? success({ plan: 'free', rates: {} }) : replies };

  const { code, stdout, stderr } = await runCli(line, options);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toBeTypeOf('object');
  expect(stdout).not.toContain('\u001b');
});

test.each(['latest', 'quota', 'auth status', 'doctor', 'cache info', 'version'])(
  '%s on a terminal is text for people, and -o table is the same in a pipe',
  async (line) => {
    const onTerminal = await runCli(line, { env, replies, tty: ['stdout'], columns: 80 });
    const inPipe = await runCli(`${line} -o table`, { env, replies });
    const plain = await runCli(`${line} --no-color`, { env, replies, tty: ['stdout'], columns: 80 });

    expect(() => JSON.parse(onTerminal.stdout)).toThrow(SyntaxError);
    expect(inPipe.stdout).toBe(plain.stdout);
  },
);

test.each(['auth status', 'doctor'])('%s is text in the log of a CI job, too', async (line) => {
  const { stdout } = await runCli(line, { env: { ...env, CI: 'true' }, replies });

  expect(stdout).toBe((await runCli(`${line} -o table`, { env, replies })).stdout);
  expect(stdout).toMatch(/^(?:ok {4}base URL|Base URL) +https:/m);
  expect(JSON.parse((await runCli(line, { env: { ...env, FXRATES_OUTPUT: 'json' }, replies })).stdout)).toBeTypeOf(
    'object',
  );
});
