import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crashReport } from '../../src/cli/errors/crash-report.ts';
import { type FakeIoOptions, runCli } from '../helpers/cli-io.ts';
import type { Reply } from '../helpers/fake-fetch.ts';
import { KNOWN_KEY_ENCODINGS } from '../helpers/key-encodings.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { API_KEY, exhaustedQuota, failure, rateLimited, success } from '../helpers/service-replies.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Not of the documented form, with characters that URL encoding and JSON change. */
const ODD_KEY = 'canary+key/0f1e2d3c"4b5a6978\\8796a5b4c3d2e1f0';
const LIVE_KEY = `fx_live_${'ca11ab1e'.repeat(6)}`;

/**
 * Text with an effect on a terminal: a colour, a title, the 8-bit form of both, an overwritten line, a reversed line.
 */
const EVIL = '\u001b[31m\u001b]0;x\u0007\u009b31m\u0085\rok\u202e\u200b';
/** The part of it that a header can contain. */
const EVIL_HEADER = '\u009b31m\u0085';

/** Lines that send requests. */
const SENT = [
  'latest',
  'latest base=USD --json',
  'latest -o json',
  'latest -o tsv',
  'latest --envelope',
  'latest --get evil',
  'latest --get nope',
  'latest --get evil --get evil -o json',
  'latest --get evil --get evil',
  'latest --no-wait',
  'api /api/v1/latest',
  'api /api/v1/latest -i',
  'latest --watch 5m --count 2 --force',
  'latest --watch 5m --count 2 --force --json',
  'latest --cache 10m',
  'batch --each n=1,2 --no-wait --failed-out {folder}/failed.txt',
  'batch --each n=1,2 --no-wait --json',
  'latest --fixture-out {folder}/fixture.json',
  'quota',
  'quota --json',
  'quota -o tsv',
  'quota --watch --count 2',
  'quota --fail-at 1',
  'doctor',
  'doctor --json',
  'auth login',
  'auth status',
  'auth status --json',
];

const NOT_SENT = [
  'latest --curl',
  'latest USD',
  'latest --base USD',
  'version --json',
  'help options',
  '--help',
  'nonsense',
  'mock -- no-such-program',
  'doctor --offline',
  'auth login --no-verify',
  'auth logout',
  'config list',
  'config set timeout 10s',
  'config get timeout',
  'completion bash',
];

function formsOf(key: string): string[] {
  return Object.values(KNOWN_KEY_ENCODINGS).map((encode) => encode(key));
}

/** What a service that wants to harm the terminal could send back of a request with this key. */
function repliesTo(key: string): readonly [Reply, ...Reply[]] {
  const evil = `${EVIL} You sent ${key === ODD_KEY ? formsOf(key).join(', ') : key}`;
  const detail = { code: `${EVIL}${key}`, message: evil, headers: { 'x-evil': EVIL_HEADER, 'x-echo': key } };
  const cause = Object.assign(new Error(`${EVIL} at https://x/?api_key=${key}`), { code: EVIL });
  return [
    success({ base: 'USD', evil, [EVIL]: [evil] }),
    ...[401, 402, 404, 500].map((status) => failure(status, detail)),
    rateLimited('5'),
    rateLimited(EVIL_HEADER),
    { status: 302, headers: { location: `https://evil.example/${EVIL_HEADER}?k=${key}` }, body: '' },
    { body: `<html>${evil}`, headers: { 'content-type': EVIL_HEADER } },
    { body: { success: EVIL, data: evil } },
    { body: `[${JSON.stringify(evil)}]` },
    Object.assign(new TypeError(`fetch failed for ${evil}`), { cause }),
  ];
}

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

interface Case extends FakeIoOptions {
  readonly args?: readonly string[];
}

/** Every reply to a key of the environment, and one to a key of stdin, which is known in the same way. */
function casesWith(key: string, line: string): readonly Case[] {
  const quota = success({ ...exhaustedQuota(), plan: EVIL, snapshot_granularity: EVIL, [EVIL]: EVIL });
  const env = { FXRATES_API_KEY: key };
  const [first, ...all] = repliesTo(key);
  // In short runs, a line meets every other reply in a pipe, and the rest on a terminal.
  const isMet = (_: unknown, index: number) => (index + SENT.indexOf(line) + Number(key === ODD_KEY)) % 2 === 0;
  const others = inLongRuns(all, all.filter(isMet));
  const cases: Case[] = [{ env, replies: first, quota }];
  if (SENT.includes(line)) cases.push(...others.map((replies) => ({ env, replies, quota })));
  if (line.includes('--watch')) cases.push({ env, replies: [first, ...Array(3).fill(all[3]), success()], quota });
  // Other lines ask for the quota only after a refusal.
  if (/^(quota|doctor|auth s)/.test(line))
    cases.push(...others.map((reply) => ({ env, replies: reply, quota: reply })));
  const refusal = failure(401, { code: key, message: key });
  cases.push({ args: ['--key-stdin'], stdin: `${key}\n`, env: { FXRATES_API_KEY: '' }, replies: refusal, quota });
  return cases;
}

