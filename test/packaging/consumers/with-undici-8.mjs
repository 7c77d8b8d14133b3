/** The option `dispatcher` with the dispatchers of undici 8, whose handlers have another form. Beside `undici@8`. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { FxRates, FxRatesError } from 'fxrates';
import { Agent, interceptors, MockAgent, RetryAgent, setGlobalDispatcher } from 'undici';

const data = { EUR: 1 };
const server = createServer(({ url, socket }, response) => {
  if (url.includes('reset')) return socket.resetAndDestroy();
  if (url.includes('stall')) return;
  response.setHeader('content-type', 'application/json');
  response.end(url.includes('long') ? 'x'.repeat(20_000) : JSON.stringify({ success: true, data }));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const mocking = new MockAgent();
mocking.get(baseUrl).intercept({ path: /ok/ }).reply(200, { success: true, data });
const noRetries = { maxRetries: 0 };

const dispatchers = {
  Agent: new Agent(),
  RetryAgent: new RetryAgent(new Agent(), noRetries),
  interceptors: new Agent().compose(interceptors.dns(), interceptors.retry(noRetries), interceptors.redirect()),
  MockAgent: mocking,
  'global dispatcher': undefined,
};
const kinds = { reset: 'network', long: 'response', stall: 'timeout' };

for (const [name, dispatcher] of Object.entries(dispatchers)) {
  if (dispatcher === undefined) setGlobalDispatcher(new RetryAgent(new Agent(), noRetries));
  const apiKey = `fx_live_${'0'.repeat(48)}`;
  const fx = new FxRates({ baseUrl, apiKey, maxRetries: 0, maxResponseBytes: 10_000, dispatcher });
  assert.deepEqual(await fx.latest({ ok: 1 }), data, name);
  for (const [query, kind] of Object.entries(dispatcher === mocking ? {} : kinds)) {
    const call = fx.latest({ [query]: 1 }, { timeoutMs: query === 'stall' ? 100 : 10_000 });
    await assert.rejects(call, (error) => FxRatesError.is(error) && error.kind === kind, `${name}, ${query}`);
  }
}
process.exit();
