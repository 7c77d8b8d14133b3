import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../../../src/cli/program/main.ts';
import { FakeIo, type FakeIoOptions, jsonLines, runCli, usageError } from '../../../helpers/cli-io.ts';
import { FakeClock, quiet } from '../../../helpers/fake-clock.ts';
import type { SentRequest } from '../../../helpers/fake-fetch.ts';
import { mockWithKey } from '../../../helpers/mock-with-key.ts';
import { API_KEY, exhaustedQuota, failure, rateLimited, success } from '../../../helpers/service-replies.ts';
import { fileOf, temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { until } from '../../../helpers/until.ts';

const folder = temporaryFolder();

/** Returns the query; fails for `fail=…` with that status. */
const echo = ({ url }: SentRequest) => {
  const query = Object.fromEntries(new URL(url).searchParams);
  const status = Number(query['fail'] ?? 200);
  return status === 200 ? success(query) : failure(status);
};
const batch = (line: string | readonly string[], options: FakeIoOptions = {}) =>
  runCli(['batch', ...(typeof line === 'string' ? line.split(' ') : line)], { replies: echo, ...options });
/** What a batch says that is refused before the first request. */
const refusal = (line: string | readonly string[], options: FakeIoOptions = {}) =>
  usageError(['batch', ...(typeof line === 'string' ? line.split(' ') : line)], options);
const lines = (count: number) => Array.from({ length: count }, (_, n) => `n=${n}\n`).join('');

test('prints the response to each line of a file', async () => {
  const path = fileOf(
    'queries.txt',
    'base=USD symbols=EUR,GBP\n\n# remark\n  {"base":"EUR","symbols":["A","B"]}\r\n{}\n',
  );

  const { code, stdout, stderr, requests } = await batch([path]);

  expect(code).toBe(0);
  expect(jsonLines(stdout)).toEqual([
    { query: { base: 'USD', symbols: 'EUR,GBP' }, data: { base: 'USD', symbols: 'EUR,GBP' } },
    { query: { base: 'EUR', symbols: ['A', 'B'] }, data: { base: 'EUR', symbols: 'B' } },
    { query: {}, data: {} },
  ]);
  expect(requests[1]?.url).toContain('base=EUR&symbols=A&symbols=B');
  expect(stderr).toMatch(/fxrates: batch done after \d+ s: 3 succeeded, 0 failed\n$/);
});

test('--cache serves a second batch without requests, and reports that', async () => {
  const env = { XDG_CACHE_HOME: folder };

  const first = await batch('--cache 5m --each n=1,2', { env, horizonMs: 100 });
  // The store is written after the responses are printed.
  await until(async () => {
    const names = await readdir(join(folder, 'fxrates')).catch(() => []);
    return names.filter((name) => name.endsWith('.json')).length === 2;
  });
  const second = await batch('--cache 5m --each n=1,2,3', { env, horizonMs: 100 });

  expect([first.requests.length, second.requests.length]).toEqual([2, 1]);
  expect(jsonLines(second.stdout)).toHaveLength(3);
  expect(second.stderr).toContain('3 succeeded, 2 of them without a request, 0 failed');
});

test.each([
  ['table', 'n           name        value\n1           n           1\n'],
  ['tsv', '{"query":'],
  ['csv', 'n,name,value\n1,n,1\n'],
])('with FXRATES_OUTPUT=%s prints what a batch can', async (value, start) => {
  const stdout = expect.stringMatching(new RegExp(`^${start}`));

  expect(await batch('--each n=1', { env: { FXRATES_OUTPUT: value } })).toMatchObject({ code: 0, stdout });
});

test.each(['base=', 'base=USD symbols=', 'base="USD"', "'base=USD'", '"base=USD symbols=EUR"', '{"base":"USD\\r"}'])(
  'the line %s, which is certainly wrong, is reported before anything is sent',
  async (line) => {
    expect(await refusal('-', { stdin: `base=EUR\n${line}\n` })).toContain('line 2: ');
  },
);

test.each([
  ['{" base":"USD"}', "line 1: the name of the parameter ' base' is empty"],
  ['{"":"x"}', "line 1: the name of the parameter '' is empty"],
  ['{"symbols":[]}', "line 1: 'symbols' expects a string"],
  ['{"base":"\\ud800"}', "line 1: the parameter 'base' is not valid UTF-8"],
  ['{"b\\udc00":"x"}', 'is not valid UTF-8'],
  ['{"base=":"USD"}', "line 1: the name of the parameter 'base=' is empty, has a ="],
  ['EUR\nGBP\n', "line 1: 'EUR' is not a parameter — parameters are written name=value, e.g. base=EUR\n"],
  ['["EUR", "GBP"]', 'line 1: "GBP"] has quotes, which only a shell removes'],
  ['[\n  {"base":"EUR"},\n  {"base":"USD"}\n]\n', 'line 2: it is not a JSON object'],
  ['{\n  "base": "EUR"\n}\n', 'line 1: it is not a JSON object'],
  ['base=USD\n{"timeoutMs":5}', "line 2: 'timeoutMs' is an option of the client, not a parameter"],
])('the queries %s, of which one is certainly wrong, are refused', async (stdin, says) => {
  expect(await refusal('-', { stdin })).toContain(says);
});

test('an empty text in JSON is deliberate, as is --empty', async () => {
  const { requests } = await batch('- --empty base', { stdin: '{"n":""}\n' });

  expect(requests[0]?.url).toContain('?n=&base=');
});

test('a file of --failed-out that cannot be written at the end is reported', async () => {
  const gone = join(folder, 'gone');
  mkdirSync(gone);
  const replies = () => {
    rmSync(gone, { recursive: true, force: true });
    return failure(404);
  };

  const { code, stderr } = await batch(`--each n=1,2 --failed-out ${join(gone, 'failed.txt')}`, { replies });

  expect(code).toBe(1);
  expect(stderr).toMatch(/cannot write .*failed\.txt — its folder does not exist\n$/);
});

test.each([
  ['-o csv --get EUR --get GBP', 'n,EUR,GBP\n1,1,\n2,,2\n'],
  ['-o table --get EUR --get GBP', 'n           EUR         GBP\n1           1\n2                       2\n'],
])('batch %s leaves the cell of a missing path empty where another one exists', async (options, start) => {
  const replies = ({ url }: SentRequest) => success(url.includes('n=1') ? { EUR: 1 } : { GBP: 2 });

  const { code, stdout } = await batch(`--each n=1,2 --ordered ${options}`, { replies });

  expect([code, stdout.slice(0, start.length)]).toEqual([0, start]);
});

const RATES = ({ url }: SentRequest) => {
  const base = new URL(url).searchParams.get('base');
  return base === 'XXX'
    ? failure(404)
    : { body: `{"success":true,"data":{"of":"${base}","rates":{"EUR":1.10,"GBP":2}}}` };
};

test.each<readonly [options: string, rows: string]>([
  [
    '',
    'base,name,value\nUSD,of,USD\nUSD,rates.EUR,1.10\nUSD,rates.GBP,2\nCHF,of,CHF\nCHF,rates.EUR,1.10\nCHF,rates.GBP,2\n',
  ],
  ['--get rates.EUR', 'base,rates.EUR\nUSD,1.10\nCHF,1.10\n'],
  ['--get of --get rates.GBP', 'base,of,rates.GBP\nUSD,USD,2\nCHF,CHF,2\n'],
  ['--get rates', 'base,name,value\nUSD,EUR,1.10\nUSD,GBP,2\nCHF,EUR,1.10\nCHF,GBP,2\n'],
])('-o csv %s prints one table, with the failures on stderr', async (options, rows) => {
  const line = `-o csv ${options} --ordered --each base=XXX,USD,CHF`;

  const { code, stdout, stderr } = await batch(line.split(/ +/), { replies: RATES });

  expect([code, stdout]).toEqual([1, rows]);
  expect(stderr).toMatch(/^fxrates: base=XXX: the service refused .*\(HTTP 404.*\)\n/);
  expect(stderr).toMatch(/2 succeeded, 1 failed\n$/);
});

test.each([
  [
    'the parameters of -p after those of the query, which take precedence',
    '--get rates.EUR -p symbols=EUR,GBP -p base=CHF',
    'base=USD\nbase=EUR\n',
    'base,symbols,rates.EUR\nUSD,"EUR,GBP",1.10\nEUR,"EUR,GBP",1.10\n',
  ],
  [
    'an empty cell for a parameter that the query does not have, such as constructor',
    '--get rates.GBP',
    'constructor=1\nn=2\n',
    'constructor,n,rates.GBP\n1,,2\n,2,2\n',
  ],
  [
    'a column for each parameter of any query',
    '--get rates.EUR',
    'base=USD\n{"symbols":["EUR","GBP"],"note":"a,b"}\n',
    'base,symbols,note,rates.EUR\nUSD,,,1.10\n,EUR GBP,"a,b",1.10\n',
  ],
])('-o csv has %s', async (_, options, stdin, expected) => {
  const { stdout } = await batch(`- -o csv --ordered ${options}`, { stdin, replies: RATES });

  expect(stdout).toBe(expected);
});

test.each([
  ['--get n --each n=1,2 --each m=3', 'query.n,m,n\n1,3,1\n2,3,2\n'],
  ['--each name=a,b', 'query.name,name,value\na,name,a\nb,name,b\n'],
])('-o csv %s has a column for each parameter, also with the name of another column', async (options, expected) => {
  expect((await batch(`-o csv --ordered ${options}`)).stdout).toBe(expected);
});

test('a path of --get that the first response lacks stops the batch, before it uses more quota', async () => {
  const path = join(folder, 'without-value.txt');
  const line = `-o csv --get rates.eur --each n=${Array.from({ length: 100 }, (_, n) => n).join()}`;

  const { code, stdout, stderr, requests } = await batch([...line.split(' '), '--failed-out', path], {
    replies: RATES,
  });

  expect([code, stdout]).toEqual([10, '']);
  expect(requests.length).toBeLessThan(40);
  expect(stderr).toContain("fxrates: the response has no 'rates.eur'\n\n  rates has: EUR");
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(101);
});

test('a later response without the value of --get is a failure of its query', async () => {
  const replies = ({ url }: SentRequest) => success(url.includes('n=2') ? {} : { EUR: 1 });

  const { code, stdout, stderr } = await batch('-o csv --get EUR --ordered --each n=1,2,3', { replies });

  expect([code, stdout]).toEqual([1, 'n,EUR\n1,1\n3,1\n']);
  expect(stderr).toContain("fxrates: n=2: the response has no 'EUR'\n");
});

test.each([
  [
    '--each base=USD,EUR --each n=1,2 -p symbols=GBP',
    '',
    ['USD', 'EUR'].flatMap((base) => ['1', '2'].map((n) => ({ base, n, symbols: 'GBP' }))),
  ],
  [
    '- -p base=GBP -p symbols=EUR',
    'base=USD\n{}\n',
    [
      { base: 'USD', symbols: 'EUR' },
      { base: 'GBP', symbols: 'EUR' },
    ],
  ],
  ['-', '{"query":{"base":"USD"},"error":{"code":"server"}}\n', [{ base: 'USD' }]],
])('the queries of %s and the lines %j', async (line, stdin, queries) => {
  const { stdout } = await batch(`${line} --ordered`, { stdin });

  expect(jsonLines(stdout).map(({ query }) => query)).toEqual(queries);
});

test('a failed query has an output line, and the exit code is 1', async () => {
  const { code, stdout, stderr } = await batch('- --ordered', { stdin: 'n=1\nfail=404\nn=2\n' });

  expect(code).toBe(1);
  expect(jsonLines(stdout)).toMatchObject([
    { query: { n: '1' }, data: { n: '1' } },
    { query: { fail: '404' }, error: { code: 'request', status: 404, exit_code: 9 } },
    { query: { n: '2' }, data: { n: '2' } },
  ]);
  expect(stderr).toContain('2 succeeded, 1 failed');
});

const slowFirst = (clock: FakeClock) => async (request: SentRequest) => {
  await clock.sleep(request.url.includes('n=0') ? 5000 : 1000);
  return echo(request);
};

test.each([
  ['-', ['1', '2', '0']],
  ['- --ordered', ['0', '1', '2']],
])('%s prints three responses in the order %j', async (line, expected) => {
  const clock = new FakeClock();

  const { stdout } = await batch(line, { clock, stdin: lines(3), replies: slowFirst(clock) });

  expect(jsonLines(stdout).map(({ query }) => query.n)).toEqual(expected);
});

test('--failed-out contains the failed queries, for the next batch', async () => {
  const path = join(folder, 'failed.txt');

  const first = await batch(['-', '--failed-out', path], { stdin: 'n=1\nfail=404 x=1.10\n{"fail":500}\n' });

  expect(first.code).toBe(1);
  expect(readFileSync(path, 'utf8')).toBe('{"fail":"404","x":"1.10"}\n{"fail":"500"}\n');
  expect(first.stderr).toContain(`fxrates: 2 queries written to ${path}; run the batch again with this file\n`);

  const second = await batch([path, '--failed-out', path], { replies: success() });

  expect(second.code).toBe(0);
  expect(jsonLines(second.stdout).map(({ query }) => query)).toEqual([{ fail: '404', x: '1.10' }, { fail: '500' }]);
  expect(readFileSync(path, 'utf8')).toBe('');

  const withoutKey = await batch(['-', '--failed-out', path], { stdin: 'n=1\n', env: { FXRATES_API_KEY: '' } });

  expect(withoutKey.stderr).toMatch(/^fxrates: 1 query written to .*\nfxrates: no API key/); // no report of a batch
  expect(readFileSync(path, 'utf8')).toBe('{"n":"1"}\n');
});

test('names every invalid line before the first request, without keys', async () => {
  const stdin = `base=USD\nfoo\n{"a":{}}\n[1]\n{"a":\napi_key=1\nb=${API_KEY}\n{"b":"${API_KEY}"}\n{"a":[null]}`;

  const stderr = await refusal('-', { stdin });

  expect(stderr).toContain('fxrates: 8 lines of standard input cannot be used — nothing was sent\n');
  for (const number of [2, 3, 4, 5, 6, 7, 8, 9]) expect(stderr).toContain(`\n  line ${number}: `);
  expect(stderr).not.toContain(API_KEY);
});

test.each([
  ['Latin-1', Buffer.from('base=USD\nbase=caf\u00E9\n', 'latin1'), "line 2: the parameter 'base' is not valid UTF-8"],
  ['UTF-16', Buffer.from('\uFEFFbase=USD\n', 'utf16le'), 'it is UTF-16 or no text; save it as UTF-8'],
  ['UTF-16 without a mark', Buffer.from('base=USD\n', 'utf16le'), 'it is UTF-16 or no text; save it as UTF-8'],
  ['an archive', Buffer.from('PK\u0003\u0004\u0014\0', 'latin1'), 'it is UTF-16 or no text; save it as UTF-8'],
  ['lines that end in CR', Buffer.from('base=USD\rbase=EUR\r'), 'line 1: it contains a carriage return'],
])('a file in %s is rejected before the first request', async (_encoding, bytes, problem) => {
  expect(await refusal([fileOf('queries.txt', bytes)])).toContain(problem);
});

test.each([
  [10, /line 10: [^\n]*\n$/],
  [12, /line 10: [^\n]*\n {2}and 2 more\n$/],
])('of %d invalid lines, lists at most ten', async (count, end) => {
  const { stderr } = await batch('-', { stdin: 'wrong\n'.repeat(count) });

  expect(stderr.match(/line \d+:/g)).toHaveLength(10);
  expect(stderr).toMatch(end);
});

test.each<[line: string | readonly string[], message: RegExp, options?: FakeIoOptions]>([
  [[], /there are no queries on standard input/, { stdin: '' }],
  [[], /there are no queries on standard input/, { stdin: '# none\n' }],
  [[], /batch expects a file of queries or --each/, { tty: ['stdin'] }],
  ['- --each base=USD', /batch expects a file of queries or --each/],
  ['--each base=USD,EUR symbols=GBP', /batch expects a file of queries or --each — pass one of them/],
  ['--each base', /--each expects name=value,value, got 'base'/],
  ['--each base=USD,', /--each expects name=value,value/],
  [['--each', 'base=USD, EUR'], /--each expects name=value,value, got 'base=USD, EUR'/],
  [['-p', 'symbols=EUR', ''], /batch expects a file of queries, got '' — a variable of the shell may not be set/],
  ['--each api_key=1', /refusing to send 'api_key'/],
  ['- --key-stdin', /--key-stdin and queries on stdin cannot be used together — pass a file or --each/],
  ['--key-stdin', /--key-stdin and queries on stdin cannot be used together — pass a file or --each/],
  [`${join(folder, 'none.txt')}`, /cannot read the queries in .*none\.txt — the file does not exist/],
  [`- --failed-out ${join(folder, 'none', 'x')}`, /cannot write .*none\/x — its folder does not exist/],
  ['- --get rates.EUR', /only with -o csv or table.*fxrates batch … \| jq '\.data\.rates\.EUR'/s],
  ['- -o tsv', /'fxrates batch' has no --output tsv — valid formats: auto, table, json, csv/],
  ['--each base=USD,EUR --each base=GBP', /--each sets 'base' twice/],
  ['base=USD,EUR', /cannot read the queries in base=USD,EUR — the file does not exist/],
])('refuses %s', async (line, message, options = { stdin: 'n=1' }) => {
  expect(await refusal(line, options)).toMatch(message);
});

test('a batch without queries succeeds', async () => {
  const clock = new FakeClock();
  const { now } = clock;
  clock.now = () => {
    clock.set(1); // some milliseconds pass
    return now.call(clock);
  };
  const stderr = 'fxrates: batch done after 0 s: 0 succeeded, 0 failed\n';

  expect(await batch('-', { stdin: '# none\n', clock })).toMatchObject({ code: 0, stdout: '', stderr });
});

test.each([
  ['a key that is rejected with 401', failure(401), undefined, 4, 'authentication'],
  ['a key that is rejected with 403', failure(403), failure(403), 4, 'authentication'],
  ['a used-up quota', failure(429, { code: 'quota_exceeded' }), success(exhaustedQuota()), 8, 'quota_exhausted'],
] as const)('with %s, every query fails, without a request for each', async (_, replies, quota, expected, kind) => {
  const { code, stdout, requests } = await batch('-', {
    stdin: lines(500),
    replies,
    ...(quota && { quota }),
  });

  expect(code).toBe(expected);
  const results = jsonLines(stdout);
  expect(new Set(results.map(({ query }) => query.n)).size).toBe(500);
  expect(results.every(({ error }) => error.code === kind)).toBe(true);
  expect(requests.length).toBeLessThan(300);
});

test('the summary counts queries over the quota apart from those over the limit', async () => {
  const replies = [rateLimited('1'), failure(429, { code: 'quota_exceeded' })];

  const { stderr } = await batch('-', { stdin: lines(5), replies, quota: success(exhaustedQuota()) });

  expect(stderr).toMatch(/0 succeeded, 5 failed, 5 of them over the quota, 1 request over the limit\n$/);
});

test.each([
  ['-q', [], 'n=1 fail=403\nn=2', /^fxrates: n=1 fail=403: .*\n$/],
  ['-qq', [], 'n=1 fail=403\nn=2', /^$/],
  ['-q', [rateLimited('40')], lines(40), /^$/],
  ['-qq', [rateLimited('40')], lines(40), /^$/],
])('with %s after the refusals %j it prints only data, and the reasons of failures with -q', async (...given) => {
  const [option, refusals, stdin, expected] = given;

  expect((await batch(`- ${option}`, { stdin, replies: [...refusals, echo] })).stderr).toMatch(expected);
});

test('queries that are answered with 403 fail alone, and quota is called once for them', async () => {
  const stdin = lines(20).replaceAll(/n=(\d*[05])$/gm, 'fail=403 n=$1');

  const { code, stdout, requests } = await batch('-', { stdin });

  expect(code).toBe(1);
  expect(jsonLines(stdout)).toHaveLength(20);
  expect(jsonLines(stdout).filter(({ error }) => error?.code === 'authentication')).toHaveLength(4);
  expect(requests.filter(({ url }) => url.endsWith('/quota')).length).toBeLessThanOrEqual(2); // the client's look-up, and this
});

test('waits for the limit longer than the default of --max-wait', async () => {
  const stderr = expect.stringContaining('1 succeeded, 0 failed, 2 requests over the limit');
  const replies = [rateLimited('70'), rateLimited('70'), echo];

  expect(await batch('--each n=1', { replies })).toMatchObject({ code: 0, stderr });
});

test.each([
  ['everything', '0 succeeded, 0 failed, 2 without a result', []],
  ['the rest after a response', '1 succeeded, 0 failed, 1 without a result', [{ n: '1' }]],
])('ends if the service refuses %s for a quarter of an hour', async (what, counts, answered) => {
  let refusals = 0;
  // Without an end, the batch would wait for more than half an hour, and succeed.
  const replies = (request: SentRequest) => {
    if ((what !== 'everything' && request.url.includes('n=1')) || refusals >= 400) return echo(request);
    refusals += 1;
    return rateLimited('5');
  };

  const { code, stdout, stderr } = await batch('--each n=1,2', { replies, quota: rateLimited('5') });

  expect(code).toBe(7);
  expect(jsonLines(stdout).map(({ query }) => query)).toEqual(answered);
  expect(stderr).toMatch(new RegExp(`batch stopped after 15 min[^:]*: ${counts}`));
  expect(stderr).toMatch(/no query finished for [^—]+ — the service refused \d+ requests/);
});

test.each([
  ['its process was stopped for longer, such as with Ctrl-Z', 1, /batch done after/],
  ['the system clock is set forward, as after the sleep of a laptop', -1, /batch done after 2\d s: 1 succeeded/],
])('does not end because %s', async (_, direction, says) => {
  const clock = new FakeClock();
  let skippedMs = 0;
  const replies = (request: SentRequest) => {
    if (skippedMs > 0) return echo(request);
    skippedMs = 3_600_000;
    if (direction < 0) clock.set(skippedMs);
    return rateLimited('20');
  };
  const monotonicNow = () => clock.now() + direction * skippedMs;

  const { code, stderr } = await batch('--each n=1', { replies, clock: Object.assign(clock, { monotonicNow }) });

  expect(code).toBe(0);
  expect(stderr).toMatch(says);
});

test.each([
  ['--no-wait', '--each n=1,2 --no-wait', {}],
  ['--no-wait, although the environment allows waits', '--each n=1,2 --no-wait', { FXRATES_MAX_WAIT: '5s' }],
  ['FXRATES_MAX_WAIT=0', '--each n=1,2', { FXRATES_MAX_WAIT: '0' }],
  ['a profile with max_wait 0', '--each n=1,2 --profile fast', { FXRATES_CONFIG_DIR: folder }],
])('with %s a query that would have to wait fails, with the option that waits', async (_, line, env) => {
  writeFileSync(join(folder, 'config.json'), '{"profiles":{"fast":{"max_wait":"0"}}}');
  const replies = [rateLimited('20'), echo];

  const { code, stdout } = await batch(line, { env, replies });
  const [, advised = ''] = /To wait: {2}(--max-wait \w+)/.exec(stdout) ?? [];
  const again = await batch(`${line.replace(' --no-wait', '')} ${advised}`, { env, replies });

  expect(code).toBe(1);
  expect([again.code, jsonLines(again.stdout).length]).toEqual([0, 2]);
});

test('if the reader closes the pipe, the batch ends silently and --failed-out has the rest', async () => {
  const path = join(folder, 'closed.txt');
  const options = { stdin: lines(3), stdoutError: 'EPIPE' };

  expect(await batch(`- --failed-out ${path} -q`, options)).toMatchObject({ code: 0, stderr: '' });
  expect(jsonLines(readFileSync(path, 'utf8'))).toHaveLength(3);
});

test.each(['', '--ordered'])('if a line is not written, --failed-out has its query and the rest: %s', async (flag) => {
  const path = join(folder, 'unwritten.txt');
  const options = { stdin: 'n=0\nfail=404\nn=2\nn=3\n', stdoutError: 'ENOSPC', stdoutWrites: 1 };

  const { code, stdout, stderr } = await batch(`- --failed-out ${path} ${flag}`.trim(), options);

  expect(code).toBe(1);
  expect(stderr).toMatch(/batch stopped after [^:]+: 1 succeeded, 0 failed, 3 without a result\n/);
  expect(stderr).toContain('fxrates: cannot write the output');
  expect(jsonLines(stdout).map(({ query }) => query)).toEqual([{ n: '0' }]);
  expect(jsonLines(readFileSync(path, 'utf8'))).toEqual([{ fail: '404' }, { n: '2' }, { n: '3' }]);
});

/** Presses Ctrl-C three seconds after the request that contains `during`, and never responds to it. */
function interrupted(args: readonly string[], stdin: string, during: string) {
  const clock = new FakeClock();
  const io: FakeIo = new FakeIo({
    clock,
    stdin,
    replies: async (request) => {
      if (!request.url.includes(during)) return echo(request);
      await clock.sleep(3000);
      io.interrupt('SIGINT');
      return 'never';
    },
  });
  return clock.run(main(['batch', '-', ...args], io)).then((code) => ({ code, ...io.written }));
}

test('Ctrl-C ends the batch, reports the queries left, and writes them to --failed-out', async () => {
  const path = join(folder, 'left.txt');

  const { code, stderr } = await interrupted(['--failed-out', path], 'n=0\nn=1\nfail=404\n', 'n=1');

  expect(code).toBe(130);
  expect(stderr).toMatch(/batch stopped after [^:]+: 1 succeeded, 1 failed, 1 without a result\n/);
  expect(readFileSync(path, 'utf8')).toBe('{"n":"1"}\n{"fail":"404"}\n');
});

test('Ctrl-C with --ordered still prints the available responses', async () => {
  const { code, stdout } = await interrupted(['--ordered'], lines(3), 'n=0');

  expect(code).toBe(130);
  expect(jsonLines(stdout).map(({ query }) => query.n)).toEqual(['1', '2']);
});

interface OnMockOptions extends FakeIoOptions {
  readonly args?: readonly string[];
  readonly plan?: 'free' | 'developer';
}

/** A batch of `count` queries against a mock in virtual time. */
async function onMock(count: number, { args = [], plan = 'developer', ...options }: OnMockOptions = {}) {
  const { mock, key } = mockWithKey({ clock: 'virtual', plan });
  const startedAt = mock.clock.now();
  const env = { FXRATES_API_KEY: key, FXRATES_BASE_URL: mock.baseUrl, ...options.env };
  const world = { ...options, env, fetch: mock.fetch as never, clock: mock.clock, stdin: lines(count) };
  const result = await runCli(['batch', '-', '-p', 'symbols=EUR', ...args], world);
  return { ...result, minutes: (mock.clock.now() - startedAt) / 60_000 };
}

test('1,200 queries at 300 per minute take 4 minutes, plus at most a second per minute', async () => {
  const { code, stdout, minutes, stderr } = await onMock(1200);

  expect(code).toBe(0);
  expect(jsonLines(stdout)).toHaveLength(1200);
  expect(minutes).toBeLessThanOrEqual((1200 / 300) * (61 / 60));
  const log = stderr.split('\n').filter((line) => line.includes(' of 1,200 done, '));
  expect(log.length).toBeGreaterThan(minutes * 5); // a line every ten seconds
  expect(log[0]).toMatch(
    /^fxrates: \d+ of 1,200 done, (\d+ min )?(\d+ s )?left, 0 failed, \d+ per minute, [\d,]+ waiting/,
  );
  expect(stderr).toMatch(
    /\nfxrates: batch done after \d min[^:]*: 1,200 succeeded, 0 failed, \d+ requests? over the limit\n$/,
  );
});

test('eta_seconds is within 15 s of the real time left', async () => {
  // Of 600, whether the last ones need another minute depends on the requests that are refused.
  const { stderr, minutes } = await onMock(550, { args: ['--json'] });

  const events = jsonLines(stderr);
  const progress = events.filter(({ event }) => event === 'progress');
  for (const [index, { eta_seconds: eta }] of progress.entries()) {
    const leftSeconds = minutes * 60 - (index + 1) * 10;
    expect(Math.abs(eta - leftSeconds)).toBeLessThanOrEqual(15);
  }
  expect(events.at(-1)).toMatchObject({ event: 'done', done: 550, failed: 0, total: 550 });
});

test('the time left is at least that until the next request', async () => {
  const clock = new FakeClock();
  const refusedLater = () => clock.sleep(1000).then(() => rateLimited('40'));

  const { stderr } = await batch('--each n=1,2', { clock, replies: [success(), refusedLater, success()] });

  expect(stderr).toMatch(/^fxrates: 1 of 2 done, 3\d s left, .*\nfxrates: 1 of 2 done, 2\d s left, /);
});

test('logs how long the first request waits, before there is an estimate for the rest', async () => {
  const refused = Array(3).fill(rateLimited('40')); // and so a call of `quota()` waits, too

  const { stderr } = await batch('--each n=1,2,3', { replies: [...refused, success()] });

  expect(stderr).toMatch(
    /^fxrates: 0 of 3 done, next request in (29|3\d) s, 0 failed, 0 per minute, 3 waiting, 3 requests over the limit\n/,
  );
});

test('names an outage, during which there is no estimate', async () => {
  const options = { stdin: lines(40), replies: [echo, failure(503)] };

  const text = await batch('-', options);
  const json = await batch('- --json', options);

  const logged = text.stderr.split('\n').filter((line) => line.includes('1 of 40'));
  expect(logged.length).toBeGreaterThan(5);
  for (const line of logged)
    expect(line).toMatch(/1 of 40 done, the service is down, (next request in [^,]+, )?0 failed/);
  const progress = jsonLines(json.stderr).filter(({ event, done }) => event === 'progress' && done === 1);
  expect(progress.every((event) => event.service === 'down' && event.eta_seconds === null)).toBe(true);
});

test('ends with its last response, although the client still calls quota for the limit', async () => {
  const clock = new FakeClock();
  const options: FakeIoOptions = { stdin: lines(40), clock, replies: [rateLimited('1'), echo], quota: 'never' };

  const { code, requests } = await batch('-', options);

  expect([code, requests.filter(({ url }) => url.endsWith('/quota')).length]).toEqual([0, 1]);
  expect(await clock.left()).toBe(0);
});

test
  .skipIf(process.platform === 'win32')
  .each(['batch', 'quota --key-file', 'mock --setup', 'mock --replay', 'mock --behaviour'])(
  'Ctrl-C ends the wait of %s for a pipe without a writer',
  async (line) => {
    const path = join(temporaryFolder(), 'fifo');
    execFileSync('mkfifo', [path]);
    const io = new FakeIo();

    const running = main([...line.split(' '), path], io);
    await new Promise(setImmediate);
    io.interrupt('SIGINT');

    expect(await running).toBe(130);
    // Releases the thread that opens the pipe. The clock of a mock is slow while that thread is blocked.
    await until(() => {
      closeSync(openSync(path, constants.O_RDWR));
      return !process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
    });
  },
);

/** The successive contents of the terminal line that has the bar. */
const frames = (stderr: string) => stderr.split('\r\u001b[2K').slice(1);

test.each([
  [
    120,
    /^\[█+░+\] \d+ of 40 · (\d+ (min|s) )+left · 0 failed · \d+ per minute( · \d+ waiting)?( · \d+ requests? over the limit)?$/,
  ],
  [80, /^\[█+░+\] \d+ of 40 · (\d+ (min|s) )+left · 0 failed · \d+ per minute( · \d+ waiting)?$/],
  [50, /^\[█+░+\] \d+ of 40( · (\d+ (min|s) )+left( · 0 failed)?)?$/],
  [40, /^\d+ of 40 · (\d+ (min|s) )+left( · 0 failed)?$/],
  [25, /^\d+ of 40( · \d+ (s|min) left)?$/],
])('a terminal of %d columns shows the progress in a line, which is erased at the end', async (columns, expected) => {
  const { stderr, stdout } = await onMock(40, { tty: ['stderr'], columns, plan: 'free', env: { NO_COLOR: '1' } });

  const bars = frames(stderr).filter((frame) => frame.includes(' of 40'));
  for (const bar of bars.slice(1)) expect(bar).toMatch(expected);
  expect(bars.length).toBeGreaterThan(50);
  expect(Math.max(...bars.map((bar) => bar.length))).toBeLessThan(columns);
  expect(frames(stderr).at(-1)).toMatch(/^fxrates: batch done after\s/);
  expect(stdout).not.toContain('\u001b');
});

test('a terminal that cannot move its cursor shows lines, without escape sequences', async () => {
  const { stderr } = await onMock(40, { tty: ['stdin', 'stdout', 'stderr'], plan: 'free', env: { TERM: 'dumb' } });

  expect(stderr).toMatch(/^fxrates: \d+ of 40 done, /m);
  expect(stderr).not.toContain('\u001b');
});

test('on a terminal the bar is erased before each line of data', async () => {
  const order: string[] = [];
  const clock = new FakeClock();
  const io = new FakeIo({ clock, replies: slowFirst(clock), stdin: lines(2), tty: ['stdout', 'stderr'] });
  for (const name of ['stdout', 'stderr'] as const) {
    const { write } = io[name];
    Object.assign(io[name], { write: (chunk: string) => order.push(`${name} ${chunk}`) && write(chunk) });
  }

  await clock.run(main(['batch', '-'], io));
  await quiet();

  for (const [index, written] of order.entries()) {
    const before = order[index - 1] ?? '';
    if (written.startsWith('stdout')) expect(before.startsWith('stdout') || before.endsWith('\u001b[2K')).toBe(true);
  }
  expect(order.filter((written) => written.startsWith('stdout'))).toHaveLength(2);
});

test('prints numbers exactly as received, on one line', async () => {
  const body = '{"success":true,"data":{\n "EUR": 1.10,\n "tiny": 1E-7, "long": 12345678901234567890 }}';

  const { stdout } = await batch('-', { stdin: '{"amount":1.10}', replies: { body } });

  expect(stdout).toBe('{"query":{"amount":"1.10"},"data":{"EUR":1.10,"tiny":1E-7,"long":12345678901234567890}}\n');
});

test('-o csv escapes control characters on a terminal', async () => {
  const replies = { body: '{"success":true,"data":{"base":"\\u001b]0;x\\u0007"}}' };

  expect((await batch('-o csv --each n=1', { replies, tty: ['stdout'] })).stdout).not.toContain('\u001b');
});

test.each([
  ['', 'base=USD\n'],
  ['-', 'base=USD\n'],
  [fileOf('one-query.txt', 'base=USD\n'), 'n=2\n'],
  ['--each base=USD', 'n=2\n'],
])('batch %s calls latest, and reads a pipe only without another source', async (line, stdin) => {
  const { stdout, requests } = await batch(line === '' ? [] : line, { stdin });

  expect(jsonLines(stdout).map(({ query }) => query)).toEqual([{ base: 'USD' }]);
  expect(requests[0]?.url).toContain('/latest?base=USD');
});

test('names the first three failed queries on stderr, too', async () => {
  const stdin = [1, 2, 3, 4, 5].map((n) => `fail=404 n=${n}`).join('\n');

  const { stderr } = await batch('- --ordered', { stdin });
  const asTable = await batch('-', { stdin, tty: ['stdout'] });
  const asJson = await batch('- --json', { stdin });

  expect(stderr.match(/^fxrates: fail=404 n=\d: the service refused .*$/gm)).toHaveLength(3);
  expect(stderr).toContain('0 succeeded, 5 failed');
  expect(asTable.stderr.match(/^fxrates: fail=404/gm)).toHaveLength(5);
  expect(asJson.stderr).not.toContain('fail=404');
});

test('a line of 20 MB is named and not sent; a name may be repeated thousands of times', async () => {
  const tooLong = await refusal('-', { stdin: `n=1\nn=${'x'.repeat(20_000_000)}\n` });
  const repeated = await batch('-', { stdin: `${'n=1 '.repeat(20_000)}\n` });

  expect(tooLong).toContain('line 2: it has 20000002 characters; a query has at most 100000');
  expect(tooLong.length).toBeLessThan(500);
  expect(jsonLines(repeated.stdout)[0].query.n).toHaveLength(20_000);
});
