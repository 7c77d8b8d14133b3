import fc from 'fast-check';
import { expect, test } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { FakeIo, runCli } from '../../helpers/cli-io.ts';
import { quotaRecord, success } from '../../helpers/service-replies.ts';

const DATA = {
  base: 'USD',
  timestamp: '2026-01-21T14:20:00.000Z',
  date: '2026-01-21',
  rates: { EUR: 0.92, JPY: 157 },
  history: [
    { day: 1, ok: true },
    { day: 2.5, ok: null },
  ],
  notes: [],
  'a.b': {},
};

test('--shape and --get are refused together, before anything is sent', async () => {
  expect(await runCli('latest --shape --get rates')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--shape and --get cannot be used together'),
    requests: [],
  });
});

test('--shape -o tsv prints paths and types, one per line, and no value', async () => {
  const { stdout } = await runCli('latest --shape -o tsv', { replies: success(DATA) });

  expect(stdout).toBe(
    [
      'base\tstring',
      'timestamp\tstring (time)',
      'date\tstring (time)',
      'rates.EUR\tnumber',
      'rates.JPY\tinteger',
      'history.[].day\tinteger | number',
      'history.[].ok\tboolean | null',
      'notes\tlist',
      'a.b\tobject',
      '',
    ].join('\n'),
  );
});

test('--shape in a pipe is an object of types by path', async () => {
  const { stdout } = await runCli('latest --shape', { replies: success({ rates: { EUR: 0.92 } }) });

  expect(JSON.parse(stdout)).toEqual({ 'rates.EUR': 'number' });
});

test('the shape contains no text and no number of the response', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1_000_000_000 })),
      fc.stringMatching(/^[xyz]{9,12}$/),
      async (list, text) => {
        const { stdout } = await runCli('latest --shape', { replies: success({ list, text }) });

        expect(stdout).not.toContain(text);
        for (const number of list) expect(stdout).not.toContain(String(number));
      },
    ),
    { numRuns: 30 },
  );
});

const DEPTH = 4_000;
const DEEP = `${Array.from({ length: DEPTH }, (_, n) => `{"n":${n},"a":`).join('')}1${'}'.repeat(DEPTH)}`;
const LONG_NAME = `{"${'n'.repeat(1_000_000)}":{${Array.from({ length: 2_000 }, (_, n) => `"r${n}":${n}`).join()}}}`;

test.each([
  ...['-o table', '-o csv', '-o tsv', '--shape', '-o json', '-o compact'].map((options) => [options, 'deep', DEEP]),
  ...['-o table', '-o csv', '-o tsv', '--shape'].map((options) => [options, 'with a name of 1 MB', LONG_NAME]),
] as const)('with %s, the output of an answer %s is not much larger than the answer', async (options, _, data) => {
  const { code, stdout } = await runCli(`latest ${options}`, { replies: { body: `{"success":true,"data":${data}}` } });

  expect(code).toBe(0);
  expect(stdout.length).toBeLessThan(20 * data.length); // of JSON on a terminal, most is its indentation
});

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
