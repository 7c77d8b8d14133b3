/** A separate process of a mock with a state file, until it is killed: `serve <path>` or `write <path> <keys>`. */
import { createMockServer } from '../../../src/mock-server/index.ts';
import { writeStateFile } from '../../../src/mock-server/mock/state-file.ts';

const [task, path = '', keys = '0'] = process.argv.slice(2);
await (task === 'serve' ? serve() : write());

/** Sends its address. */
async function serve(): Promise<void> {
  const mock = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' }, state: path });
  const { key } = mock.createKey();
  const server = await mock.serve();
  process.send?.({ key, url: server.url, adminUrl: server.adminUrl });
}

/** Writes state files in sequence, each with one more key. */
async function write(): Promise<void> {
  const mock = createMockServer({ clock: 'virtual' });
  for (let key = 0; key < Number(keys); key += 1) mock.createKey();
  for (let savedAt = 1; ; savedAt += 1) {
    mock.createKey();
    await writeStateFile(path, { savedAt, snapshot: mock.snapshot() });
    if (savedAt === 1) process.send?.('written');
  }
}
