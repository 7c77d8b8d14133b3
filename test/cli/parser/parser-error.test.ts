import { expect, test } from 'vitest';
import { refuseTypedKey } from '../../../src/cli/parser/parser-error.ts';
import { operations } from '../../../src/generated/operations.ts';
import { runCli, usageError } from '../../helpers/cli-io.ts';
import { API_KEY } from '../../helpers/service-replies.ts';

test.each([
  ['latst', "unknown command 'latst'", 'Did you mean latest?'],
  ['USD', "unknown command 'USD'", 'See: fxrates --help'],
  ['latest --jsn', "unknown option '--jsn'", 'Did you mean --json?'],
  ['latest --watch -1s', "unknown option '-1s'", 'See: fxrates latest --help'],
  ['latest --base USD', "unknown option '--base' — parameters are written name=value", 'See: fxrates latest --help'],
  ['latest --base=USD', "unknown option '--base=USD' — parameters are written name=value", 'See: fxrates latest'],
  ['api /x --base USD', "unknown option '--base' — parameters are written name=value", 'See: fxrates api --help'],
  ['quota --base USD', "unknown option '--base'", 'See: fxrates quota --help'],
  ['latest --output', "option '-o, --output <format>' argument missing", 'See: fxrates latest --help'],
  ['quota base=USD', 'quota accepts no parameters\n', 'See: fxrates quota --help'],
  ['latest --json=true', "unknown option '--json=true' — --json has no value\n", ''],
  ['lates --help', "unknown command 'lates'", 'Did you mean latest?'],
  ['login -h', "unknown command 'login'", 'fxrates auth login'],
  ['latest -z', "unknown option '-z'", 'See: fxrates latest --help'],
  ['latest --page 2', "unknown option '--page' — parameters are written name=value", 'See: fxrates latest'],
  ['latest --dry-run', "unknown option '--dry-run'", 'The request instead of sending it:  --curl'],
  ['batch --dry-run', "unknown option '--dry-run'", 'See: fxrates batch --help'],
  ['config list --url x', "unknown option '--url'", 'See: fxrates config list --help'],
  ['batch --concurrency 5', "unknown option '--concurrency'", 'as many requests at once as the limit allows'],
  ['latest -o rates.json', "--output expects a format, got 'rates.json'\n", 'To a file:  > rates.json'],
  ['latest --get $.rates.EUR', "--get expects a path, got '$.rates.EUR'\n", 'e.g. --get rates.EUR'],
  ["latest --get .list[0]['name']", '--get expects a path', '--get list.0.name'],
  ['latest --get C:/Git/rates/EUR', "--get expects a path of names, got 'C:/Git/rates/EUR'", 'Without the first /:'],
  ['latest --get c:\\Git\\rates', '--get expects a path of names', 'export MSYS_NO_PATHCONV=1\n'],
  ['api', "missing required argument 'path'", ''],
  ['quota extra', 'quota accepts no arguments\n', 'See: fxrates quota --help'],
  ['auth token x', 'auth token accepts no arguments\n', 'See: fxrates auth token --help'],
  ['completion tcsh', "unknown command 'tcsh'\n", 'Subcommands: bash, zsh, fish, powershell'],
  ['auth logn', "unknown command 'logn'", 'Did you mean login?'],
  ['latest usd', "'usd' is not a parameter — parameters are written name=value, e.g. base=USD", ''],
  [
    'config get timeout x',
    "config get accepts at most 1 argument — got 'timeout', 'x'",
    'See: fxrates config get --help',
  ],
  ['batch a b', "batch accepts at most 1 argument — got 'a', 'b'", 'See: fxrates batch --help'],
  ['batch base=USD base=EUR', 'batch accepts at most 1 argument', 'See: fxrates batch --help'],
  ['help mcok', "no help about 'mcok'\n", 'Did you mean fxrates help mock?'],
  ['help option', "no help about 'option'\n", 'Did you mean fxrates help options?'],
  ['help auth lgoin', "no help about 'auth lgoin'\n", 'Did you mean fxrates help auth login?'],
  ['help nonsense', "no help about 'nonsense'\n\n  Commands: fxrates --help", ''],
  ['help constructor', "no help about 'constructor'\n", 'Commands: fxrates --help'],
  ['help auth nonsense', "no help about 'auth nonsense'\n", 'Commands: fxrates auth --help'],
  ['help nonsense quota', "no help about 'nonsense quota'\n", 'Commands: fxrates --help'],
  ['batch --watch', "'fxrates batch' has no --watch\n", 'See: fxrates batch --help'],
  ['quota --each base=USD', "'fxrates quota' has no --each\n", ''],
  ['auth status --port 1', "'fxrates auth status' has no --port\n", ''],
  ['config set retries 3 extra', 'config set accepts at most 2 arguments — got', ''],
  ['mock --port abc', "--port expects a whole number from 0 to 65535, got 'abc'", ''],
  ['mock --port 65536', '--port expects a whole number from 0 to 65535', ''],
  ['mock --plan gold', '--plan expects one of free, developer, unlimited', ''],
  ['mock --seed x', '--seed expects a whole number', ''],
  ['mock --now yesterday', '--now expects a time with its zone', ''],
  ['mock --now 2026-02-30T00:00:00Z', "--now expects a time with its zone, got '2026-02-30T00:00:00Z'", ''],
])('%s', async (line, what, hint) => {
  const stderr = await usageError(line);

  expect(stderr).toContain(`fxrates: ${what}`);
  expect(stderr).toContain(hint);
});

