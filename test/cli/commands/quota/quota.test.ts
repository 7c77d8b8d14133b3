import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { jsonLines, runCli, usageError } from '../../../helpers/cli-io.ts';
import { quotaRecord, success } from '../../../helpers/service-replies.ts';

const replies = success(quotaRecord());
const tty = ['stdout', 'stderr'] as const;

test('-o tsv prints a line per field, with the names of the service', async () => {
  const { code, stdout, stderr } = await runCli('quota -o tsv', { replies });

  expect(code).toBe(0);
  expect(stderr).toBe('');
  expect(stdout).toBe(`plan\tfree
monthly_used\t742
monthly_limit\t1000
rate_limit_per_minute\t30
snapshot_granularity\t5min
historical_days\t90
resets_at\t2026-02-01T00:00:00.000Z
monthly_remaining\t258
forecast.basis\tperiod_average
forecast.period_start\t2026-01-01T00:00:00.000Z
forecast.elapsed_percent\t66.4
forecast.per_day\t36
forecast.used_at_reset\t1117
forecast.exhausts_at\t2026-01-28T18:13:02Z
forecast.safe_per_day\t24.8
forecast.min_interval_seconds\t3484
forecast.confidence\tok
`);
});

const SCREENS = [40, 80].flatMap((columns) => [
  { columns, charset: 'utf-8', env: { LANG: 'C.UTF-8' } },
  { columns, charset: 'ascii', env: { LANG: 'C' } },
]);

test.each(SCREENS)('on a terminal of $columns columns it is a table for people ($charset)', async (screen) => {
  const { columns, charset, env } = screen;
  const { stdout } = await runCli('quota --no-color', { replies, tty, columns, env });

  await expect(stdout).toMatchFileSnapshot(`quota-${columns}-${charset}.golden.txt`);
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(columns);
});

test.each([
  ['green', 799, '\u001b[32m█'],
  ['yellow', 800, '\u001b[33m█'],
  ['red', 1000, '\u001b[31m█'],
])('the bar is %s at %i of 1,000 requests', async (_, monthly_used, start) => {
  const { stdout } = await runCli('quota', { replies: success(quotaRecord({ monthly_used })), tty });

  expect(stdout).toContain(`[${start}`);
});

test.each(['quota', 'quota --json'])('%s in a pipe is the record as received, then the added fields', async (line) => {
  const body =
    '{"success":true,"data":{"plan":"free", "monthly_used":742,"monthly_limit":1000.0,"rate_limit_per_minute":30,"snapshot_granularity":"5min","historical_days":90,"resets_at":"2026-02-01T00:00:00.000Z","new":1.10 }}';

  const { stdout } = await runCli(line, { replies: { body } });

  expect(stdout).toBe(
    '{"plan":"free", "monthly_used":742,"monthly_limit":1000.0,"rate_limit_per_minute":30,"snapshot_granularity":"5min","historical_days":90,"resets_at":"2026-02-01T00:00:00.000Z","new":1.10,"monthly_remaining":258,"forecast":{"basis":"period_average","period_start":"2026-01-01T00:00:00.000Z","elapsed_percent":66.4,"per_day":36,"used_at_reset":1117,"exhausts_at":"2026-01-28T18:13:02Z","safe_per_day":24.8,"min_interval_seconds":3484,"confidence":"ok"}}\n',
  );
});

test.each([
  ['used up', { monthly_used: 1000 }, '1,000 of 1,000  [████████████████] 100.0 %', '0  (used up)', '0'],
  ['over it', { monthly_used: 1003 }, '1,003 of 1,000  [████████████████] 100.3 %', '0  (used up)', '0'],
  ['unused', { monthly_used: 0 }, '0 of 1,000  [░░░░░░░░░░░░░░░░] 0.0 %', '1,000', '1000'],
  ['with a credit', { monthly_used: -500 }, '-500 of 1,000  [░░░░░░░░░░░░░░░░] -50.0 %', '1,500', '1500'],
  ['without a limit (null)', { monthly_limit: null }, '742  (no fixed limit)', 'no fixed limit', 'null'],
  ['without a limit (text)', { monthly_limit: 'unlimited' }, '742  (no fixed limit)', 'no fixed limit', 'null'],
  ['without a finite limit', { monthly_limit: '9'.repeat(400) }, '742  (no fixed limit)', 'no fixed limit', 'null'],
  ['of Unlimited with 0', { plan: 'unlimited', monthly_limit: 0 }, '742  (no fixed limit)', 'no fixed limit', 'null'],
  ['with limit 0', { monthly_used: 0, monthly_limit: 0 }, '0 of 0  [████████████████] 100.0 %', '0  (used up)', '0'],
])('a quota %s', async (_, changes, used, remaining, json) => {
  const reply = success(quotaRecord(changes));

  const table = stripVTControlCharacters((await runCli('quota', { replies: reply, tty })).stdout);

  expect(table).toContain(`Used        ${used}\n`);
  expect(table).toContain(`Remaining   ${remaining}\n`);
  expect((await runCli('quota --get monthly_remaining', { replies: reply })).stdout).toBe(`${json}\n`);
});

