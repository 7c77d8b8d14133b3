import { expect, test } from 'vitest';
import { main } from '../../../src/cli/program/main.ts';
import { FakeIo, runCli } from '../../helpers/cli-io.ts';
import { quotaRecord, success } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

test('a number of 60,000 digits is printed with all its digits, and pads no other row', async () => {
  const digits = '9'.repeat(60_000);
  const rates = Array.from({ length: 100 }, (_, n) => `"r${n}":${n}`).join();

  const { stdout } = await runCli('latest -o table', {
    replies: { body: `{"success":true,"data":{${rates},"x":${digits}}}` },
  });
  const quota = success(quotaRecord({ monthly_limit: null }));

  expect(stdout).toContain(digits);
  expect(stdout.length).toBeLessThan(2 * digits.length);
  expect(
    (await runCli('quota -o table', { replies: { body: JSON.stringify(quota.body).replace('null', `"${digits}"`) } }))
      .code,
  ).toBe(0);
});

test('a long answer is written in parts, and Ctrl-C ends it between two of them', async () => {
  const data = `{"list":[${Array.from({ length: 50_000 }, (_, n) => n).join()}]}`;
  const io = new FakeIo({ replies: { body: `{"success":true,"data":${data}}` } });
  let writes = 0;
  const { write } = io.stdout;
  Object.assign(io.stdout, {
    write: (chunk: string) => {
      writes += 1;
      if (writes === 2) io.interrupt('SIGINT');
      return write(chunk);
    },
  });

  expect(await main(['latest', '-o', 'csv'], io)).toBe(130);
  expect(writes).toBe(2);
  expect(io.written.stdout.endsWith('\n')).toBe(true);
});

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

  expect((await runCli('quota -o csv', { replies })).stdout).toContain('name,value\nplan,free\n');
  expect((await runCli('api /x -o csv', { replies: { body: BODY } })).stdout).toContain('data.rates.EUR,0.90\n');
});

const folder = temporaryFolder();
const env = { FXRATES_CONFIG_DIR: folder, HOME: folder };
const replies = success(quotaRecord());

test.each(['latest', 'quota', 'auth status', 'doctor'])('%s prints on a terminal what -o table does', async (line) => {
  const onTerminal = await runCli(line, { env, replies, tty: ['stdout'], columns: 80 });
  const inPipe = await runCli(`${line} -o table`, { env, replies });
  const plain = await runCli(`${line} --no-color`, { env, replies, tty: ['stdout'], columns: 80 });

  expect(() => JSON.parse(onTerminal.stdout)).toThrow(SyntaxError);
  expect(inPipe.stdout).toBe(plain.stdout);
});

test.each(['auth status', 'doctor'])('%s is text in the log of a CI job, too', async (line) => {
  const { stdout } = await runCli(line, { env: { ...env, CI: 'true' }, replies });

  expect(stdout).toBe((await runCli(`${line} -o table`, { env, replies })).stdout);
  expect(stdout).toMatch(/^(?:ok {4}base URL|Base URL) +https:/m);
  expect(JSON.parse((await runCli(line, { env: { ...env, FXRATES_OUTPUT: 'json' }, replies })).stdout)).toBeTypeOf(
    'object',
  );
});
