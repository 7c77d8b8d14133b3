/** Serves a mock in its own process: `node mock-process.mjs module port spaces keys journalSize`. */
import { populate } from './population.mjs';

const [module, port, spaces, keys, journalSize] = process.argv.slice(2);
const { createMockServer } = await import(module);
const mock = createMockServer({ journalSize: Number(journalSize) });
populate(mock, { spaces: Number(spaces), keys: Number(keys) });
await mock.serve({ port: Number(port) });
