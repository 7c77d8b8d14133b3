import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { quotaRecord, success } from '../../helpers/service-replies.ts';

const BODY = '{"success":true,"data":{"base":"USD","note":"a, \\"b\\"\\nc","rates":{"EUR":0.90,"JPY":157}}}';

test.each([
  ['latest -o csv', 'name,value\nbase,USD\nnote,"a, ""b""\nc"\nrates.EUR,0.90\nrates.JPY,157\n'],
  ['latest -o csv --get rates', 'name,value\nEUR,0.90\nJPY,157\n'],
  ['latest -o csv --get rates.EUR', 'rates.EUR\n0.90\n'],
  ['latest -o csv --get base --get rates.EUR', 'base,rates.EUR\nUSD,0.90\n'],
  ['latest -o csv --get base --get rates', 'base,rates\nUSD,"{""EUR"":0.90,""JPY"":157}"\n'],
])('%s has a header and quotes what needs it', async (line, expected) => {
  expect(await runCli(line, { replies: { body: BODY } })).toMatchObject({ code: 0, stdout: expected, stderr: '' });
});

test('every command that prints data has csv', async () => {
  const replies = success(quotaRecord());

  expect((await runCli('quota -o csv --no-forecast', { replies })).stdout).toContain('name,value\nplan,free\n');
  expect((await runCli('version -o csv')).stdout).toContain('name,value\nfxrates,');
  expect((await runCli('api /x -o csv', { replies: { body: BODY } })).stdout).toContain('data.rates.EUR,0.90\n');
});

test('--watch -o csv prints one header, and the time before each row', async () => {
  const rich = success(quotaRecord({ monthly_used: 0, monthly_limit: 1_000_000 }));
  const options = { clock: new FakeClock(), replies: { body: BODY }, quota: rich };

  const { stdout } = await runCli('latest --watch 5m --count 2 -o csv --get rates.EUR', options);

  expect(stdout.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')).toBe('fetched_at,rates.EUR\nTIME,0.90\nTIME,0.90\n');
  expect(new Set(stdout.match(/\dT[\d:.]+Z/g)).size).toBe(2);
});
