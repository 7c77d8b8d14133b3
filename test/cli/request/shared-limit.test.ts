import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type FakeIoOptions, runCli } from '../../helpers/cli-io.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { rateLimited } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

let home: string;

beforeEach(() => {
  home = temporaryFolder();
});

const run = (line: string, { env, ...options }: FakeIoOptions = {}) =>
  runCli(line, { ...options, env: { HOME: home, ...env } });
const limits = () => join(home, '.local', 'state', 'fxrates', 'limits');

/** Ends with the second refusal, half a minute before the service accepts requests again. */
const refused = 'latest --max-wait 40s';
const refusal = rateLimited('30');

test('a command knows about the refusal of another command without a request', async () => {
  const first = await run(refused, { replies: refusal });
  const second = await run('latest --no-wait', { clock: new FakeClock(first.io.clock.now()) });

  expect([first.code, first.requests.length]).toEqual([7, 2]);
  expect([second.code, second.requests.length]).toEqual([7, 0]);
  expect(readdirSync(limits())).toHaveLength(1);
});

test.each([
  ['latest --no-wait', '59', 'latest', 59],
  ['latest --max-wait 5s', '59', 'latest --max-wait 5m', 59],
  ['doctor', '59', 'latest', 59],
  ['latest', '120', 'latest --max-wait 5m', 120],
])('after %s and Retry-After %s, %s waits %d s', async (line, retryAfter, next, seconds) => {
  const first = await run(line, { replies: rateLimited(retryAfter), quota: rateLimited(retryAfter) });
  const clock = new FakeClock(first.io.clock.now());
  const startedAt = clock.now();

  const second = await run(next, { clock });

  expect([second.code, second.requests.length]).toEqual([0, 1]);
  expect(second.stderr).toContain('rate limited, waiting');
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(seconds * 1000);
  expect(clock.now() - startedAt).toBeLessThan((seconds + 2) * 1000);
});

test('a Retry-After of a day from an earlier command can be ignored, as the error and doctor say', async () => {
  const first = await run('latest', { replies: rateLimited('86400') });
  const later = () => ({ clock: new FakeClock(first.io.clock.now()) });
  const held = await run('latest base=USD', later());
  const checked = await run('doctor --json', { ...later(), env: { FXRATES_CONFIG_DIR: home } });

  expect([first.code, first.requests.length]).toEqual([7, 1]);
  expect(first.stderr).not.toContain('FXRATES_SHARE_LIMIT');
  expect([held.code, held.requests.length]).toEqual([7, 0]);
  expect(held.stderr).toContain('  To send a request anyway:  export FXRATES_SHARE_LIMIT=off\n');
  const { checks } = JSON.parse(checked.stdout) as { checks: { name: string; status: string; next: string[] }[] };
  expect(
    checks.filter(({ status }) => status !== 'ok').map(({ name, status, next }) => [name, status, ...next]),
  ).toEqual([['service', 'warn', 'To send a request anyway:  export FXRATES_SHARE_LIMIT=off']]);
});

test.each([
  ['FXRATES_SHARE_LIMIT=off', { FXRATES_SHARE_LIMIT: 'off' }, '{}'],
  ['share_limit in config.json', {}, '{"share_limit":"off"}'],
  ['a service on this machine', { FXRATES_BASE_URL: 'http://127.0.0.1:4010' }, '{}'],
])('%s: each command learns the limit separately', async (_, env, config) => {
  writeFileSync(join(home, 'config.json'), config);
  const options = { env: { FXRATES_CONFIG_DIR: home, ...env } };
  const first = await run(refused, { ...options, replies: refusal });

  const second = await run('latest --no-wait', { ...options, clock: new FakeClock(first.io.clock.now()) });

  expect([second.code, second.requests.length]).toEqual([0, 1]);
  expect(existsSync(limits())).toBe(false);
});

test('the folder is in XDG_STATE_HOME if that is set, for a batch, too', async () => {
  for (const line of ['latest', 'batch --each n=1']) {
    const state = join(home, line);

    await run(line, { env: { XDG_STATE_HOME: state } });

    expect(readdirSync(join(state, 'fxrates', 'limits'))).toHaveLength(1);
  }
  expect(existsSync(limits())).toBe(false);
});

test.each(['latest', 'latest -v'])('%s warns once of a folder that cannot be used', async (line) => {
  writeFileSync(join(home, '.local'), 'a file');

  const { code, stderr } = await run(line);

  expect(code).toBe(0);
  expect(
    stderr.match(/^fxrates: other commands do not see the requests of this one \(ENOTDIR.*SHARE_LIMIT=off$/gm),
  ).toHaveLength(1);
});

test('a home folder that does not exist is not created', async () => {
  const { code, stderr } = await run('latest', { env: { HOME: join(home, 'nobody') } });

  expect([code, stderr]).toEqual([0, '']);
  expect(readdirSync(home)).toEqual([]);
});
