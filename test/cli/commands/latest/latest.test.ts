import { execFileSync } from 'node:child_process';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { createMockServer, recordedRules } from '../../../../src/mock-server/index.ts';
import { type FakeIoOptions, runCli, usageError } from '../../../helpers/cli-io.ts';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import { success } from '../../../helpers/service-replies.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';

/** Unusual but valid JSON: spacing, repeated names, escapes, and more digits than a number has. */
const DATA = '{ "base":"USD", "rates":{"EUR":1.10, "10":1E-7,"2":12345678901234567890.5},"x":"\\u00e9\\t","x":[ ] }';
const BODY = `{"success":true,\n"data": ${DATA} , "extra":-0.0}`;
const replies = { body: BODY };
const TTY = ['stdout', 'stderr'] as const;

test.each([
  ['latest', `${DATA}\n`],
  ['latest --json', `${DATA}\n`],
  ['latest --envelope', `${BODY}\n`],
  ['latest --envelope --get extra', '-0.0\n'],
  ['latest -o tsv', 'base\tUSD\nrates.EUR\t1.10\nrates.10\t1E-7\nrates.2\t12345678901234567890.5\nx\té\\t\nx\t[]\n'],
  ['latest --get rates.EUR', '1.10\n'],
  ['latest --get base', 'USD\n'],
  ['latest --get rates', '{"EUR":1.10, "10":1E-7,"2":12345678901234567890.5}\n'],
  ['latest --get /rates/10', '1E-7\n'],
  ['latest --get x', '[ ]\n'],
  ['latest --get base --get rates.2 --get rates.EUR', 'USD\t12345678901234567890.5\t1.10\n'],
  ['latest --get base --get x --get rates', 'USD\t[]\t{"EUR":1.10,"10":1E-7,"2":12345678901234567890.5}\n'],
  ['latest --json --get base', '"USD"\n'],
  ['latest --json --get base --get rates.EUR', '["USD",1.10]\n'],
])('%s in a pipe prints the digits as received', async (line, expected) => {
  expect((await runCli(line, { replies })).stdout).toBe(expected);
});

test('-o json on a terminal is indented and coloured, with the same lexemes', async () => {
  const { stdout } = await runCli('latest -o json', { replies, tty: TTY });

  expect(stripVTControlCharacters(stdout)).toBe(`{
  "base": "USD",
  "rates": {
    "EUR": 1.10,
    "10": 1E-7,
    "2": 12345678901234567890.5
  },
  "x": "\\u00e9\\t",
  "x": []
}
`);
  expect(stdout).toContain('\u001b[34m"base"\u001b[39m: \u001b[32m"USD"\u001b[39m');
});

test('on a terminal it is a table, with the same digits', async () => {
  const { stdout, stderr } = await runCli('latest', { replies, tty: TTY });

  expect(stripVTControlCharacters(stdout)).toBe(`base  USD
x     é\\t
x     []

rates
EUR                     1.10    2    12345678901234567890.5
10                   1E-7
`);
  expect(stripVTControlCharacters(stderr)).toBe('\nHTTP 200 · 0 ms · used 1 of your monthly requests\n');
});

const names = (count: number) => Array.from({ length: count }, (_, index) => `A${index}`);

test.each([
  ['nope', '\n\n  The response has: base, odd, rates\n'],
  ['RATES.EUR', '\n\n  The response has: rates, base, odd\n'],
  ['rates.nope', `\n\n  rates has: ${names(12).join(', ')}, …\n`],
  ['rates.EURO', `\n\n  rates has: EUR, ${names(11).join(', ')}, …\n`],
  ['/rates/eur', `\n\n  rates has: EUR, ${names(11).join(', ')}, …\n`],
  ['odd.A.B', '\n\n  odd has: A.B, X/Y\n'],
  ['/odd/A.B/c', '\n\n  /odd/A.B has: d\n'],
  ['base.nope', '\n'],
  [`rates.${'x'.repeat(101)}`, '\n'],
])('--get %s lists the nearest names at the place where the path ends', async (path, hint) => {
  const rates = Object.fromEntries([...names(13).map((name, index) => [name, index]), ['EUR', 1]]);
  const replies = success({ base: 'USD', odd: { 'X/Y': 1, 'A.B': { d: 1 } }, rates });

  const { code, stderr } = await runCli(['latest', '--get', path], { replies });

  expect([code, stderr]).toEqual([10, `fxrates: the response has no '${path}'${hint}`]);
});

