import { expect, test } from 'vitest';
import { runCli } from '../../../helpers/cli-io.ts';
import { failure, quotaRecord, success } from '../../../helpers/service-replies.ts';

test('a pipe receives one JSON line per minute, with the forecast', async () => {
  const { code, stdout } = await runCli('quota --watch --count 2', { replies: success(quotaRecord()) });

  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(lines.map(({ fetched_at }) => fetched_at)).toEqual(['2026-01-21T14:20:00.000Z', '2026-01-21T14:21:00.000Z']);
  expect(lines[0].data).toMatchObject({ plan: 'free', monthly_remaining: 258, forecast: { confidence: 'ok' } });
});

test('a terminal redraws the table in place', async () => {
  const { stdout } = await runCli('quota --watch 30s --count 2', { replies: success(quotaRecord()), tty: ['stdout'] });

  expect(stdout.split('\u001b[J')).toHaveLength(2);
  expect(stdout).toContain('15:20:00 · next 15:20:30 (every 30 s, free) · Ctrl-C to stop');
});

test('with --fail-at, runs until that much is used, then exits with 8', async () => {
  const replies = [799, 799, 800].map((monthly_used) => success(quotaRecord({ monthly_used })));

  const { code, stdout, stderr } = await runCli('quota --watch --fail-at 80% --get monthly_used', { replies });

  expect({ code, stdout }).toEqual({ code: 8, stdout: '799\n799\n800\n' });
  expect(stderr).toContain('has reached --fail-at 80%');
});

test('a server error after the first response is reported, and the next call follows', async () => {
  const replies = [success(quotaRecord()), failure(500), success(quotaRecord())];

  const { code, stderr } = await runCli('quota --watch --count 2 --retries 0 --json', { replies });

  expect(code).toBe(0);
  expect(JSON.parse(stderr)).toMatchObject({ event: 'missed', code: 'server' });
});

test.each(['quota --watch 9s', 'quota --count 2'])('%s is a usage error', async (line) => {
  expect((await runCli(line)).code).toBe(2);
});
