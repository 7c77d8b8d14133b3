import { link, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runCli, usageError } from '../../helpers/cli-io.ts';
import { API_KEY, failure, success } from '../../helpers/service-replies.ts';
import { fileOf, temporaryFolder } from '../../helpers/temporary-folder.ts';

const KEYS = ['stdin', 'file', 'env', 'env-file'].map((name) => `key-from-${name}-${'0'.repeat(16)}`);
const [STDIN = '', FILE = '', ENV = '', ENV_FILE = ''] = KEYS;
const folder = temporaryFolder();

beforeAll(async () => {
  await writeFile(join(folder, 'key'), `${FILE}\n`);
  await writeFile(join(folder, 'env-key'), `${ENV_FILE}\r\n`);
});

/** In order of precedence; the two flags cannot be combined. */
const SOURCES = ['--key-stdin', '--key-file', 'FXRATES_API_KEY', 'FXRATES_API_KEY_FILE'] as const;
const COMBINATIONS = [...Array(16).keys()]
  .map((bits) => SOURCES.filter((_, index) => bits & (1 << index)))
  .filter((sources) => !(sources.includes('--key-stdin') && sources.includes('--key-file')));

test.each(COMBINATIONS.map((sources) => [sources.join(', ') || 'none', sources] as const))(
  'the first of %s applies',
  async (_, sources) => {
    const keyOf = new Map(SOURCES.map((source, index) => [source, KEYS[index]]));
    const flags = { '--key-stdin': ['--key-stdin'], '--key-file': ['--key-file', join(folder, 'key')] };
    const argv = sources.flatMap((source) => (source in flags ? flags[source as keyof typeof flags] : []));
    const env = {
      FXRATES_API_KEY: sources.includes('FXRATES_API_KEY') ? ENV : undefined,
      FXRATES_API_KEY_FILE: sources.includes('FXRATES_API_KEY_FILE') ? join(folder, 'env-key') : undefined,
    };

    const { code, requests } = await runCli(['latest', ...argv], { stdin: `${STDIN}\nmore`, env });

    const [first] = sources;
    expect(code).toBe(first === undefined ? 4 : 0);
    expect(requests.map(({ headers }) => headers['authorization'])).toEqual(
      first === undefined ? [] : [`Bearer ${keyOf.get(first)}`],
    );
  },
);

test.each([
  ['~/env-key', 0],
  ['~env-key', 3],
])('FXRATES_API_KEY_FILE=%s from an env file exits with %d: no shell has expanded it', async (path, code) => {
  const env = { FXRATES_API_KEY: undefined, FXRATES_API_KEY_FILE: path, HOME: folder };

  expect((await runCli('latest', { env })).code).toBe(code);
});

const OUTPUTS = ['batch --each n=1 --failed-out', 'probe --out', 'latest --fixture-out'];
const KEPT = [
  ['key-file', 'it is the key file'],
  ['variable-file', 'it is the file of FXRATES_API_KEY_FILE'],
  ['config.json', 'it contains the settings'],
  ['credentials.json', 'it contains the stored keys'],
  ['ca.pem', 'it is the file of NODE_EXTRA_CA_CERTS'],
] as const;
const NAMES = { own: async () => undefined, 'a hard link': link, 'a symbolic link': symlink };

test
  .skipIf(process.platform === 'win32')
  .each(OUTPUTS.flatMap((line) => KEPT.map(([name, reason]) => [line, name, reason] as const)))(
  '%s %s is refused before anything is sent or written: %s',
  async (line, name, reason) => {
    const home = temporaryFolder();
    const path = (file: string) => join(home, file);
    for (const [file] of KEPT) await writeFile(path(file), file === 'key-file' ? FILE : '');
    const env = {
      FXRATES_CONFIG_DIR: home,
      FXRATES_API_KEY_FILE: path('variable-file'),
      NODE_EXTRA_CA_CERTS: path('ca.pem'),
    };
    const before = await readFile(path(name), 'utf8');

    for (const [as, create] of Object.entries(NAMES)) {
      const typed = as === 'own' ? path(name) : path(as);
      await create(path(name), typed);
      const { code, stderr, requests } = await runCli([...line.split(' '), typed, '--key-file', path('key-file')], {
        env,
      });

      expect({ as, code, requests }).toEqual({ as, code: 2, requests: [] });
      expect(stderr).toContain(`fxrates: cannot write ${typed} — ${reason}\n`);
    }
    expect(await readFile(path(name), 'utf8')).toBe(before);
  },
);

