/** A user's program beside msw: run as an ES module, and compiled as TypeScript (`.mts`). */
import assert from 'node:assert/strict';
import { FxRates } from 'fxrates';
import { createMockServer } from 'fxrates/mock-server';
import { mockHandlers } from 'fxrates/msw';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';

async function main() {
  const mock = createMockServer({ baseUrl: 'https://one.test' });
  const server = setupServer(
    ...mockHandlers(mock),
    http.get('https://other.test/', () => HttpResponse.text('not the mock')),
  );
  server.listen();
  const { key } = mock.createKey();
  const fx = new FxRates({ apiKey: key, baseUrl: mock.baseUrl });
  assert.equal((await fx.quota()).plan, 'free');
  assert.equal(await (await fetch('https://other.test/')).text(), 'not the mock');
  server.close();

  const listening = createMockServer({ baseUrl: 'https://two.test' });
  listening.rules.add({ match: { operation: 'latest' }, respond: { data: { EUR: 1 } } });
  listening.listen();
  const { key: other } = listening.createKey();
  assert.deepEqual(await new FxRates({ apiKey: other, baseUrl: listening.baseUrl }).latest(), { EUR: 1 });
  await listening.close();
}

void main(); // a rejection ends the process with exit code 1
