/** Serves a mock in its own process: `node mock-process.mjs module port population`, with the population as JSON. */
const [, file, module, port, population] = process.argv;
if (file === import.meta.filename) {
  const { createMockServer } = await import(module);
  const options = JSON.parse(population);
  const mock = createMockServer({ journalSize: options.journalSize });
  populate(mock, options);
  await mock.serve({ port: Number(port) });
}

/** Adds spaces, and keys of 1000 requests per minute each; returns the keys. With spaces, the spaces own the keys. */
export function populate(mock, { spaces, keys }) {
  const owners = spaces === 0 ? [mock] : Array.from({ length: spaces }, () => mock.space());
  return Array.from({ length: keys }, (_, place) => owners[place % owners.length].createKey({ plan: 'unlimited' }).key);
}