const HOSTILE = { body: '{"success":true,"data":{"a":"\\u001b[31mred","b":"\u009b31m\u202e","c":"tab\\tnew\\nline"}}' };

test('in a pipe, control characters are printed as received', async () => {
  expect((await runCli('latest', { replies: HOSTILE })).stdout).toContain('\u009b31m\u202e');
  expect((await runCli('latest --get b', { replies: HOSTILE })).stdout).toBe('\u009b31m\u202e\n');
});

test('--curl prints a command that a shell can run', async () => {
  const { stdout, requests } = await runCli(['latest', "q=it's", '--curl'], { env: { FXRATES_API_KEY: undefined } });

  expect(requests).toEqual([]);
  expect(stdout).toBe(
    `printf 'Authorization: Bearer %s' "$FXRATES_API_KEY" | curl -g --fail-with-body -H @- -H 'Accept: application/json' 'https://api.example.test/api/v1/latest?q=it%27s'\n`,
  );
});

test.each([
  ['', { FXRATES_API_KEY: '' }, '  export FXRATES_API_KEY=$(fxrates auth token)\n'],
  ['--key-file k --profile default', {}, '(fxrates auth token --key-file k --profile default)\n'],
  ['--key-stdin', {}, '(fxrates auth token --key-stdin < key.txt)\n'],
])('--curl %s with %j says how to set the variable of the key', async (options, env, command) => {
  const { code, stdout, stderr } = await runCli(`latest --curl ${options}`, { env });

  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/FXRATES_API_KEY.*curl/) });
  expect(stderr).toContain(command);
});

const LOG = '> GET https://api.example.test/api/v1/latest\n';

test.each([
  ['-q', '', /^$/],
  ['-v', '', new RegExp(`^${LOG}< 200 in 0 ms\n$`)],
  ['-vv', '', /> authorization: Bearer fx_live_…cdef\n.*"EUR":1\.10/s],
  ['-vv', 'abcdefg', /> authorization: Bearer …\n(?!.*abcdefg)/s], // too short to be masked elsewhere
])('latest %s with the key %j shows its request as far as it was asked', async (option, key, expected) => {
  const env = key === '' ? {} : { FXRATES_API_KEY: key };

  const { stderr } = await runCli(`latest ${option}`, { replies, env, tty: option === '-q' ? TTY : [] });

  expect(stderr).toMatch(expected);
  expect(stderr).not.toContain('abcdefg');
});

test('-v measures a response in real time, although the system clock is set back', async () => {
  const clock = new FakeClock();
  const reply = () => {
    clock.set(-60_000);
    return { body: BODY };
  };

  const { stderr } = await runCli('latest -v', {
    replies: reply,
    clock: Object.assign(clock, { monotonicNow: () => 5 }),
  });

  expect(stderr).toContain('< 200 in 0 ms\n');
});

test.each([
  ['latest bse=EUR --get base', "fxrates: 'bse' is sent as typed; did you mean base?\n"],
  ['latest symbol=EUR --get base', "fxrates: 'symbol' is sent as typed; did you mean symbols?\n"],
  ['latest base=EUR symbols=GBP date=2026-01-01 --get base', ''],
  ['latest bse=EUR --get base -q', ''],
])('%s remarks on a parameter that looks misspelled, and sends it', async (line, remark) => {
  const { code, io, requests } = await runCli(line, { replies: success({ base: 'USD' }) });

  expect({ code, ...io.written }).toEqual({ code: 0, stdout: 'USD\n', stderr: remark });
  expect(io.sequence).toBe(`USD\n${remark}`);
  expect(new URL(requests[0]?.url ?? '').search).toBe(`?${line.match(/\w+=\S+/g)?.join('&')}`);
});

let file = '';
beforeEach(() => {
  file = join(temporaryFolder(), 'responses.json');
});

const record = (line: string, options: FakeIoOptions = {}) =>
  runCli([...`latest ${line}`.split(' ').filter(Boolean), '--fixture-out', file], options);

