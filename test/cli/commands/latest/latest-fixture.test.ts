import { writeFileSync } from 'node:fs';
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
  expect(await readFile(file, 'utf8')).toBe(`{\n  "base=USD": ${body}\n}\n`);
});

test('adds new queries, and replaces the response of a query with the same parameters in any order', async () => {
  await record('base=USD symbols=EUR', { replies: success({ n: 1 }) });
  await record('', { replies: success({ n: 2 }) });
  await record('symbols=EUR base=USD', { replies: success({ n: 3 }) });

  const recorded = JSON.parse(await readFile(file, 'utf8'));

  expect(Object.keys(recorded)).toEqual(['base=USD&symbols=EUR', '']);
  expect(recorded['base=USD&symbols=EUR'].data).toEqual({ n: 3 });
});

test('adds to the responses that another command records at the same time', async () => {
  const replies = () => {
    writeFileSync(file, '{"base=EUR": {"success":true,"data":{}}}');
    return success({ n: 2 });
  };

  await record('base=USD', { replies });

  expect(Object.keys(JSON.parse(await readFile(file, 'utf8')))).toEqual(['base=EUR', 'base=USD']);
  expect(await readdir(folder)).toEqual(['responses.json']);
});

test('a mock server responds from the file', async () => {
  await record('base=USD', { replies: success({ rates: { EUR: 0.5 } }) });

  const mock = createMockServer({ replay: JSON.parse(await readFile(file, 'utf8')) });
  const { key } = mock.createKey();
  const response = await mock.fetch(`${mock.baseUrl}/api/v1/latest?base=USD`, {
    headers: { authorization: `Bearer ${key}` },
  });

  expect(await response.json()).toEqual({ success: true, data: { rates: { EUR: 0.5 } } });
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