test.each(['fx_live_…9c2d', '“quoted-key”', 'a'.repeat(90_000)].map((key) => ({ key })))(
  'a variable that cannot be a key is named, and prevents no command that needs none (%#)',
  async ({ key }) => {
    const env = { FXRATES_API_KEY: key };

    const { code, stderr } = await runCli(['quota'], { env });

    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining('the key from FXRATES_API_KEY cannot be used'),
    });
    expect((await runCli(['--help'], { env })).code).toBe(0);
  },
);

const TERMINAL = ['stdin', 'stdout', 'stderr'] as const;

/** `-vv` adds the lines of the log to the same output. */
test.each(
  [...SENT, ...NOT_SENT].flatMap((line) =>
    inLongRuns(['-vv ', ''], ['-vv ']).flatMap((log) => [
      { line, log, key: ODD_KEY, where: 'in a pipe', tty: [] },
      { line, log, key: LIVE_KEY, where: 'on a terminal', tty: TERMINAL },
    ]),
  ),
)('$log $line $where never shows the key $key, nor affects the terminal', async ({ line, log, key, tty }) => {
  const folder = temporaryFolder();
  for (const { args = [], ...options } of casesWith(key, line)) {
    const words = `${log}${line}`.replace('{folder}', folder).split(' ');
    // A wait of ten minutes, the default, would read the limit that commands share six hundred times.
    const env = { ...options.env, HOME: folder, NO_COLOR: '1', FXRATES_MAX_WAIT: '12s' };

    const { stdout, stderr } = await runCli([...args, ...words], { ...options, env, tty });

    expect(formsOf(key).filter((form) => (stdout + stderr).includes(form))).toEqual([]);
    if (tty.length > 0) expect(actingLines(stdout + stderr)).toEqual([]);
  }
  const written = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'credentials.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('');
  expect(formsOf(key).filter((form) => written.includes(form))).toEqual([]);
});

const WRONG_PLACES = [
  'latest KEY',
  'latest --base-url KEY',
  'latest --base-url https://KEY@host.test',
  'latest --base-url https://host.test/KEY',
  'latest --base-url https://host.test/?api_key=KEY',
  'latest --key-file KEY',
  'latest --profile KEY',
  'latest --timeout KEY',
  'latest --retries KEY',
  'latest --color KEY',
  'latest --cache KEY',
  'latest --count KEY',
  'latest --get KEY',
  'latest -o KEY',
  'latest base=KEY',
  'latest base=KEY --curl',
  'latest --watch KEY',
  'latest --fixture-out /KEY/KEY',
  'quota --fail-at KEY',
  'batch KEY',
  'batch --each KEY',
  'batch --each base=KEY',
  'batch --each n=1 -p base=KEY',
  'batch --each n=1 --failed-out /KEY/KEY',
  'api /KEY',
  'api /api/v1/latest?api_key=KEY',
  'auth KEY',
  'auth login KEY',
  'auth login --api-key KEY',
  'auth status --profile KEY',
  'config set KEY x',
  'config set base-url KEY',
  'config set timeout KEY',
  'config get KEY',
  'doctor --base-url KEY',
  'doctor --base-url https://host.test/KEY',
  'doctor --key-file KEY',
  'completion KEY',
  'help KEY',
  'mock --port KEY',
  'mock --host KEY',
  'mock --now KEY',
  'mock --behaviour KEY',
  'mock --state /KEY/KEY',
  'mock -- KEY',
  'probe KEY',
  'KEY',
  '--KEY',
];

test.each(WRONG_PLACES.flatMap((line) => [line, `--json ${line}`, `-vv ${line}`]))(
  '%s: a key in a wrong place, which no setting names, is masked',
  async (line) => {
    const env = { HOME: temporaryFolder(), FXRATES_API_KEY: '' };

    const { stdout, stderr } = await runCli(line.replaceAll('KEY', LIVE_KEY), { env });

    expect(stdout + stderr).not.toContain(LIVE_KEY.slice(0, -4));
  },
);

test('an uncaught error is reported without keys, and does not affect the terminal', () => {
  const error = new Error(`${EVIL} Bearer ${ODD_KEY}, ${LIVE_KEY} and Bearer a-third-one`);

  for (const argv of [[], ['-vv'], ['--json']]) {
    const report = crashReport(error, argv, { FXRATES_API_KEY: ODD_KEY });

    expect(report).toContain('unexpected failure');
    expect(actingLines(report)).toEqual([]);
    for (const form of [...formsOf(ODD_KEY), LIVE_KEY, 'a-third-one']) expect(report).not.toContain(form);
    if (argv.includes('--json')) expect(JSON.parse(report)).toHaveProperty('error.exit_code', 1);
  }
});

test('-vv redacts a body before it is cut', async () => {
  const body = { success: true, data: { text: 'x'.repeat(1_990), key: API_KEY } };

  const { stderr } = await runCli(['latest', '-vv'], { replies: { body } });

  expect(stderr).toContain('xxx');
  expect(stderr).not.toContain(API_KEY.slice(8, 16));
});
