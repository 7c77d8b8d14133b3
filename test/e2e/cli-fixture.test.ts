import { mkdtemp, readdir, readFile, rm, watch, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';
import { hasBundle, startBundle } from '../helpers/cli-bundle.ts';

const mock = createMockServer();
const { key } = mock.createKey();
let folder = '';
let url = '';

beforeAll(async () => {
  url = (await mock.serve()).url;
  folder = await mkdtemp(join(tmpdir(), 'fxrates-fixture-'));
});

afterAll(async () => {
  await mock.close();
  await rm(folder, { recursive: true });
});

/** Large enough that a process can be killed while it writes this. */
const RECORDED = JSON.stringify({ 'base=EUR': { success: true, data: { text: 'x'.repeat(8_000_000) } } });

describe.skipIf(!hasBundle || process.platform === 'win32')('the built command', () => {
  test('leaves the recorded file complete if it is killed during a write', async () => {
    const file = join(folder, 'responses.json');
    await writeFile(file, RECORDED);
    const stop = new AbortController();
    const write = async () => {
      for await (const { filename } of watch(folder, { signal: stop.signal })) if (filename?.endsWith('.tmp')) return;
    };
    const writing = write(); // starts to watch
    const running = startBundle(['latest', '--fixture-out', file], {
      env: { FXRATES_BASE_URL: url, FXRATES_API_KEY: key },
    });

    await writing;
    running.kill('SIGKILL');
    const { signal } = await running.ended;
    stop.abort();

    expect(signal).toBe('SIGKILL');
    const left = ['responses.json', `responses.json.${running.pid}.1.tmp`, 'responses.json.lock'];
    expect((await readdir(folder)).sort()).toEqual(left);
    expect((await readFile(file, 'utf8')) === RECORDED).toBe(true);
  });
});
