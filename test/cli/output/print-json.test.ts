import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';
import { success } from '../../helpers/service-replies.ts';

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
