/** Builds and starts a Next app whose pages call the client: each call must be one request, neither cached nor merged. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createMockServer } from 'fxrates/mock-server';

const LAYOUT = 'export default ({ children }) => <html><body>{children}</body></html>;';
const PAGE = `
import { FxRates } from 'fxrates';

export default async function Page() {
  const fx = new FxRates({ maxRetries: 0 });
  const calls = [1, 2].map(() => fx.latest({ base: 'EUR' }, { coalesce: false }));
  return <p>{(await Promise.all(calls)).length} responses</p>;
}
`;

mkdirSync('app', { recursive: true });
writeFileSync('app/layout.jsx', LAYOUT);
writeFileSync('app/page.jsx', PAGE);

const mock = createMockServer();
const server = await mock.serve();
const { key } = mock.createKey({ plan: 'developer' });
const env = { ...process.env, FXRATES_BASE_URL: server.url, FXRATES_API_KEY: key, NEXT_TELEMETRY_DISABLED: '1' };
const next = (...args) => spawn('next', args, { env, stdio: ['ignore', 'ignore', 'inherit'] });

const [code] = await once(next('build'), 'exit');
assert.equal(code, 0);
mock.journal.clear();

const port = await freePort();
const running = next('start', '-p', String(port));
await page();
await page();
running.kill();
mock.expectRequests({ operation: 'latest', status: 200 }).toHaveCount(4);
await mock.close();

async function page() {
  const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
  if (response === undefined) return new Promise((resolve) => setTimeout(resolve, 200)).then(page);
  assert.match(await response.text(), /2.* responses/);
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}
