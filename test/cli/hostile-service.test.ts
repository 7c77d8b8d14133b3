import { expect, test } from 'vitest';
import { crashReport } from '../../src/cli/errors/crash-report.ts';
import { runCli } from '../helpers/cli-io.ts';
import type { Reply } from '../helpers/fake-fetch.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { failure, quotaRecord, rateLimited, success } from '../helpers/service-replies.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/**
 * Text with an effect on a terminal: a colour, a title, the 8-bit form of both, an overwritten line, a reversed line.
 */
const EVIL = '\u001b[31m\u001b]0;x\u0007\u009b31m\u0085\rok\u202e\u200b';
/** The part of it that a header can contain. */
const EVIL_HEADER = '\u009b31m\u0085';

const folder = temporaryFolder();

const LINES = [
  'latest',
  'latest -o json',
  'latest -o tsv',
  'latest --envelope',
  'latest --get evil',
  'latest --get nope',
  'latest --get evil --get evil -o json',
  'latest --get evil --get evil',
  'latest --no-wait',
  'latest --json',
  'latest --cache 10m',
  'latest --watch 5m --count 2 --force',
  'latest --watch 5m --count 2 --force --json',
  'api /api/v1/latest',
  'api /api/v1/latest -i',
  'quota',
  'quota --json',
  'quota -o tsv',
  'quota --fail-at 1',
  'quota --watch --count 2',
  'doctor',
  'doctor --json',
  'auth login',
  'auth status',
  'auth status --json',
];

const detail = { code: EVIL, message: EVIL, headers: { 'x-evil': EVIL_HEADER } };
const REPLIES: readonly (Reply | readonly Reply[])[] = [
  success({ evil: EVIL, [EVIL]: [EVIL] }),
  [success({ evil: EVIL }), failure(503, detail), failure(503, detail), failure(503, detail), success({ evil: 1 })],
  ...inLongRuns([400, 401, 402, 404, 500], [401]).map((status) => failure(status, detail)),
  rateLimited(EVIL_HEADER),
  { body: `<html>${EVIL}`, headers: { 'content-type': EVIL_HEADER } },
  { body: { success: EVIL, data: EVIL } },
  { status: 302, headers: { location: `https://x.test/${EVIL_HEADER}` }, body: '' },
  Object.assign(new TypeError(EVIL), { cause: Object.assign(new Error(EVIL), { code: EVIL }) }),
];
const QUOTA = quotaRecord({ plan: EVIL, snapshot_granularity: EVIL, [EVIL]: EVIL } as never);

/** Sequences that the command line itself writes to move the cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN = /\r\u001b\[2K|\u001b\[\d+A\u001b\[J/g;

/** Lines with characters that have an effect on a terminal or mislead a reader. */
function actingLines(text: string): string[] {
  return text
    .replace(OWN, '')
    .split('\n')
    .filter((line) => /(?!\t)[\p{Cc}\p{Cf}]/u.test(line));
}

/** Others ask for the quota only after a refusal. */
const readsQuota = (line: string) => inLongRuns(true, /quota|doctor|auth/.test(line));

/** `-vv` adds the lines of the log to the same output. */
test.each(LINES.flatMap((line) => inLongRuns([line, `-vv ${line}`], [`-vv ${line}`])))(
  '%s: nothing that a service sends affects the terminal',
  async (line) => {
    for (const replies of REPLIES) {
      const same = Array.isArray(replies) ? replies.at(1) : replies;
      const quotas: readonly Reply[] = readsQuota(line) ? [success(QUOTA), same] : [success(QUOTA)];
      for (const quota of quotas) {
        const env = { NO_COLOR: '1', HOME: folder };

        const { stdout, stderr } = await runCli(line, { env, replies, quota, tty: ['stdin', 'stdout', 'stderr'] });

        expect(actingLines(stdout + stderr)).toEqual([]);
      }
    }
  },
);

test.each([[], ['--json'], ['-vv']])('nor does it in a crash report: %j', (...argv: string[]) => {
  expect(actingLines(crashReport(new Error(EVIL), argv, {}))).toEqual([]);
});