test.each([
  ['auth login', 'auth login'],
  ['config set api_key', 'auth login'],
  ['', 'quota'],
  ['quota', 'quota'],
  ['latest', 'quota'],
])('a key as an argument of %j is refused and not shown; the next step is %s --key-stdin', async (command, next) => {
  const stderr = await usageError([...command.split(' ').filter(Boolean), API_KEY]);

  expect(stderr).toContain('refusing an argument that contains an API key');
  expect(stderr).toContain(`:  fxrates ${next} --key-stdin < key.txt\n`);
  expect(stderr).toContain('Consider this key exposed');
  expect(stderr).not.toContain(API_KEY);
});

test.each([
  [['quota', '--key'], true],
  [['--token=x', 'quota'], true],
  [['quota', '--', '--key'], false],
  [['mock', '--', 'tool', '--key', 'x'], false],
  [['latest', 'note=my-key'], false],
  [['latest', 'note=--key'], false],
])('whether %j gives a key as an option: %s', (argv, isRefused) => {
  const refuse = () => refuseTypedKey(argv, { path: [] });

  if (isRefused) expect(refuse).toThrow('does not exist');
  else expect(refuse).not.toThrow();
});

test('with --json, in any position, a parser error is one JSON line', async () => {
  for (const line of ['latest --b --json', '--json latest --b', '-o json latest --b', 'latest --output=json --b']) {
    expect(JSON.parse(await usageError(line)).error).toMatchObject({ code: 'usage', exit_code: 2 });
  }
});

test('words after -- do not change how the error is reported', async () => {
  expect((await runCli('latest -- --json')).stderr).toMatch(/^fxrates: '--json' is not a parameter/);
});

test.each(['--api-key', '--apikey', '--api_key', '--key', '--token', '-key', '--api-key=SECRET-VALUE'])(
  '%s does not exist, and its value is not repeated',
  async (flag) => {
    const stderr = await usageError(['quota', flag, 'SECRET-VALUE']);

    expect(stderr).not.toContain('SECRET-VALUE');
    expect(stderr).toContain('a key on the command line is visible to other users');
    expect(stderr).toContain('--key-stdin');
  },
);

/** Those that the contract does not have as operations. */
const otherNames = [
  ['latest --format json', 'The format is:  --output'],
  ['latest --csv', 'The format is:  --output'],
  ['latest --tsv', 'The format is:  --output'],
  ['latest --table', 'The format is:  --output'],
  ['latest --query', '--get rates.EUR'],
  ['latest --jq .data', '--get rates.EUR'],
  ['latest --pretty', 'The format is:  --output'],
  ['latest --raw', '--envelope'],
  ['latest --silent', '--quiet'],
  ['latest -s', '--quiet'],
  ['latest --debug', 'Requests:  -v'],
  ['latest --log-level=debug', 'Requests:  -v'],
  ['latest -I', '-vv'],
  ['latest --max-time 5', '--timeout 10s'],
  ['latest --connect-timeout=5', '--timeout 10s'],
  ['latest --max-retries 3', '--retries 2'],
  ['latest --interval 5', '--watch 10m'],
  ['latest --url https://fx.test', '--base-url'],
  ['latest -H accept:text/csv', 'The key:  --key-file'],
  ['latest --user me', 'FXRATES_API_KEY'],
  ['latest -k', 'NODE_EXTRA_CA_CERTS=ca.pem'],
  ['latest --cacert ca.pem', 'NODE_EXTRA_CA_CERTS=ca.pem'],
  ['latest --proxy http://127.0.0.1:8080', 'HTTPS_PROXY='],
  ['latest -X POST', 'Every request is a GET'],
  ['latest --data {}', 'Every request is a GET'],
  ['latest --output-file x', '> rates.json'],
  ['latest -y', '--no-input'],
  ['watch', 'fxrates latest --watch'],
  ['login', 'fxrates auth login'],
  ['logout', 'fxrates auth logout'],
  ['status', 'fxrates auth status'],
  ['rates', 'fxrates latest\n'],
  ['serve', 'fxrates mock'],
  ['convert', '--get rates.EUR'],
].filter(([name = '']) => !Object.hasOwn(operations, name));

test.each(otherNames)('a name from other tools, %s, suggests %s', async (line, hint) => {
  const stderr = await usageError(line);

  expect(stderr).toContain(hint);
  expect(stderr).not.toMatch(/Did you mean|fxrates latest \w+=[^U]/);
});
