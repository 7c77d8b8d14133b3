import { expect, test } from 'vitest';
import { main } from '../../../../src/cli/program/main.ts';
import { FakeIo, type FakeIoOptions, runCli, usageError } from '../../../helpers/cli-io.ts';
import { FakeClock, quiet } from '../../../helpers/fake-clock.ts';
import type { Reply } from '../../../helpers/fake-fetch.ts';
import {
  exhaustedQuota,
  failedFetch,
  failure,
  quotaRecord,
  rateLimited,
  success,
} from '../../../helpers/service-replies.ts';

const MINUTE = 60_000;
const refused = failedFetch('ECONNREFUSED');
/** More than enough quota, so that the snapshot interval applies. */
const rich = success(quotaRecord({ monthly_limit: 1_000_000 }));
const [AT, LATER] = ['2026-01-21T14:20:00.000Z', '2026-01-21T14:25:00.000Z'];

async function watch(line: string, options: FakeIoOptions = {}) {
  const { requests, ...result } = await runCli(`latest ${line}`, { quota: rich, ...options });
  const asked = requests.filter(({ url }) => url.includes('/latest'));
  return { ...result, requests, asked };
}

test('a pipe receives one JSON line per response, with digits as received', async () => {
  const body = (rate: string): Reply => ({ body: `{"success":true,"data":{ "rates": {"EUR":\n${rate}} }}` });
  const { code, stdout, stderr } = await watch('--watch 5m --count 2', { replies: [body('1.10'), body('1.20')] });
  const line = (time: string, rate: string) => `{"fetched_at":"${time}","data":{"rates":{"EUR":${rate}}}}\n`;

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(line(AT, '1.10') + line(LATER, '1.20'));
});

test('without an interval, the quota lasts until its reset', async () => {
  const clock = new FakeClock();
  const startedAt = clock.now();

  const { code } = await watch('--watch --count 3', { clock, quota: success(quotaRecord()) });

  expect(code).toBe(0);
  expect((clock.now() - startedAt) / 2 / 3_483_722).toBeCloseTo(1, 2); // 258 requests for 10 days 9 h 40 min
});

test.each([
  [
    '--watch 1m',
    8,
    'fxrates: --watch 1m would use up the monthly quota — 258 requests are left, enough for one every 58 min',
  ],
  ['base=USD -o csv --watch=1m --count 259', 8, 'fxrates: 259 responses would use up the monthly quota'],
])('%s is rejected before the first request if the quota would not last the month', async (line, exitCode, says) => {
  const { code, stdout, stderr, asked } = await watch(line, { quota: success(quotaRecord()) });

  expect({ code, stdout, asked }).toEqual({ code: exitCode, stdout: '', asked: [] });
  expect(stderr).toContain(says);
  expect(stderr).toContain('As often as the quota allows:  --watch without an interval and --count\n');
  expect(stderr).toContain('To continue anyway:  --force\n');
});

test.each(['--watch 1m --count 3', '--watch 1m --force --count 259'])('%s is accepted', async (line) => {
  expect((await watch(line, { quota: success(quotaRecord()) })).code).toBe(0);
});

test('an exhausted quota is rejected immediately, with the time of the reset', async () => {
  const { code, stderr } = await watch('--watch --json', { quota: success(exhaustedQuota()) });

  expect(code).toBe(8);
  expect(JSON.parse(stderr).error).toMatchObject({ code: 'quota_exhausted', resets_at: '2026-02-01T00:00:00.000Z' });
});

test.each([
  ['a failure', refused, '--retries 0', 'cannot reach api.example.test — ECONNREFUSED; no server listens on that port'],
  ['a wait longer than --max-wait', rateLimited('30'), '--max-wait 5s', 'rate limited — retry in 30 s'],
] as const)('%s after the first response is reported, and the next call follows', async (_, reply, option, says) => {
  const { code, stdout, stderr } = await watch(`--watch 5m --count 2 ${option}`, {
    replies: [success(), reply, success()],
  });

  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  expect(stderr).toContain(`fxrates: 15:25:00 ${says}`);
  expect(stderr).toMatch(/; next request in 5 min\n$/);
});

