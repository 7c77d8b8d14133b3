import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { crashReport } from '../../src/cli/errors/crash-report.ts';
import { type FakeIoOptions, runCli } from '../helpers/cli-io.ts';
import type { Reply } from '../helpers/fake-fetch.ts';
import { KNOWN_KEY_ENCODINGS } from '../helpers/key-encodings.ts';
import { API_KEY, exhaustedQuota, failure, rateLimited, success } from '../helpers/service-replies.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

/** Not of the documented form, with characters that URL encoding and JSON change. */
const ODD_KEY = 'canary+key/0f1e2d3c"4b5a6978\\8796a5b4c3d2e1f0';
const LIVE_KEY = `fx_live_${'ca11ab1e'.repeat(6)}`;

/** Lines that send requests. */
const SENT = [
  'latest',
  'latest base=USD --json',
  'latest -o tsv',
  'latest --envelope',
  'latest --get base',
  'latest --get nope',
  'latest --no-wait',
  'quota',
  'quota --json',
  'api /api/v1/latest',
  'api /api/v1/latest -i',
  'latest --watch 5m --count 2 --force',
  'latest --watch 5m --count 2 --force --json',
  'latest --cache 10m',
  'batch --each n=1,2 --no-wait --failed-out {folder}/failed.txt',
  'batch --each n=1,2 --no-wait --json',
  'latest --fixture-out {folder}/fixture.json',
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
  'cache path',
  'cache clear',
  'completion bash',
];

function repliesWith(key: string): Reply[] {
  const echo = `You sent ${formsOf(key).join(', ')}`;
  return [
    success({ base: 'USD', echo }),
    failure(401, { code: key, message: echo }),
    failure(404, { message: echo, headers: { 'x-echo': key } }),
    failure(500, { message: echo }),
    failure(402, { message: echo }),
    rateLimited('5'),
    { status: 302, headers: { location: `https://evil.example/?k=${key}` }, body: '' },
    { body: `<html>${echo}` },
    { body: `[${JSON.stringify(echo)}]` },
    Object.assign(new TypeError(`fetch failed for ${key}`), { cause: new Error(`at https://x/?api_key=${key}`) }),
  ];
}

function formsOf(key: string): string[] {
  return Object.values(KNOWN_KEY_ENCODINGS).map((encode) => encode(key));
}

interface Case {
  readonly replies: Reply;
  readonly args: string[];
  readonly options: FakeIoOptions;
}

/** Every reply to a key of the environment, and one to a key of stdin, which is known in the same way. */
function casesWith(key: string, line: string): readonly Case[] {
  const ofEnvironment = repliesWith(key)
    .slice(0, SENT.includes(line) ? undefined : 1)
    .map((replies) => ({
      ...{ replies, args: [] },
      options: { env: { FXRATES_API_KEY: key } },
    }));
  const replies = failure(401, { code: key, message: key });
  const ofStdin = { replies, args: ['--key-stdin'], options: { stdin: `${key}\n`, env: { FXRATES_API_KEY: '' } } };
  return [...ofEnvironment, ofStdin];
}

test.each([...SENT, ...NOT_SENT].flatMap((line) => [ODD_KEY, LIVE_KEY].map((key) => [line, key] as const)))(
  '-vv %s never shows the key %s, in any situation',
  async (line, key) => {
    const folder = temporaryFolder();
    for (const { replies, args, options } of casesWith(key, line)) {
      const quota = success(exhaustedQuota());

      const words = line.replace('{folder}', folder).split(' ');
      const env = { ...options.env, HOME: folder };
      const { stdout, stderr } = await runCli([...args, '-vv', ...words], { ...options, env, replies, quota });

      expect(formsOf(key).filter((form) => (stdout + stderr).includes(form))).toEqual([]);
    }
    const written = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'credentials.json')
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .join('');
    expect(formsOf(key).filter((form) => written.includes(form))).toEqual([]);
  },
);

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

test('an uncaught error is reported without keys', () => {
  const error = new Error(`Bearer ${ODD_KEY}, ${LIVE_KEY} and Bearer a-third-one`);

  for (const argv of [[], ['-vv'], ['--json']]) {
    const report = crashReport(error, argv, { FXRATES_API_KEY: ODD_KEY });

    expect(report).toContain('unexpected failure');
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
