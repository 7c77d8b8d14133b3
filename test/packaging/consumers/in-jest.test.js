/** A test of a user under jest, without flags and with its default transform. */
const { FxRates, FxRatesError } = require('fxrates');
const { fileStore } = require('fxrates/file-store');
const { createMockServer } = require('fxrates/mock-server');
const { mockHandlers } = require('fxrates/msw');
const { redisStore } = require('fxrates/redis');

test('retries a server error in process', async () => {
  const mock = createMockServer({ clock: 'virtual' });
  const { key } = mock.createKey();
  mock.rules.add({ times: 2, respond: { status: 503 } });
  const fx = new FxRates({ apiKey: key, ...mock.clientOptions() });

  const { meta } = await fx.latest({ base: 'EUR' }).withMeta();

  expect(meta.attempts.map(({ status }) => status)).toEqual([503, 503, 200]);
});

test('sends over sockets', async () => {
  const mock = createMockServer();
  const { url } = await mock.serve();
  const { key } = mock.createKey();

  await expect(new FxRates({ apiKey: key, baseUrl: url }).quota()).resolves.toMatchObject({ plan: 'free' });
  const wrong = new FxRates({ apiKey: `fx_live_${'0'.repeat(48)}`, baseUrl: url });
  const error = await wrong.quota().catch((reason) => reason);

  expect([FxRatesError.is(error), error.kind]).toEqual([true, 'authentication']);
  await mock.close();
});

test('sends through a stub of fetch, and over sockets when it is restored', async () => {
  const mock = createMockServer();
  const { url } = await mock.serve();
  const fx = new FxRates({ apiKey: mock.createKey().key, baseUrl: url });
  const rates = { success: true, data: { EUR: 1 } };
  const stub = jest.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json(rates));

  await expect(fx.latest()).resolves.toEqual({ EUR: 1 });
  stub.mockRestore();
  expect(mock.journal.list()).toEqual([]);
  await expect(fx.quota()).resolves.toMatchObject({ plan: 'free' });

  await mock.close();
});

test('loads every entry, and msw only when it is used', () => {
  expect([typeof fileStore, typeof redisStore]).toEqual(['function', 'function']);
  expect(() => mockHandlers(createMockServer())).toThrow();
});
