import { expect, test } from 'vitest';
import { connectMockServer, createMockServer, type StubOptions } from '../../../src/mock-server/index.ts';
import {
  type FieldSchemas,
  jsonObject,
  settingsIn,
  stubInput,
} from '../../../src/mock-server/panel/browser/form-input.ts';

/** As the panel reads them from the description of the admin API. */
const FIELDS: FieldSchemas = {
  match: { properties: { operation: { type: 'string' }, path: { type: 'string' }, query: {} } },
  error: { properties: { code: { type: 'string' }, message: { type: 'string' } } },
  body: { type: 'string', isLong: true },
  ...{ status: { type: 'integer' }, times: { type: 'integer' }, priority: { type: 'integer' } },
  ...{ headers: {}, data: {}, delayMs: {}, responses: { type: 'array' } },
};

test.each<StubOptions>([
  { data: { rates: { USD: 1.1 } }, match: { operation: 'latest', query: { base: /^eur$/i } } },
  { data: '<b>' },
  { status: 422, error: { code: 'unknown_currency', message: 'No <XXX>.' }, times: 3, priority: -1 },
  { status: 503, delayMs: { min: 1, max: 2 } },
  { body: 'down', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-tag': 'x' } },
  { body: '{"success":true,"data":1},{}' },
  { body: '{"success":true,"data":1 }' },
  { body: '' },
  { status: 404, body: '' },
  { status: 204 },
  { status: 302, headers: { location: '/api/v1/latest' } },
  { responses: [{ status: 503 }, { data: 1, delayMs: 5 }] },
])('the form for the stub %j adds an equal stub', (options) => {
  const { stubs } = createMockServer();
  const stub = stubs.add({ id: 'x', ...options });

  const sent = jsonObject(settingsIn(stubInput(stub, FIELDS), FIELDS));

  expect(stubs.add({ id: 'x', ...JSON.parse(sent) })).toEqual(stub);
});

test('the data of a stub keeps its digits in the field data', async () => {
  await using mock = createMockServer();
  const { stubs } = connectMockServer((await mock.serve()).adminUrl);
  await mock.latest.set('{"USD":1.10}');

  const input = stubInput((await stubs.list())[0]!, FIELDS);

  expect(input).toMatchObject({ body: '', data: '{"USD":1.10}', 'match.operation': 'latest' });
});
