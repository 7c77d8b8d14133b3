/** A user's program: run as an ES module, and compiled as TypeScript (`.mts`, `.cts`) in a project without msw. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FxRates, FxRatesError } from 'fxrates';
import { fileStore } from 'fxrates/file-store';
import { createMockServer, MockServerError } from 'fxrates/mock-server';
import { probeService } from 'fxrates/probe';
import { redisStore } from 'fxrates/redis';

async function main() {
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  const server = await mock.serve();

  const inProcess = new FxRates({ apiKey: key, ...mock.clientOptions() });
  const folder = mkdtempSync(join(tmpdir(), 'fxrates-consumer-'));
  const rateLimit = { store: fileStore(join(folder, 'limits')) };
  const overSockets = new FxRates({ apiKey: key, baseUrl: server.url, rateLimit });
  await inProcess.latest({ base: 'EUR' });
  const { plan, monthly_used } = await overSockets.quota();
  assert.deepEqual([plan, monthly_used], ['free', 1]);

  const wrongKey = new FxRates({ ...mock.clientOptions(), apiKey: `fx_live_${'0'.repeat(48)}` });
  await assert.rejects(wrongKey.quota(), (error) => FxRatesError.is(error) && error.kind === 'authentication');
  assert.throws(
    () => mock.listen(),
    (error) => error instanceof MockServerError && error.code === 'msw_missing',
  );
  assert.deepEqual([typeof redisStore, typeof probeService], ['function', 'function']);

  await mock.close();
  rmSync(folder, { recursive: true });
}

void main(); // a rejection ends the process with exit code 1
