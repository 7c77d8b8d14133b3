import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exitCodes } from '../../src/cli/io/exit-codes.ts';
import { runCli } from '../helpers/cli-io.ts';
import { jsonText } from '../helpers/cli-json-text.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { mutated } from '../helpers/mutated.ts';
import { failure, rateLimited, success } from '../helpers/service-replies.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

const CANARY = `fx_live_${'ca11ab1e'.repeat(6)}`;
const folder = temporaryFolder();
const EFFORT = inLongRuns(10, 1);

/** Words of the command line. Not `mock`, `--watch` and `--fixture-out`, which do not end or write to any path. */
const WORDS = [
  ...'latest quota api auth cache completion config doctor help version login logout status token info clear'.split(
    ' ',
  ),
  ...'get set unset list bash zsh install timeout retries base-url profile base=USD symbols=EUR,USD a= =b'.split(' '),
  ...'--json --jq --get -o tsv --envelope --curl --no-wait --max-wait 5s 999999999h'.split(' '),
  ...'--timeout --retries 3 --cache 10m snapshot --fail-at 80 --base USD --base-url http://x'.split(' '),
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
      const env = { HOME: folder, FXRATES_API_KEY: CANARY, NO_COLOR: '1', FXRATES_MAX_WAIT: '12s' };

      const { code, stdout, stderr } = await runCli(words, { env, replies });

      expect(known).toContain(code);
      expect(stdout + stderr).not.toContain('unexpected failure');
      if (!words.includes('token')) expect(stdout + stderr).not.toContain(CANARY);
    }),
    { numRuns: 200 * EFFORT },
  );
});

/** Answers that are much larger than those of `jsonText`: deep, wide, long, full of escapes or digits. */
const largeText = fc
  .tuple(
    fc.constantFrom('deep', 'wide', 'long', 'escapes', 'digits', 'names'),
    fc.integer({ min: 1, max: 2000 }),
    jsonText,
  )
  .map(([kind, n, inner]) => {
    if (kind === 'deep') return `${'{"a":['.repeat(n)}${inner}${']}'.repeat(n)}`;
    if (kind === 'wide') return `[${`${inner},`.repeat(n % 100)}${inner}]`;
    if (kind === 'long') return `{"a":"${'ab '.repeat(n)}","b":${inner}}`;
    if (kind === 'escapes') return `{"a":"${'\\u001b\\ud800\\n'.repeat(n)}"}`;
    if (kind === 'digits') return `{"a":${'7'.repeat(n)}.${'0'.repeat(n)},"b":-0.${'0'.repeat(n)}1e5}`;
    return `{${Array.from({ length: n }, (_, at) => `"${'N'.repeat(at % 300)}${at}":${at}`).join(',')}}`;
  });
const OUTPUTS = [
  ...['', '-o json', '-o csv', '-o tsv', '-o table', '--envelope', '--envelope -o csv'],
  ...['--get a', '--get a.b', '--get /a/0', '--get a --get b', '--get a --get b -o csv'],
  ...['--get a -o json', '--watch 5m --count 1 --force', '--watch 5m --count 1 --force -o csv', '--cache 1m', '-vv'],
];
/** Line ends, tabs, and what the command line itself writes to move the cursor. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const OWN = /[\n\t]|\r\u001b\[2K|\u001b\[\d+A\u001b\[J/g;

/** What a pipe gets, byte for byte; `undefined` for the formats with a form of their own. */
function exactOutput(json: string, options: string): string | undefined {
  if (['', '-o json', '-vv', '--cache 1m'].includes(options)) return `${json}\n`;
  return options === '--envelope' ? `${bodyOf(json)}\n` : undefined;
}

function bodyOf(json: string): string {
  return `{"success":true,"data":${json}}`;
}

test('for any answer, every output ends, has no effect on a terminal and keeps the digits', async () => {
  const text = fc.oneof({ weight: 3, arbitrary: jsonText }, { weight: 1, arbitrary: largeText });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(...OUTPUTS), fc.boolean(), async (json, options, isTerminal) => {
      const tty = isTerminal ? (['stdout', 'stderr'] as const) : [];
      const cache = join(folder, `cache-${++runs}`); // a run must not find the response of another one
      const env = { HOME: folder, XDG_CACHE_HOME: cache, FXRATES_SHARE_LIMIT: 'off', NO_COLOR: '1' };
      const replies = { body: bodyOf(json) };

      const { code, stdout, stderr } = await runCli(`latest ${options}`, { env, replies, tty, quota: success() });

      expect([0, 10]).toContain(code);
      expect(stdout + stderr).not.toContain('unexpected failure');
      if (isTerminal) expect((stdout + stderr).replace(OWN, '')).not.toMatch(/\p{Cc}/u);
      const exact = exactOutput(json, options);
      if (!isTerminal && code === 0 && exact !== undefined) expect(stdout).toBe(exact);
    }),
    { numRuns: 150 * EFFORT },
  );
});

const CONFIG = {
  version: 1,
  base_url: 'http://x',
  output: 'json',
  timeout: '5s',
  profile: 'work',
  profiles: { work: { base_url: 'http://y', max_wait: '1m' } },
};
const CREDENTIALS = {
  version: 1,
  keys: { default: { origin: 'http://x', api_key: CANARY }, work: { origin: 'http://y' } },
};
const RECORDED = { 'base=EUR': { success: true, data: { base: 'EUR' } } };
/** The text of a file: JSON that is nearly right, cut short, or anything. */
const fileText = (right: unknown) =>
  fc.oneof(
    mutated([right]).map((value) => JSON.stringify(value)),
    fc.tuple(fc.constant(JSON.stringify(right)), fc.nat()).map(([text, at]) => text.slice(0, at % text.length)),
    fc.string(),
    fc.constantFrom('', '[', '['.repeat(20_000), '{"a":'.repeat(20_000), '\u0000', '\ufeff{}'),
  );

test('for any config.json, credentials.json and recorded responses, commands end and show no key', async () => {
  const known = new Set<number>(Object.values(exitCodes));
  const home = join(folder, 'stored');
  const configs = join(home, '.config', 'fxrates');
  mkdirSync(configs, { recursive: true });
  const env = { HOME: home, FXRATES_SHARE_LIMIT: 'off', NO_COLOR: '1' };
  const fixture = join(home, 'recorded.ndjson');
  const lines = ['latest', 'latest base=EUR', 'quota', 'config list', 'auth status', 'doctor', 'auth logout'];
  const line = fc.constantFrom(...lines, `latest base=EUR --fixture-out ${fixture}`);
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(fileText(CONFIG), fileText(CREDENTIALS), fileText(RECORDED)),
      line,
      async ([config, credentials, recorded], command) => {
        writeFileSync(join(configs, 'config.json'), config);
        writeFileSync(join(configs, 'credentials.json'), credentials);
        chmodSync(join(configs, 'credentials.json'), 0o600);
        writeFileSync(fixture, recorded);

        const { code, stdout, stderr } = await runCli(command, { env, replies: success(), quota: success() });

        expect(known).toContain(code);
        expect(stdout + stderr).not.toContain('unexpected failure');
        expect(stdout + stderr).not.toContain(CANARY);
      },
    ),
    { numRuns: 100 * EFFORT },
  );
});
