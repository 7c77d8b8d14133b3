import { expect, test } from 'vitest';
import { runCli } from '../../helpers/cli-io.ts';

const NO_SETTINGS = { FXRATES_BASE_URL: undefined, FXRATES_API_KEY: undefined };

test('on a narrow terminal, a command moves below its label without a line break', async () => {
  const { stderr } = await runCli('quota', { env: NO_SETTINGS, tty: ['stderr'], columns: 40 });

  expect(stderr.split('\n\n')[1]).toBe(`  Set it:
    export FXRATES_BASE_URL=https://…
    or --base-url https://…
  Store it:
    fxrates auth login
    (asks for it)
  No account?
    fxrates mock
    (a local server with invented rates)
`);
});

test.each([
  ['a wide terminal', { tty: ['stderr' as const], columns: 100 }],
  ['a log', { columns: 40 }],
])('on %s, it is beside its label', async (_, options) => {
  const { stderr } = await runCli('quota', { env: NO_SETTINGS, ...options });

  expect(stderr).toContain('  Store it:    fxrates auth login   (asks for it)\n');
});

test('a command without a label is never broken', async () => {
  const line = 'latest --base USD symbols=EUR,GBP,JPY,CHF --cache 10m';
  const { stderr } = await runCli(line, { tty: ['stderr'], columns: 40 });

  expect(stderr).toContain('\n  fxrates latest base=USD symbols=EUR,GBP,JPY,CHF --cache 10m\n');
});
