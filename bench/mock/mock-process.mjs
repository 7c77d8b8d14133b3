/** A mock server in a process of its own: `node mock-process.mjs module port spaces keys`. */
import { populate } from './population.mjs';

const [module, port, spaces, keys] = process.argv.slice(2);
const { createMockServer } = await import(module);
const mock = createMockServer();
populate(mock, { spaces: Number(spaces), keys: Number(keys) });
await mock.serve({ port: Number(port) });