test.each([
  ['no documented form', quotaRecord({ snapshot_granularity: '15 minutes' }), {}, 'Snapshots   15 minutes\n'],
  ['a past reset', quotaRecord({ resets_at: '2026-01-01T00:00:00.000Z' }), {}, '(in the past; is a clock wrong?)'],
  ['one line each', quotaRecord({ plan: 'free\nKey         forged' }), {}, 'Plan        free\\nKey         forged\n'],
  ['a new field', quotaRecord({ fair_use: { threshold: 5 } }), {}, 'fair_use.threshold5\n'],
  ['the time left by the clock of the service', quotaRecord(), { date: 'Sat, 31 Jan 2026 23:00:00 GMT' }, '(in 1 h)'],
])('shows %s', async (_, record, headers, expected) => {
  const { stdout } = await runCli('quota --no-color', { replies: { ...success(record), headers }, tty });

  expect(stdout).toContain(expected);
});

test.each([
  ['in the middle of the month', {}, ['At reset    about 1,117 of 1,000', '! Runs out  about 2026-01-28 19:13 CET']],
  ['slow enough', { monthly_used: 300 }, ['At reset    about 452 of 1,000', 'To last     67.3 requests/day']],
  ['below 20 requests', { monthly_used: 19 }, ['Forecast    too early to tell', 'To last     94.3 requests/day']],
  ['used up', { monthly_used: 1000 }, ['Forecast    used up; requests are served after the reset']],
  ['above the limit', { monthly_used: 1200 }, ['Forecast    used up; requests are served after the reset']],
  ['without a limit', { monthly_limit: null }, ['At reset    about 1,117\n']],
  ['without a limit, as text', { monthly_limit: 'unlimited' }, ['At reset    about 1,117\n']],
])('the forecast of a quota %s', async (_, changes, expected) => {
  const { stdout } = await runCli('quota --no-color', { replies: success(quotaRecord(changes)), tty });

  for (const text of expected) expect(stdout).toContain(text);
  expect(stdout.includes('! Runs out')).toBe(expected.some((text) => text.startsWith('! Runs out')));
});

test('a reset in the past has no forecast; in JSON it is null', async () => {
  const past = success(quotaRecord({ resets_at: '2026-01-01T00:00:00.000Z' }));

  expect((await runCli('quota --no-color', { replies: past, tty })).stdout).not.toContain('Forecast');
  expect((await runCli('quota --get forecast --json', { replies: past })).stdout).toBe('null\n');
});

test.each([
  ['74%', 742, 1000, 8],
  ['74.2%', 742, 1000, 8],
  ['74.201%', 742, 1000, 0],
  ['75%', 742, 1000, 0],
  ['742', 742, 1000, 8],
  ['743', 742, 1000, 0],
  ['0', 0, 1000, 8],
  ['100%', 1003, 1000, 8],
  ['1%', 742, null, 0],
  ['742', 742, null, 8],
  ['33.3%', 333, 1000, 8],
  ['0.742', 742, 1000, 8],
  ['.7421', 742, 1000, 0],
  ['0.333', 333, 1000, 8],
])('--fail-at %s with %d of %s used exits %d, after the data', async (share, used, limit, expected) => {
  const reply = success(quotaRecord({ monthly_used: used, monthly_limit: limit }));

  const { code, stdout, stderr } = await runCli(['quota', '--json', '--fail-at', share], { replies: reply });

  expect(code).toBe(expected);
  expect(JSON.parse(stdout)).toMatchObject({ monthly_used: used });
  if (expected === 0) expect(stderr).toBe('');
  else expect(JSON.parse(stderr).error).toMatchObject({ code: 'fail_at', exit_code: 8 });
});

test.each([
  ['100.1%', "--fail-at expects at most 100%, got '100.1%'"],
  ...['', 'eighty', '80 %', '-1', '1.5', '%'].map((text) => [text, 'e.g. 80%, 0.8, 800']),
])("--fail-at '%s' is refused before anything is sent", async (text, says) => {
  expect(await usageError(['quota', `--fail-at=${text}`])).toContain(says);
});

test('a pipe receives one JSON line per minute, with the forecast', async () => {
  const { code, stdout } = await runCli('quota --watch --count 2', { replies: success(quotaRecord()) });

  const lines = jsonLines(stdout);
  expect(code).toBe(0);
  expect(lines.map(({ fetched_at }) => fetched_at)).toEqual(['2026-01-21T14:20:00.000Z', '2026-01-21T14:21:00.000Z']);
  expect(lines[0].data).toMatchObject({ plan: 'free', monthly_remaining: 258, forecast: { confidence: 'ok' } });
});

test('a terminal shows each table with its time and that of the next', async () => {
  const { stdout } = await runCli('quota --watch 30s --count 2', { replies: success(quotaRecord()), tty: ['stdout'] });

  expect(stdout.match(/^.*Plan/gm)).toHaveLength(2);
  expect(stdout).toContain('15:20:00 · next 15:20:30 (every 30 s, the interval of --watch) · Ctrl-C to stop');
});

test('with --fail-at, runs until that much is used, then exits with 8', async () => {
  const replies = [799, 799, 800].map((monthly_used) => success(quotaRecord({ monthly_used })));

  const { code, stdout, stderr } = await runCli('quota --watch --fail-at 80% --get monthly_used', { replies });

  expect({ code, stdout }).toEqual({ code: 8, stdout: '799\n799\n800\n' });
  expect(stderr).toContain('has reached --fail-at 80%');
});

test.each(['quota --watch 9s', 'quota --count 2'])('%s is a usage error', async (line) => {
  await usageError(line);
});
