/** Runs this file again with the command of its arguments, as a client that can reach the service through a proxy alone. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { FxRates } from 'fxrates';

const SERVICE = 'http://rates.fxrates.test';
const quota = {
  ...{ plan: 'free', monthly_used: 1, monthly_limit: 1000, rate_limit_per_minute: 30, snapshot_granularity: '5min' },
  ...{ historical_days: 90, resets_at: '2099-01-01T00:00:00.000Z' },
};

/** Both the proxy and, for what comes through it, the service. */
async function beTheProxy(command) {
  const seen = [];
  const proxy = createServer((_, response) => response.end(JSON.stringify({ success: true, data: quota })));
  proxy.on('connect', ({ url }, socket) => {
    seen.push(url);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    proxy.emit('connection', socket);
  });
  proxy.on('request', ({ url }) => url.startsWith(SERVICE) && seen.push(url));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const variables = { HTTP_PROXY: `http://127.0.0.1:${proxy.address().port}`, FXRATES_BASE_URL: SERVICE };
  const env = { ...process.env, ...variables, FXRATES_API_KEY: `fx_live_${'0'.repeat(48)}` };
  const [program, ...args] = command;
  const [code] = await once(
    spawn(program, [...args, fileURLToPath(import.meta.url)], { env, stdio: 'inherit' }),
    'exit',
  );
  proxy.close();
  proxy.closeAllConnections();
  assert.deepEqual([code, seen.length], [0, 1]);
}

async function beTheClient() {
  const { plan } = await new FxRates({ proxy: 'env', allowInsecureHttp: true, maxRetries: 0 }).quota();
  assert.equal(plan, 'free');
}

const command = process.argv.slice(2);
await (command.length > 0 ? beTheProxy(command) : beTheClient());
