import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createMockServer } from '../../src/mock-server/index.ts';

const hasCurl = (() => {
  try {
    return execFileSync('curl', ['--version']).length > 0;
  } catch {
    return false; // not installed
  }
})();

test.skipIf(!hasCurl)('the shell function of docs/mock-server.md loads a recording of 200 kB', async () => {
  const block = /^```sh no-run\n(admin\(\).*?)^```$/ms.exec(await readFile('docs/mock-server.md', 'utf8'))?.[1] ?? '';
  const [definition] = block.split('\n');
  const command = block.split('\n').find((line) => line.startsWith('admin PUT /latest/replay')) ?? '';
  const cwd = await mkdtemp(join(tmpdir(), 'fxrates-admin-'));
  const rates = `{"success":true,"data":{"note":"${'x'.repeat(200_000)}","USD":1.10}}`;
  await writeFile(join(cwd, 'rates.json'), `{"*":${rates}}`);
  await using mock = createMockServer();
  const { url, adminToken } = await mock.serve();
  const env = { ...process.env, URL: url, TOKEN: adminToken, NO_PROXY: '*' };

  await promisify(execFile)('sh', ['-c', `${definition}\n${command}`], { cwd, env });

  const { key } = mock.createKey();
  const response = await mock.fetch(`${mock.baseUrl}/api/v1/latest`, { headers: { authorization: key } });
  expect(await response.text()).toBe(rates);
});