test('the time of the next request counts from the start of the last one, also if that took long', async () => {
  const clock = new FakeClock();
  const slow = async () => {
    await clock.sleep(20_000);
    return new Response('{"success":true,"data":{}}');
  };
  const late = async () => {
    await clock.sleep(20_000);
    throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  };
  const calls = [slow, late, slow];
  const fetch = (url: string) =>
    url.includes('/latest') ? (calls.shift() ?? slow)() : Promise.resolve(Response.json(rich.body));

  const { stdout, stderr } = await runCli('latest --watch 5m --count 2 --retries 0 -o table', { clock, fetch });

  expect(stdout).toContain('15:20:20 · next 15:25:00 (every 5 min');
  expect(stderr).toMatch(/^fxrates: 15:25:20 cannot reach .*; next request in 4 min 40 s$/m);
});

test('each wait of a watch for the limit may be as long as --max-wait', async () => {
  const replies = [success(), ...[1, 2, 3].flatMap(() => [rateLimited('4'), success()])];

  const { code, stdout, stderr } = await watch('--watch 5m --count 4 --max-wait 5s', { replies });

  expect(code).toBe(0);
  expect(stdout.trim().split('\n')).toHaveLength(4);
  expect(stderr.match(/rate limited, waiting 4 s/g)).toHaveLength(3);
});

test.each([
  ['the first failure', [refused, success()], 6],
  ['a refused key', [success(), failure(401)], 4],
  ['a wrong parameter', [success(), failure(400)], 9],
] as const)('%s ends it', async (_, replies, exitCode) => {
  expect((await watch('--watch 5m --count 3 --retries 0', { replies })).code).toBe(exitCode);
});

const EXACT: Reply = { body: '{"success":true,"data":{"rates":{"EUR":0.90}}}' };

test.each([
  ['--get rates.EUR', '0.90\n0.90\n'],
  ['-o tsv', `${AT}\trates.EUR\t0.90\n${LATER}\trates.EUR\t0.90\n`],
  ['-o csv', `fetched_at,name,value\n${AT},rates.EUR,0.90\n${LATER},rates.EUR,0.90\n`],
  ['-o csv --get rates.EUR', `fetched_at,rates.EUR\n${AT},0.90\n${LATER},0.90\n`],
])('a table of a watch has the time of each response, --get alone has not: %s', async (options, expected) => {
  expect((await watch(`--watch 5m --count 2 ${options}`, { replies: EXACT })).stdout).toBe(expected);
});

test('a terminal shows each response below the last, with its time and that of the next one', async () => {
  const replies = [success({ rates: { EUR: 1, GBP: 2 } }), success({ rates: { EUR: 1.5, GBP: 2 } })];

  const { stdout } = await watch('--watch 5m --count 2 --no-color', { replies, tty: ['stdout'] });

  expect(stdout).toBe(`rates
EUR  1    GBP  2

15:20:00 · next 15:25:00 (every 5 min, the interval of --watch) · Ctrl-C to stop

rates
EUR  1.5    GBP  2

15:25:00

`);
});

test('Ctrl-C during the pause exits with 130 and leaves no timer', async () => {
  const clock = new FakeClock();
  const io = new FakeIo({ clock, quota: rich, replies: success(), tty: ['stdout', 'stderr'] });
  const running = main(['latest', '--watch', '5m'], io);
  await quiet();
  await clock.advance(5 * MINUTE + 1000);

  io.interrupt('SIGINT');

  expect(await running).toBe(130);
  expect(await clock.left()).toBe(0);
  expect(io.written.stdout.endsWith('\n')).toBe(true);
  expect(io.written.stderr).toBe('');
  expect(io.written.stdout).not.toContain('\u001b[?25l');
});

test('the key of --key-stdin is read once', async () => {
  const options = { stdin: 'fx_live_x', env: { FXRATES_API_KEY: '' } };

  expect(await watch('--watch 5m --count 3 --key-stdin', options)).toMatchObject({ code: 0, asked: [{}, {}, {}] });
});

test.each([
  ['--watch 0', '--watch expects an interval from 1s'],
  ['--watch 999ms', '--watch expects an interval from 1s'],
  ['--watch base=USD', 'fxrates latest base=USD --watch'],
  ['--watch --count 0', '--count expects a whole number from 1'],
  ['--count 3', '--count requires --watch'],
  ['--force', '--force requires --watch'],
  ...['--cache 10m', '--fixture-out f', '--envelope'].map((option) => [
    `--watch ${option}`,
    `option '--watch [interval]' cannot be used with option '${option.split(' ')[0]}`,
  ]),
])('%s is a usage error, and nothing is sent', async (line, says) => {
  expect(await usageError(`latest ${line}`)).toContain(says);
});