test('records the whole response with all digits, and prints it as usual', async () => {
  const body = '{"success":true, "data":{"rates":{"EUR":1.10}}}';
  const { code, stdout, stderr } = await record('base=USD', { replies: { body } });

  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"rates":{"EUR":1.10}}\n' });
  expect(stderr).toBe(`fxrates: response added to ${file}\n`);
  expect(await readFile(file, 'utf8')).toBe('{"base=USD":{"success":true,"data":{"rates":{"EUR":1.10}}}}\n');
});

/** The response of a mock server that replays the file. */
async function replayed(query: string): Promise<unknown> {
  const mock = createMockServer({ rules: recordedRules(await readFile(file, 'utf8')) });
  const { key } = mock.createKey();
  const headers = { authorization: `Bearer ${key}` };
  const response = await mock.fetch(`${mock.baseUrl}/api/v1/latest?${query}`, { headers });
  return response.status === 200 ? response.json() : response.status;
}

test('a mock server sends the last response to a query, with its parameters in any order', async () => {
  await record('base=USD symbols=EUR', { replies: success({ n: 1 }) });
  await record('', { replies: success({ n: 2 }) });
  await record('symbols=EUR base=USD', { replies: success({ n: 3 }) });

  expect(await replayed('base=USD&symbols=EUR')).toEqual({ success: true, data: { n: 3 } });
  expect(await replayed('')).toEqual({ success: true, data: { n: 2 } });
  expect(await replayed('base=GBP')).toBe(501);
});

test.each(['{"base=CHF":{"succ', '{"base=CHF":{"success":true,"data":{"n":3}}}'])(
  'adds a line below %s, which a killed command or an editor has left without its end',
  async (last) => {
    await writeFile(file, `{"base=EUR":{"success":true,"data":{"n":1.10}}}\n${last}`);

    await record('base=USD', { replies: success({ n: 2 }) });

    expect(await replayed('base=EUR')).toEqual({ success: true, data: { n: 1.1 } });
    expect(await replayed('base=USD')).toEqual({ success: true, data: { n: 2 } });
    expect(await replayed('base=CHF')).toEqual(last.endsWith('}') ? { success: true, data: { n: 3 } } : 501);
  },
);

test.each(['', '\n'])('adds to the empty file %j', async (text) => {
  await writeFile(file, text);

  await record('base=USD', { replies: success({ n: 2 }) });

  expect(await readFile(file, 'utf8')).toBe(`${text}{"base=USD":{"success":true,"data":{"n":2}}}\n`);
});

test.each([
  ['--get nope', {}, 10],
  ['', { stdoutError: 'EPIPE' }, 0],
  ['', { stdoutError: 'ENOSPC' }, 1],
])(
  'a response that cannot be printed is recorded, because it may have used quota: %j %j',
  async (line, options, code) => {
    const result = await record(line, { replies: success({ n: 1 }), ...options });

    expect(result.code).toBe(code);
    expect(await replayed('')).toEqual({ success: true, data: { n: 1 } });
  },
);

test('a recorded text of megabytes can be read again', async () => {
  const text = 'x'.repeat(9_000_000);
  await record('base=EUR', { replies: success({ text }) });

  expect((await record('base=USD', { replies: success({ n: 1 }) })).code).toBe(0);
  expect(await replayed('base=EUR')).toEqual({ success: true, data: { text } });
});

const OTHER_FILES = ['{\n"name": "mine"\n}', '{\n"compilerOptions": {}\n}', 'not JSON', '[]', '"text"', 'null'];

test.each([...OTHER_FILES, '{"success":true,"data":{}}', '{"keys":[{"id":"a"}]}', '{"latest":{"base":"EUR"}}', '{}'])(
  'a file with something else, %s, is left alone',
  async (text) => {
    await writeFile(file, text);

    expect(await usageError(['latest', '--fixture-out', file])).toContain('is not a file of recorded responses');
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test.skipIf(process.platform === 'win32')('a pipe gets the response and is not read: it would not end', async () => {
  execFileSync('mkfifo', [file]);
  const pipe = await open(file, 'r+');

  const { code } = await record('base=USD', { replies: { body: '{"success":true,"data":{}}' } });

  const { buffer, bytesRead } = await pipe.read();
  await pipe.close();
  expect([code, buffer.toString('utf8', 0, bytesRead)]).toEqual([0, '{"base=USD":{"success":true,"data":{}}}\n']);
});
