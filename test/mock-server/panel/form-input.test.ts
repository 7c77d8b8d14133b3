import { expect, test } from 'vitest';
import { connectMockServer, createMockServer, type RuleOptions } from '../../../src/mock-server/index.ts';
import {
  type FieldSchemas,
  formInputOf,
  inputOf,
  isSameRule,
  jsonObject,
  jsonProblem,
  ruleFields,
  type ShownRule,
  settingsIn,
  settingsText,
} from '../../../src/mock-server/panel/browser/form-input.ts';
import { openApi } from '../../../src/mock-server/server/openapi.ts';
import { adminRoutes } from '../../../src/mock-server/server/routes.ts';

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
  ['data', '{bad json', false],
  ['data', 'plain text', false],
  ['data', '1.2.3', false],
  ['data', '', true],
  ['data', '[1]', true],
  ['delayMs', '.5', false],
  ['times', '.5', true],
  ['body', '{bad json', true],
  ['match.body', '{"absent"', false],
  ['match.body', 'EUR', true],
  ['match.body', '2026-01-31', true],
])('a text that is not JSON is an error where no text is accepted: %s, %s, valid: %s', (name, typed, isValid) => {
  const error = jsonProblem(typed, fields[name] ?? fields['match']?.properties?.['body'] ?? {});

  if (isValid) expect(error).toBeUndefined();
  else expect(error).toMatch(/^Not JSON: .+/);
});

test('a text that looks like JSON keeps its quotes when it is edited', () => {
  const settings = { data: 'text', match: { body: '{"a":1}', path: '/x' } };

  const input = inputOf(settings, fields);

  expect(input).toEqual({ data: '"text"', 'match.body': '"{\\"a\\":1}"', 'match.path': '/x' });
  expect(JSON.parse(jsonObject(settingsIn(input, fields)))).toEqual(settings);
});

/** As the panel reads them from the description of the admin API. */
const POST_RULES = openApi(adminRoutes).paths['/rules']?.['post'] as {
  readonly requestBody: { readonly content: { 'application/json': { readonly schema: { properties: FieldSchemas } } } };
};
const FIELDS = POST_RULES.requestBody.content['application/json'].schema.properties;

test.each<RuleOptions>([
  { respond: { data: { rates: { USD: 1.1 } } }, match: { operation: 'latest', query: { base: /^eur$/i } } },
  { respond: { data: '<b>' } },
  { respond: { status: 422, error: { code: 'unknown_currency', message: 'No <XXX>.' } }, times: 3 },
  { respond: { status: 503 }, delayMs: { min: 1, max: 2 }, counted: false },
  { respond: { body: 'down', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-tag': 'x' } } },
  { respond: { status: 503, headers: { 'retry-after': 7 } } },
  { respond: { body: '{"success":true,"data":1},{}' } },
  { respond: { body: '{"success":true,"data":1 }' } },
  { respond: { body: { success: true, data: { x: 1 } } } },
  { respond: { body: { success: true, data: 1 } }, match: { path: '/x' } },
  { respond: { body: '' } },
  { respond: { status: 404, body: '' } },
  { respond: { status: 204 } },
  { respond: { status: 302, headers: { location: '/api/v1/latest' } } },
  { respond: [{ status: 503 }, { data: 1 }], nth: [1, 2], probability: 0.5 },
  { fail: { kind: 'dribble', intervalMs: 5, chunkBytes: 2 }, match: { status: 429 } },
  { retryAfter: { absent: true }, encoding: 'br', delayMs: 5, afterMs: 1, forMs: 2 },
  { retryAfter: '7' },
])('the form for the rule %j adds an equal rule', (options) => {
  const { rules } = createMockServer({ clock: { mode: 'real', frozen: true } });
  const rule = rules.add({ id: 'x', ...options }) as ShownRule;
  const fields = ruleFields(FIELDS, rule);

  const sent = jsonObject(settingsIn(formInputOf(rule, fields), fields));

  expect(rules.add({ id: 'x', ...JSON.parse(sent) })).toEqual(rule);
});

test('the data of a rule keeps its digits in the field data', async () => {
  await using mock = createMockServer();
  const { rules } = connectMockServer((await mock.serve()).adminUrl);
  await mock.latest.set('{"USD":1.10}');
  const rule = (await rules.list())[0] as ShownRule;

  const input = formInputOf(rule, ruleFields(FIELDS, rule));

  expect(input).toMatchObject({ 'respond.body': '', 'respond.data': '{"USD":1.10}', 'match.operation': 'latest' });
});

test.each<[RuleOptions, string]>([
  [{ match: { path: '/a,b' }, times: 2, delayMs: 5 }, 'match:{path:/a,b}, times:2, delayMs:5'],
  [{ match: { query: { base: /^"\d,{2}$/ } }, delayMs: 5 }, 'match:{query:{base:{matches:^"\\d,{2}$}}}, delayMs:5'],
  [
    { nth: [1, 2], fail: { kind: 'network-error' }, counted: false },
    'nth:[1, 2], fail:{kind:network-error}, match:{}, counted:false',
  ],
])('the line of the rule %j has its settings as they are', (options, text) => {
  const rule = createMockServer().rules.add(options);

  expect(settingsText(JSON.parse(JSON.stringify(rule)))).toBe(text);
});

test('a rule stays the same when it is used, and another one with its id and time is not the same', () => {
  const { rules } = createMockServer({ clock: 'virtual' });
  const read = rules.add({ id: 'x', respond: { status: 503 } }) as ShownRule;

  expect(isSameRule({ ...read, matched: 2, used: 1 }, read)).toBe(true);
  rules.remove('x');
  const other = rules.add({ id: 'x', respond: { status: 500 } }) as ShownRule;
  expect([other.addedAt, isSameRule(other, read)]).toEqual([read.addedAt, false]);
});
