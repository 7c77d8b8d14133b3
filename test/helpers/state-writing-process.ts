/** A separate process that writes state files in sequence, each with one more key, until it is killed. */
import { createMockServer } from '../../src/mock-server/index.ts';
import { writeStateFile } from '../../src/mock-server/state/state-file.ts';

const [path = '', keys = '0'] = process.argv.slice(2);
const mock = createMockServer({ clock: 'virtual' });
for (let key = 0; key < Number(keys); key += 1) mock.createKey();

for (let savedAt = 1; ; savedAt += 1) {
  mock.createKey();
  await writeStateFile(path, { savedAt, snapshot: mock.snapshot() });
  if (savedAt === 1) process.send?.('written');
}
