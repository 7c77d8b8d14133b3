import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMockServer } from '../../../../src/mock-server/index.ts';
import { type FakeIoOptions, runCli } from '../../../helpers/cli-io.ts';
import { API_KEY, success } from '../../../helpers/service-replies.ts';

let folder = '';
let file = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fxrates-fixture-'));
  file = join(folder, 'responses.json');
});
afterEach(() => rm(folder, { recursive: true }));

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
  const mock = createMockServer({ replay: await readFile(file, 'utf8') });
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

test('commands at the same time lose no response, and refuse none', async () => {
  const queries = Array.from({ length: 20 }, (_, n) => `n=${n}`);

  const results = await Promise.all(queries.map((query) => record(query, { replies: success({ query }) })));

  expect(results.map(({ code }) => code)).toEqual(queries.map(() => 0));
  for (const query of queries) expect(await replayed(query)).toEqual({ success: true, data: { query } });
  expect(await readdir(folder)).toEqual(['responses.json']);
});

test('adds to the object of an earlier version, and below a line that a killed command has left', async () => {
  await writeFile(file, '{\n  "base=EUR": {\n"success":true,"data":{"n":1.10}\n}\n}\n{"base=CHF":{"succ');

  await record('base=USD', { replies: success({ n: 2 }) });

  expect(await replayed('base=EUR')).toEqual({ success: true, data: { n: 1.1 } });
  expect(await replayed('base=USD')).toEqual({ success: true, data: { n: 2 } });
  expect(await replayed('base=CHF')).toBe(501);
});

test('a recorded text of megabytes can be read again', async () => {
  const text = 'x'.repeat(9_000_000);
  await record('base=EUR', { replies: success({ text }) });

  expect((await record('base=USD', { replies: success({ n: 1 }) })).code).toBe(0);
  expect(await replayed('base=EUR')).toEqual({ success: true, data: { text } });
});

test('a key that the response repeats is masked in the file', async () => {
  await record('', { replies: success({ yourKey: API_KEY }) });

  expect(await readFile(file, 'utf8')).not.toContain(API_KEY);
  expect(await readFile(file, 'utf8')).toContain('fx_live_…cdef');
});

test.each(['not JSON', '[]', '{"success":true,"data":{}}'])(
  'a file with something else, %s, is left alone',
  async (text) => {
    await writeFile(file, text);

    const { code, stderr, requests } = await record('');

    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain('is not a file of recorded responses');
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test('a file that cannot be written is an error with its reason, before a request uses quota', async () => {
  file = join(folder, 'nowhere', 'responses.json');

  const { code, stdout, stderr, requests } = await record('');

  expect({ code, stdout, requests }).toEqual({ code: 1, stdout: '', requests: [] });
  expect(stderr).toContain('responses.json — its folder does not exist');
});
