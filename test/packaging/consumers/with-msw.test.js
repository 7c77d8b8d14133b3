/** With the settings that docs/testing.md shows, because jest cannot load the ES modules that msw depends on. */
const { FxRates } = require('fxrates');
const { createMockServer } = require('fxrates/mock-server');
const { mockHandlers } = require('fxrates/msw');

test('intercepts fetch with msw', async () => {
  const mock = createMockServer();
  mock.listen();
  const { key } = mock.createKey();

  await expect(new FxRates({ apiKey: key, baseUrl: mock.baseUrl }).quota()).resolves.toMatchObject({ plan: 'free' });
  expect(mockHandlers(mock)).toHaveLength(1);
  await mock.close();
});
