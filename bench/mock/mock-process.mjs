/** A mock server in a process of its own, with keys that are never limited for as long as a bench takes. */
const [module, spaces] = process.argv.slice(2);
const { createMockServer } = await import(module);

/** Each has 1000 requests a minute. */
const KEYS = 500;

const mock = createMockServer();
for (let space = 0; space < Number(spaces); space += 1) mock.space();
const keys = Array.from({ length: KEYS }, () => mock.createKey({ plan: 'unlimited' }).key);
const server = await mock.serve();
process.once('disconnect', () => process.exit());
process.send({ url: server.url, keys });
