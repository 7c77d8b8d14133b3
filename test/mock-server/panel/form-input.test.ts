import { expect, test } from 'vitest';
import { connectMockServer, createMockServer, type StubOptions } from '../../../src/mock-server/index.ts';
import {
  type FieldSchemas,
  fieldError,
  inputOf,
  isValid,
  jsonObject,
  settingsIn,
  stubInput,
} from '../../../src/mock-server/panel/browser/form-input.ts';

const text = { type: 'string' };
const textOrObject = { anyOf: [{ anyOf: [text, { type: 'number' }] }, { type: 'object' }] };
const fields: FieldSchemas = {
  id: text,
  times: { type: 'integer' },
  delayMs: { anyOf: [{ type: 'number' }, { type: 'object' }] },
  data: {},
  body: { ...text, isLong: true },
  match: { properties: { path: text, body: textOrObject } },
};

test.each([
  ['data', '{"EUR":1.10,"big":12345678901234567890}', '{"data":{"EUR":1.10,"big":12345678901234567890}}'],
  ['data', '"text"', '{"data":"text"}'],
  ['body', '{bad json\n', '{"body":"{bad json\\n"}'],
  ['body', '{"EUR":1.10}', '{"body":"{\\"EUR\\":1.10}"}'],
  ['id', ' mine ', '{"id":"mine"}'],
  ['id', '12', '{"id":"12"}'],
  ['times', '3', '{"times":3}'],
  ['match.body', '1.10', '{"match":{"body":"1.10"}}'],
  ['match.body', '{ "absent": true }', '{"match":{"body":{ "absent": true }}}'],
  ['match.path', '  ', '{}'],
])('sends the text of %s as typed: %s', (name, typed, json) => {
  expect(jsonObject(settingsIn({ [name]: typed }, fields))).toBe(json);
});

test.each([
  ['data', '{bad json'],
  ['data', 'plain text'],
  ['data', '1.2.3'],
  ['delayMs', '.5'],
  ['match.body', '{"absent"'],
])('a text that is not JSON is an error of %s: %s', (name, typed) => {
  const field = fields[name] ?? fields['match']?.properties?.['body'] ?? {};

  expect(fieldError(typed, field)).toMatch(/^Not JSON: .+/);
  expect(isValid({ [name]: typed }, fields)).toBe(false);
});

test.each([
  ['data', ''],
  ['data', '[1]'],
  ['body', '{bad json'],
  ['times', '.5'],
  ['match.body', 'EUR'],
  ['match.body', '2026-01-31'],
])('any text of %s is valid where text is accepted: %s', (name, typed) => {
  expect(isValid({ [name]: typed }, fields)).toBe(true);
});

test('a text that looks like JSON keeps its quotes when it is edited', () => {
  const settings = { data: 'text', match: { body: '{"a":1}', path: '/x' } };

  const input = inputOf(settings, fields);

  expect(input).toEqual({ data: '"text"', 'match.body': '"{\\"a\\":1}"', 'match.path': '/x' });
  expect(JSON.parse(jsonObject(settingsIn(input, fields)))).toEqual(settings);
});

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