test('without a key or a base URL in a profile, the next step stores one in that profile', async () => {
  await writeFile(join(folder, 'config.json'), '{"profiles":{"work":{}}}');

  const env = { FXRATES_API_KEY: '', FXRATES_CONFIG_DIR: folder };
  const withoutKey = await runCli('quota --profile work', { env });
  const withoutUrl = await runCli('quota --profile work', { env: { ...env, FXRATES_BASE_URL: '' } });

  expect(withoutKey.stderr).toContain('fxrates: no API key for https://api.example.test\n');
  expect(withoutKey.stderr).toContain('  Store it:    fxrates auth login --profile work\n');
  expect(withoutUrl.stderr).toContain('  Store it:    fxrates auth login --base-url https://… --profile work\n');
});

test.each([
  ['', 'it is empty'],
  ['\n\n \n', 'it has only white space'],
  ['two words of a key', 'it contains characters that are not valid in a key (white space'],
  [' leading-space-key', 'it starts or ends with white space'],
  ['export API_KEY=key-in-env-file', 'it is a line of an env file'],
  ['line-one\nline-two', 'it has several lines'],
  [Buffer.from('\uFEFFkey-of-powershell\r\n', 'utf16le').toString(), 'it is UTF-16; save it as UTF-8'],
])('a key file with %j is rejected without printing it', async (text, problem) => {
  const path = fileOf('bad-key', text);

  const { code, stderr, requests } = await runCli(['quota', '--key-file', path]);

  expect(code).toBe(3);
  expect(stderr).toContain(`fxrates: the key from --key-file ${path} cannot be used — ${problem}`);
  if (text !== '') expect(stderr).not.toContain(text);
  expect(requests).toEqual([]);
});

test.each([
  ...['latest --fixture-out', 'batch --each n=1 --failed-out', 'probe --out', 'quota --key-file'],
  ...['mock --state', 'mock --setup', 'mock --replay', 'mock --tls-cert', 'mock --tls-key'],
])('%s refuses an empty path, and -, which would be the name of a file', async (line) => {
  for (const path of ['', ' ', '-']) {
    expect(await usageError([...line.split(' '), path])).toContain(` expects the path of a file, got '${path}'`);
  }
  expect(await usageError(`${line} -`)).toContain('Standard input and output:  /dev/stdin, /dev/stdout');
});

test('a byte order mark before the key is ignored', async () => {
  const path = fileOf('windows-key', `\uFEFF${API_KEY}\r\n`);

  const ofFile = await runCli(['latest', '--key-file', path], { replies: success() });
  const ofStdin = await runCli('latest --key-stdin', { replies: success(), stdin: `\uFEFF${API_KEY}\n` });

  for (const { code, requests } of [ofFile, ofStdin]) {
    expect(code).toBe(0);
    expect(requests[0]?.headers).toMatchObject({ authorization: `Bearer ${API_KEY}` });
  }
});

test('--key-stdin is rejected on a terminal, which would show the key', async () => {
  expect(await usageError('quota --key-stdin', { tty: ['stdin'] })).toContain('fxrates quota --key-stdin < key.txt');
});

test('a refused key is reported with its last characters, its source and the values it overrides', async () => {
  const { code, stderr } = await runCli(['latest', '--key-file', join(folder, 'key')], { replies: failure(401) });

  expect(code).toBe(4);
  expect(stderr).toContain(`the key is from --key-file ${join(folder, 'key')}`);
  expect(stderr).toContain('takes precedence over FXRATES_API_KEY.');
  expect(stderr).not.toContain(FILE);
});
