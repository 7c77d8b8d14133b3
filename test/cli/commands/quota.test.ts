import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';
import { quotaRecord, success } from '../../helpers/service-replies.ts';

const replies = success(quotaRecord());
const tty = ['stdout', 'stderr'] as const;

test('in a pipe it prints a line per field, with the names of the service', async () => {
  const { code, stdout, stderr } = await runCli('quota', { replies });

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
`);
});

test('on a terminal it prints a table, with local time', async () => {
  const { stdout } = await runCli('quota', { replies, tty });

  expect(stripVTControlCharacters(stdout)).toBe(`Plan        free
Key         fx_live_…cdef  (from FXRATES_API_KEY)
Used        742 of 1,000  [###############-----] 74.2 %
Remaining   258
Resets      2026-02-01 01:00 CET  (in 10 days 10 h)
Rate limit  30 requests/min
Snapshots   every 5 min
History     90 days
`);
});

test('on a narrow terminal remarks stand on lines of their own', async () => {
  const { stdout } = await runCli('quota --no-color', { replies, tty, columns: 40 });

  expect(stdout).toContain('Used        742 of 1,000\n            [#######---] 74.2 %\n');
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
});

test('without a UTF-8 locale it keeps to ASCII', async () => {
  const { stdout } = await runCli('quota --no-color', { replies, tty, env: { LANG: 'C' } });

  expect(stdout).toMatch(/^[\x20-\x7e\n]+$/);
});

test('--json is the record as it came, with monthly_remaining at its end', async () => {
  const body =
    '{"success":true,"data":{"plan":"free", "monthly_used":742,"monthly_limit":1000.0,"rate_limit_per_minute":30,"snapshot_granularity":"5min","historical_days":90,"resets_at":"2026-02-01T00:00:00.000Z","new":1.10 }}';

  const { stdout } = await runCli('quota --json', { replies: { body } });

  expect(stdout).toBe(
    '{"plan":"free", "monthly_used":742,"monthly_limit":1000.0,"rate_limit_per_minute":30,"snapshot_granularity":"5min","historical_days":90,"resets_at":"2026-02-01T00:00:00.000Z","new":1.10,"monthly_remaining":null}\n',
  );
});

test.each([
  ['used up', { monthly_used: 1000 }, '1,000 of 1,000  [####################] 100.0 %', '0  (used up)', '0'],
  ['over it', { monthly_used: 1003 }, '1,003 of 1,000  [####################] 100.3 %', '0  (used up)', '0'],
  ['unused', { monthly_used: 0 }, '0 of 1,000  [--------------------] 0.0 %', '1,000', '1000'],
  ['without a limit (null)', { monthly_limit: null }, '742  (no fixed limit)', 'no fixed limit', 'null'],
  ['without a limit (text)', { monthly_limit: 'unlimited' }, '742  (no fixed limit)', 'no fixed limit', 'null'],
  [
    'with a limit of 0',
    { monthly_used: 0, monthly_limit: 0 },
    '0 of 0  [####################] 100.0 %',
    '0  (used up)',
    '0',
  ],
])('a quota %s', async (_, changes, used, remaining, json) => {
  const reply = success(quotaRecord(changes));

  const table = stripVTControlCharacters((await runCli('quota', { replies: reply, tty })).stdout);

  expect(table).toContain(`Used        ${used}\n`);
  expect(table).toContain(`Remaining   ${remaining}\n`);
  expect((await runCli('quota --get monthly_remaining', { replies: reply })).stdout).toBe(`${json}\n`);
});

test.each([
  ['no documented form', { snapshot_granularity: '15 minutes' }, 'Snapshots   15 minutes\n'],
  ['a reset in the past', { resets_at: '2026-01-01T00:00:00.000Z' }, '(in the past; is a clock wrong?)'],
  ['a field that is new', { fair_use: { threshold: 5 } }, 'fair_use.threshold5\n'],
])('shows %s', async (_, changes, expected) => {
  const { stdout } = await runCli('quota --no-color', { replies: success(quotaRecord(changes)), tty });

  expect(stdout).toContain(expected);
});

test('the time to the reset counts from the clock of the service', async () => {
  const reply = { ...replies, headers: { date: 'Sat, 31 Jan 2026 23:00:00 GMT' } };

  expect((await runCli('quota --no-color', { replies: reply, tty })).stdout).toContain('(in 1 h)');
});

test('takes no parameters', async () => {
  const { code, stderr } = await runCli('quota base=USD');

  expect(code).toBe(2);
  expect(stderr).toContain('fxrates quota --help');
});
