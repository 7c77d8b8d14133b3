import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { runCli } from '../helpers/cli-io.ts';
import { failure, rateLimited, success } from '../helpers/service-replies.ts';

const CANARY = `fx_live_${'ca11ab1e'.repeat(6)}`;
const folder = mkdtempSync(join(tmpdir(), 'fxrates-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Words of the command line. Not `mock`, `--watch` and `--fixture-out`, which do not end or write to any path. */
const WORDS = [
  ...'latest quota api auth cache completion config doctor help version login logout status token info clear'.split(
    ' ',
  ),
  ...'get set unset list bash zsh install timeout retries base-url profile base=USD symbols=EUR,USD a= =b'.split(' '),
  ...'--json --jq --get -o tsv raw compact --envelope --shape --dry-run --curl --no-wait --max-wait 5s inf'.split(' '),
  ...'--timeout --retries 3 --cache 10m snapshot --offline --fail-at 80 --base USD --base-url http://x'.split(' '),
  ...'-q -qq -v -vv -i -h --help -V --version --color=always --profile --key-file --key-stdin --no-verify --'.split(
    ' ',
  ),
  ...['/api/v1/latest', '/api/v1/..', '', '-', '--=', '__proto__', 'constructor', CANARY, `--api-key=${CANARY}`],
];
const argument = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);
const reply = fc.constantFrom(success(), failure(401), failure(503), rateLimited('2'), { body: '<html>' });

test('for any arguments, exits with a documented code and shows neither a bug nor a key', async () => {
  const known = new Set<number>(Object.values(exitCodes));
  const line = fc.array(argument, { maxLength: 8 }).filter((words) => !words.includes('mock'));
  await fc.assert(
    fc.asyncProperty(line, reply, async (words, replies) => {
      const env = { HOME: folder, FXRATES_API_KEY: CANARY, NO_COLOR: '1' };

      const { code, stdout, stderr } = await runCli(words, { env, replies });

      expect(known).toContain(code);
      expect(stdout + stderr).not.toContain('unexpected failure');
      if (!words.includes('token')) expect(stdout + stderr).not.toContain(CANARY);
    }),
    { numRuns: 400 },
  );
});
