/** A user's program: run as an ES module, and compiled as TypeScript (`.mts`, `.cts`) in a project without msw. */
import assert from 'node:assert/strict';
import { FxRates, FxRatesError } from 'fxrates';
import { createMockServer, MockServerError } from 'fxrates/mock-server';
import { redisStore } from 'fxrates/redis';

async function main() {
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey({ plan: 'free' });
  const server = await mock.serve();

  const inProcess = new FxRates({ apiKey: key, ...mock.clientOptions() });
  const overSockets = new FxRates({ apiKey: key, baseUrl: server.url });
  await inProcess.latest({ base: 'EUR' });
  const { plan, monthly_used } = await overSockets.quota();
  assert.deepEqual([plan, monthly_used], ['free', 1]);

  const wrongKey = new FxRates({ ...mock.clientOptions(), apiKey: `fx_live_${'0'.repeat(48)}` });
  await assert.rejects(wrongKey.quota(), (error) => FxRatesError.is(error) && error.kind === 'authentication');
  assert.throws(
    () => mock.listen(),
    (error) => error instanceof MockServerError && error.code === 'msw_missing',
  );
  assert.equal(typeof redisStore, 'function');

  await mock.close();
}

void main(); // a rejection ends the process with exit code 1
