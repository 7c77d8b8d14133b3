import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type FakeIoOptions, runCli } from '../../helpers/cli-io.ts';
import { FakeClock, quiet } from '../../helpers/fake-clock.ts';
import { API_KEY, quotaRecord, success } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { until } from '../../helpers/until.ts';

let home = '';
const clock = new FakeClock();
beforeEach(() => {
  home = temporaryFolder();
});

/** The store is written after the response is printed, as at the end of a process. */
async function run(line: string, options: FakeIoOptions = {}) {
  const result = await runCli(line, {
    clock,
    horizonMs: 100,
    quota: success(quotaRecord()),
    ...options,
    env: { HOME: home, ...options.env },
  });
  await settled();
  return result;
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) {
    await quiet();
    const names = await readdir(folder()).catch((): string[] => []);
    if (names.some((name) => name.endsWith('.json')) && !names.some((name) => name.endsWith('.tmp'))) return;
  }
}

const folder = () => join(home, '.cache', 'fxrates');
const entries = async () => (await readdir(folder())).filter((name) => name.endsWith('.json'));
const rates = (rate: number) => success({ rates: { EUR: rate } });

test('a response within the maximum age is reused byte for byte, with its age on stderr', async () => {
  const body = '{"success":true,"data":{"EUR": 1.10}}';
  await run('latest', { replies: rates(1) });
  expect(await readdir(home)).not.toContain('.cache');
  await run('latest --cache 10m', { replies: { body } });
  // A second process: its clients share nothing with those of the first but the files.
  const later = new FakeClock(clock.now() + 3 * 60_000);

  const { code, stdout, stderr, requests } = await run('latest --cache 10m', { clock: later });

  expect({ code, stdout, requests }).toEqual({ code: 0, stdout: '{"EUR": 1.10}\n', requests: [] });
  expect(stderr).toBe('fxrates: cached response, 3 min old\n');
});

test('a terminal shows the cost of a response, and none of a cached one', async () => {
  const tty = ['stdout', 'stderr'] as const;

  expect((await run('latest --cache 10m', { replies: rates(1), tty })).stderr).toContain('used 1 of your monthly');
  expect((await run('latest --cache 10m', { tty })).stderr).not.toContain('used 1');
});

test('an older response is not reused', async () => {
  await run('latest --cache 10m', { replies: rates(1) });
  await clock.advance(11 * 60_000);
  expect((await run('latest --cache 10m', { replies: rates(2) })).stdout).toContain('2');
});

test('--cache snapshot asks quota() and reuses the response of the same interval', async () => {
  await run('latest --cache snapshot', { replies: rates(1) });
  await clock.advance(4 * 60_000);
  const { stdout, requests } = await run('latest --cache snapshot', { replies: rates(2) });

  expect(stdout).toContain('1');
  expect(requests.filter(({ url }) => url.includes('latest'))).toEqual([]);
});

test('with --json, the age of a cached response is an event', async () => {
  await run('latest --cache 1m', { replies: rates(1) });
  await clock.advance(30_000);

  const { stderr, requests } = await run('latest --cache 1m --json');

  expect(requests).toEqual([]);
  expect(JSON.parse(stderr)).toEqual({ event: 'cached_response', age_seconds: 30 });
});

test.skipIf(process.platform === 'win32')('only the owner can read cached responses, which have no key', async () => {
  await run('latest --cache 10m', { replies: rates(1) });
  const [name = ''] = await entries();

  expect((await stat(folder())).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder(), name))).mode & 0o777).toBe(0o600);
  expect(name + (await readFile(join(folder(), name), 'utf8'))).not.toContain(API_KEY);
});

test.skipIf(process.platform === 'win32').each([
  ['cannot be written', () => writeFile(join(home, '.cache'), 'not a folder'), 'cache'],
  [
    'others can write',
    () => mkdir(folder(), { recursive: true }).then(() => chmod(folder(), 0o777)),
    'is writable by other users; run: chmod 700',
  ],
])('a folder that %s is not used, with a warning', async (_, make, says) => {
  await make();

  const { code, stdout, stderr } = await run('latest --cache 10m', { replies: rates(1) });

  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"rates":{"EUR":1}}\n' });
  expect(stderr).toContain(says);
  expect(await entries().catch(() => [])).toEqual([]);
});

test('responses older than thirty days are removed when a later one is stored', async () => {
  const daysAgo = (days: number) => clock.now() / 1000 - days * 86_400;
  const [kept, old] = ['1', '0'].map((digit) => `${digit.repeat(64)}.json`) as [string, string];
  await mkdir(folder(), { recursive: true });
  for (const [name, days] of [
    [kept, 29],
    [old, 31],
  ] as const) {
    await writeFile(join(folder(), name), '');
    await utimes(join(folder(), name), daysAgo(days), daysAgo(days));
  }

  await run('latest --cache 10m', { replies: rates(1) });
  await until(async () => !(await entries()).includes(old));

  expect(await entries()).toContain(kept);
});

test('without a home folder, --cache warns and sends the request', async () => {
  expect(await run('latest --cache 10m', { env: { HOME: undefined } })).toMatchObject({
    code: 0,
    requests: [{}],
    stderr:
      'fxrates: cache: no folder, because HOME and XDG_CACHE_HOME are not set; requests are sent to the service\n',
  });
});
