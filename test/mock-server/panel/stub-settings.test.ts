import { expect, test } from 'vitest';
import { createMockServer, type StubOptions } from '../../../src/mock-server/index.ts';
import { stubSettings } from '../../../src/mock-server/panel/browser/stub-settings.ts';

test.each<StubOptions>([
  { data: { rates: { USD: 1.1 } }, match: { operation: 'latest', query: { base: /^eur$/i } } },
  { status: 422, error: { code: 'unknown_currency', message: 'No <XXX>.' }, times: 3, priority: -1 },
  { status: 503, delayMs: { min: 1, max: 2 } },
  { body: 'down', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-tag': 'x' } },
  { body: '' },
  { status: 404, body: '' },
  { status: 204 },
  { status: 302, headers: { location: '/api/v1/latest' } },
  { responses: [{ status: 503 }, { data: 1, delayMs: 5 }] },
])('the settings of the stub %j define an equal stub', (options) => {
  const stubs = createMockServer().stubs;
  const stub = stubs.add({ id: 'x', ...options });

  const settings: StubOptions = JSON.parse(JSON.stringify(stubSettings(stub)));

  expect(stubs.add({ id: 'x', ...settings })).toEqual(stub);
});

test('the settings of a single response are separate fields, so that a form shows them', () => {
  const { stubs } = createMockServer();

  expect(stubSettings(stubs.add({ status: 422, error: { code: 'x', message: 'y' } }))).toMatchObject({
    status: 422,
    error: { code: 'x', message: 'y' },
  });
  expect(stubSettings(stubs.add({ data: 1 }))).toMatchObject({ body: '{"success":true,"data":1}' });
});
