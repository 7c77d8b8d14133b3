import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Query, Schema } from '../../scripts/generator/contract.ts';
import { contractOf } from '../../scripts/generator/main.ts';
import { isTakenOperationId } from '../../scripts/generator/names.ts';
import { createProgram } from '../../src/cli/program/program.ts';
import { FxRates } from '../../src/client/index.ts';
import { operations } from '../../src/generated/operations.ts';

const stress = parse(await readFile(join(import.meta.dirname, '../fixtures/stress.openapi.yaml'), 'utf8'));

const PATH = 'paths /api/v1/closed';
const GET = `${PATH} get`;
const OK = `${GET} responses 200`;
const JSON_OK = `${OK} content application/json`;
const DATA = 'components schemas ClosedResponse properties data';
const SCHEMA = `${GET} parameters 0 schema`;
const COMBINED = 'the parts of this schema cannot be combined';
const CLOSED = { $ref: '#/components/schemas/Closed' };
const RESPONSE = '#/components/schemas/ClosedResponse';

test('an operation has its facts, and its parameters have their types for help', async () => {
  const [closed] = (await contractOf(stressWith())).operations;

  expect(closed).toMatchObject({
    id: 'closed',
    path: '/api/v1/closed',
    response: 'ClosedResponse',
    data: 'Closed',
    consumesQuota: true,
    worksWhenQuotaExhausted: false,
    errors: [
      { status: 503, code: undefined, headers: [], example: undefined },
      { status: 'default', code: undefined, headers: [], example: undefined },
    ],
  });
  expect(closed?.query).toMatchObject({
    kind: 'named',
    schema: 'ClosedQuery',
    parameters: [
      { name: 'from-date', type: 'date', required: true },
      { name: 'at', type: 'date-time', required: false },
      { name: 'places', type: 'integer' },
      { name: 'exact', type: 'boolean' },
      { name: 'order', type: 'asc|desc' },
      { name: 'symbol', type: 'string' },
    ],
  });
});

test('an operation with x-free-form-query accepts any parameters', async () => {
  const contract = await contractOf(stressWith(`${GET} parameters`, undefined, `${GET} x-free-form-query`, 'Any.'));

  expect(contract.operations[0]?.query).toEqual({ kind: 'free-form', schema: 'ClosedQuery' });
  expect(contract.schemas.get('ClosedQuery')).toMatchObject({ kind: 'object', properties: [], description: 'Any.' });
});

test('parameters of the path and of the query are one object; those of the path item count, too', async () => {
  const item = stressWith(`${PATH} parameters`, [
    { name: 'day', in: 'path', required: true, schema: { $ref: '#/components/schemas/Day' } },
    { name: 'places', in: 'query', schema: { type: 'string' } },
  ]).paths['/api/v1/closed'];

  const [closed] = (await contractOf(stressWith('paths', { '/api/v1/closed/{day}': item }))).operations;

  const { parameters } = closed!.query as Query & { kind: 'named' };
  expect(parameters.map(({ name, in: place, type }) => [name, place, type])).toEqual([
    ['day', 'path', 'date'],
    ['from-date', 'query', 'date'],
    ['at', 'query', 'date-time'],
    ['places', 'query', 'integer'],
    ['exact', 'query', 'boolean'],
    ['order', 'query', 'asc|desc'],
    ['symbol', 'query', 'string'],
  ]);
});

const ANY_SCALAR = ['string', 'number', 'boolean'];

test.each<[yaml: string, facts: object]>([
  ['schema: { type: array, items: { type: string } }', { list: 'repeated', types: ['string'] }],
  ['{ explode: false, schema: { type: array, items: { type: integer } } }', { list: 'comma', types: ['integer'] }],
  ['schema: { enum: [1, two, true] }', { choices: [1, 'two', true], types: ['integer', 'string', 'boolean'] }],
  ['schema: { type: [string, number] }', { types: ['string', 'number'], type: 'string|number' }],
  ['schema: { type: string, default: EUR }', { default: 'EUR' }],
  ['schema: { type: integer, format: int64 }', { types: ['int64'], schema: { kind: 'digits' } }],
  ['schema: { type: integer, format: int64, multipleOf: 1.0e+21 }', { types: ['int64'] }],
  ["schema: { type: [string, 'null'], default: null }", { types: ['string'], schema: { kind: 'string' } }],
  ['schema: { type: string, enum: [a, b], nullable: true }', { choices: ['a', 'b'] }],
  ["schema: { anyOf: [{ type: array, items: { type: integer } }, { type: 'null' }] }", { list: 'repeated' }],
  ['schema: { enum: [a, null] }', { choices: ['a'] }],
  ['schema: {}', { types: ANY_SCALAR }],
  ['schema: true', { types: ANY_SCALAR }],
  ['schema: { type: array }', { list: 'repeated', types: ANY_SCALAR }],
  ['{ schema: { type: string }, deprecated: true }', { deprecated: true }],
  // A URL cannot contain an empty list.
  ['schema: { type: array, items: { enum: [a, b] }, examples: [[], [b]] }', { example: ['b'] }],
  ['{ schema: { type: integer, minimum: 5 }, examples: { a: { value: 6 } } }', { example: 6 }],
  ["{ schema: { $ref: '#/components/schemas/Code', description: Own. }, example: EUR }", { description: 'Own.' }],
  ['schema: { type: string, description: Of the schema. }', { description: 'Of the schema.' }],
])('the parameter %s is %j', async (yaml, facts) => {
  const parameter = { name: 'a', in: 'query', ...parse(yaml) };

  const { parameters } = (await contractOf(stressWith(`${GET} parameters`, [parameter]))).operations[0]!
    .query as Query & { kind: 'named' };

  expect(parameters[0]).toMatchObject(facts);
});

test.each<[yaml: string, schema: object]>([
  ['{ type: string, nullable: true }', { kind: 'any', members: [{ kind: 'string' }, { kind: 'null' }] }],
  ['{ type: string, nullable: false }', { kind: 'string' }],
  ['{ enum: [a, null], type: string, nullable: true }', { members: [{ values: ['a'] }, { kind: 'null' }] }],
  ['{ type: number, minimum: 0, exclusiveMinimum: true }', { kind: 'number', exclusiveMinimum: 0 }],
  ['{ type: number, maximum: 9, exclusiveMaximum: false }', { kind: 'number', maximum: 9 }],
  ['{ type: string, format: date, example: "2026-01-21" }', { kind: 'string', format: 'date', example: '2026-01-21' }],
])('the schema %s of OpenAPI 3.0 is %j, in a document of 3.0 and of 3.1', async (yaml, schema) => {
  for (const version of ['3.0.3', '3.1.0']) {
    const { schemas } = await contractOf(stressWith('openapi', version, 'components schemas Field', parse(yaml)));
    expect(schemas.get('Field')).toMatchObject(schema);
  }
});

const NAMED = 'type: object, required: [name], properties: { name: { type: string } }';
const SIZED = 'type: object, required: [size], properties: { size: { type: integer } }';
const OF_BOTH = { properties: ['name', 'size'].map((name) => ({ name, isRequired: true })) };
const TAGGED = { properties: [{ name: 'id' }, { name: 'tags', isRequired: true, schema: { kind: 'array' } }] };
const CODE = { kind: 'string', pattern: '^[A-Z]{3}$', maxLength: 9 };

test.each<[yaml: string, schema: object]>([
  ["{ allOf: [{ $ref: '#/components/schemas/Closed' }] }", { kind: 'reference', name: 'Closed' }],
  [`{ allOf: [{ ${NAMED} }, { ${SIZED} }] }`, OF_BOTH],
  ["{ allOf: [{ $ref: '#/components/schemas/Base' }], required: [tags] }", TAGGED],
  [`{ ${NAMED}, anyOf: [{ required: [a] }, { required: [b] }] }`, { kind: 'any', members: [{}, {}] }],
  [
    '{ allOf: [{ type: integer, minimum: 1 }, { minimum: 3, maximum: 9 }] }',
    { kind: 'number', isInteger: true, minimum: 3, maximum: 9 },
  ],
  ['{ enum: [a, bc, 3], minLength: 2 }', { kind: 'literals', values: ['bc', 3] }],
  ['{ oneOf: [{ type: string }, { type: array }], minItems: 2 }', { members: [{ kind: 'string' }, { minItems: 2 }] }],
  ['{ allOf: [{ type: array, uniqueItems: true }, { maxItems: 2 }] }', { hasUniqueItems: true, maxItems: 2 }],
  ["{ $ref: '#/components/schemas/Code', maxLength: 9 }", CODE],
  ['{ allOf: [{ x-extensible-enum: [a, b] }, { x-extensible-enum: [b, c] }] }', { knownValues: ['a', 'b', 'c'] }],
])('the parts of %s are merged to %j', async (yaml, schema) => {
  expect(await schemaOf(yaml)).toMatchObject(schema);
});

test.each([
  "{ allOf: [{ $ref: '#/components/schemas/Closed' }, { type: object }] }",
  "{ allOf: [{ type: object }, { $ref: '#/components/schemas/Closed' }] }",
  "{ allOf: [{ type: object, description: Of this. }, { $ref: '#/components/schemas/Closed' }] }",
  "{ allOf: [{ $ref: '#/components/schemas/Closed' }, { type: object, description: Of this. }] }",
  "{ allOf: [{ $ref: '#/components/schemas/Other' }, { $ref: '#/components/schemas/Closed' }, { type: object }] }",
])('%s keeps the named type', async (yaml) => {
  const { description, ...schema } = await schemaOf(yaml);

  expect(schema).toEqual({ kind: 'reference', name: 'Closed' });
  expect(description).toBe(yaml.includes('Of this.') ? 'Of this.' : undefined);
});

test.each([
  [['Named', 'Plain'], 'Of Named.'],
  [['Plain', 'Named'], 'Of Named.'],
  [['Named', 'Sized'], 'Of Named.'],
  [['Sized', 'Named'], 'Of Sized.'],
])('a type of %j has the first description', async (names, description) => {
  const allOf = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
  const parts = {
    Named: { ...parse(`{ ${NAMED} }`), description: 'Of Named.' },
    Sized: { ...parse(`{ ${SIZED} }`), description: 'Of Sized.' },
    Plain: { type: 'object', required: ['plain'] },
  };
  const changes = Object.entries({ ...parts, Both: { allOf } }).flatMap(([name, schema]) => [
    `components schemas ${name}`,
    schema,
  ]);

  expect((await contractOf(stressWith(...changes))).schemas.get('Both')).toMatchObject({ kind: 'object', description });
});

test.each([
  ['Envelope', 'Own'],
  ['Own', 'Envelope'],
])('the data of a response that is all of %s and %s has its named type', async (...names) => {
  const success = { const: true };
  const parts = {
    Envelope: { type: 'object', required: ['success', 'data'], properties: { success, data: { type: 'object' } } },
    Own: { properties: { data: CLOSED } },
  };
  const allOf = names.map((name) => parts[name as keyof typeof parts]);

  const { operations, schemas } = await contractOf(stressWith(`${JSON_OK} schema`, { allOf }));

  expect(operations[0]?.data).toBe('Closed');
  expect([...schemas.keys()]).not.toContain('ClosedData');
});

const SECRET = { type: 'object', properties: { pin: { type: 'string', writeOnly: true }, size: { type: 'integer' } } };

test.each([
  { ...SECRET, required: ['pin', 'size'] },
  { allOf: [SECRET], required: ['pin', 'size'] },
  {
    ...SECRET,
    properties: { ...SECRET.properties, pin: { $ref: '#/components/schemas/Pin' } },
    required: ['pin', 'size'],
  },
])('a response needs no field that only requests have: %j', async (field) => {
  const pin = ['components schemas Pin', SECRET.properties.pin, `${JSON_OK} examples`, undefined];

  const { operations, schemas } = await contractOf(stressWith(...pin, DATA, field));

  expect(operations[0]?.example).toMatchObject({ data: { size: 1 } });
  expect(operations[0]?.example).not.toHaveProperty('data.pin');
  expect(schemas.get('ClosedData')).toMatchObject({ properties: [{ isRequired: false }, { isRequired: true }] });
});

test.each([
  ['\\d{3}\\-\\d', '\\d{3}\\x2d\\d'],
  ['[\\w\\-]', '[\\w\\x2d]'],
  ['\\@\\_', '@_'],
  ['\\$', '\\$'],
])('the pattern %s is %s, which is valid with the flag u', async (pattern, valid) => {
  expect(await schemaOf(JSON.stringify({ type: 'string', pattern }))).toMatchObject({ pattern: valid });
});

test('what has no effect is noted, with its place', async () => {
  const skipped = [
    { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
    { name: 'session', in: 'cookie', schema: { type: 'string' } },
    { name: 'Host', in: 'header', schema: { type: 'string' } },
    { $ref: '#/components/parameters/Any', required: true, description: 'Beside.' },
  ];
  const any = { name: 'any', in: 'query', allowEmptyValue: true, schema: { type: 'string' }, description: 'Own.' };
  const changes = {
    ...{ [`${GET} parameters`]: skipped, [`${GET} callbacks`]: {}, webhooks: {} },
    ...{ 'components schemas Field': { type: 'array', required: ['a'] }, 'components parameters Any': any },
  };

  const { notes, operations } = await contractOf(stressWith(...Object.entries(changes).flat()));

  expect(operations[0]?.query).toMatchObject({ parameters: [{ name: 'any', description: 'Beside.' }] });
  expect(notes.map(({ path, problem }) => `${path.at(-1)}: ${problem}`)).toEqual([
    "webhooks: 'webhooks' has no effect; the client sends requests and receives none",
    "required: 'required' has no effect on the type array",
    "callbacks: 'callbacks' has no effect; the client sends requests and receives none",
    "required: 'required' has no effect; the target of the $ref has its own",
    "0: the optional header parameter is skipped; a call can send it with its option headers: { 'X-Trace': … }",
    "1: the optional cookie parameter is skipped; a call can send it with its option headers: { 'Cookie': … }",
    "2: the optional header parameter is skipped; a call cannot set the header 'Host'",
    "allowEmptyValue: 'allowEmptyValue' has no effect; the client sends the values of the schema",
  ]);
});

test.each([
  ['servers', [{ url: 'https://api.rates.test' }], '0/url: a server has no effect'],
  ['security', [{ rawKey: [] }], "security: the client sends 'Authorization: Bearer' without its option auth"],
  ['security', [{ basic: [] }, { rawKey: [] }], "security: the client sends 'Authorization: Bearer'"],
  [`${GET} security`, [{ rawKey: [] }], "security: the client sends 'Authorization: Bearer'"],
])('%s %j is noted, because it changes nothing', async (where, value, expected) => {
  const rawKey = { type: 'apiKey', in: 'header', name: 'Authorization' };
  const basic = { type: 'http', scheme: 'basic' };
  const schemes = ['components securitySchemes rawKey', rawKey, 'components securitySchemes basic', basic];
  const { notes } = await contractOf(stressWith(...schemes, where, value));

  expect(notes.map(({ path, problem }) => `${path.slice(-2).join('/')}: ${problem}`)).toEqual([
    expect.stringContaining(expected),
  ]);
});

test.each([
  { type: 'number', minimum: 2, maximum: 1 },
  { type: 'string', pattern: '^(?=no)yes$' },
  { type: 'array', items: { type: 'string', enum: [''] }, maxItems: 0 },
])('an optional parameter of which no value is known is noted: %j', async (schema) => {
  const { notes } = await contractOf(stressWith(`${GET} parameters`, [{ name: 'n', in: 'query', schema }]));

  expect(notes.map(({ path, problem }) => [path.at(-1), problem])).toContainEqual([
    '0',
    'no valid value can be made from the schema; give an example',
  ]);
});

test.each([[{ type: 'http', scheme: 'Bearer' }], [{ type: 'apiKey', in: 'header', name: 'authorization' }]])(
  'the scheme %j is one of those that the client sends',
  async (scheme) => {
    await expect(contractOf(stressWith('components securitySchemes bearerKey', scheme))).resolves.toBeDefined();
  },
);

test.each([
  ['application/json', 'application/json-patch+json'],
  ['application/json; charset=utf-8', 'text/plain'],
])('of the media types, %s is used before %s', async (used, other) => {
  const content = { [other]: {}, [used]: { schema: { $ref: RESPONSE } } };

  expect((await contractOf(stressWith(`${OK} content`, content))).operations[0]?.response).toBe('ClosedResponse');
});

test('twelve components that refer to each other have a small example', async () => {
  const names = Array.from('abcdefghijkl', (letter) => `Node-${letter}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/schemas/${name}` }]));
  const nodes = names.flatMap((name) => [`components schemas ${name}`, { type: 'object', properties }]);
  const data = [DATA, { $ref: '#/components/schemas/Node-a' }];

  const { operations } = await contractOf(stressWith(...nodes, ...data, `${JSON_OK} examples`, undefined));

  expect(JSON.stringify(operations[0]?.example).length).toBeLessThan(20_000);
});

test('one problem of a part causes no others', async () => {
  const document = stressWith(
    ...['paths /api/v1/closed/{day}', { get: { operationId: 'day', responses: {}, parameters: [PATH_DAY] } }],
    ...['components schemas ClosedResponse', { type: 'object', required: 5 }],
  );

  const { message } = (await contractOf(document).catch((error: Error) => error as Error)) as Error;

  expect(message).not.toMatch(/the path has|not the envelope/);
});

test('a response whose $ref refers to nothing has one problem', async () => {
  const document = stressWith(OK, { $ref: '#/components/responses/Nothing' });

  const { message } = (await contractOf(document).catch((error: Error) => error as Error)) as Error;

  expect(message.split('\n')).toEqual([expect.stringContaining("'#/components/responses/Nothing' does not exist")]);
});

const PATH_DAY = { name: 'day', in: 'path', required: true, schema: { type: 'nothing' } };

test.each([
  ['operationId', 'closed-rates', { id: 'closedRates' }],
  ['operationId', 'GetClosed', { id: 'getClosed' }],
  ['operationId', 'get_closed', { id: 'getClosed' }],
  ['description', 'First line  \nsecond.', { description: 'First line second.' }],
  ['description', 'Values:\n- one\n  more\n- two', { description: 'Values:\n- one more\n- two' }],
  ['description', '1. one\n2. two', { description: '1. one\n2. two' }],
  ['description', 'One.\n\nTwo  with   spaces.', { description: 'One.\n\nTwo with spaces.' }],
  ['x-consumes-quota', false, { consumesQuota: false, worksWhenQuotaExhausted: true }],
])('the %s %j of an operation becomes %j', async (name, given, expected) => {
  expect((await contractOf(stressWith(`${GET} ${name}`, given))).operations[0]).toMatchObject(expected);
});

test.each([
  ['Rates of the U.S. dollar. Of v1.2.', 'Rates of the U.S. dollar'],
  ['Rates of v1.2', 'Rates of v1.2'],
  ['U.S. Dollar rates, e.g. EUR. More.', 'U.S. Dollar rates, e.g. EUR'],
  ['Latest rates. 170 currencies. `base` is the base.', 'Latest rates'],
  ['Rates.', 'Rates'],
])('without a summary, %j has the summary %j', async (description, summary) => {
  const changes = [`${GET} summary`, undefined, `${GET} description`, description];

  expect((await contractOf(stressWith(...changes))).operations[0]).toMatchObject({ summary });
});

test('the texts of a path are those of its operation, unless it has its own', async () => {
  const texts = [`${PATH} summary`, 'Of the path', `${PATH} description`, 'Of the path, too.'];
  const own = [`${GET} summary`, 'Own', `${GET} description`, undefined];

  const [closed] = (await contractOf(stressWith(...texts, ...own))).operations;

  expect(closed).toMatchObject({ summary: 'Own', description: 'Of the path, too.' });
});

test('what stands beside the $ref of a path or a response is noted', async () => {
  const { get } = stressWith().paths['/api/v1/closed'];
  const shared = { 'components pathItems Shared': { get }, 'components responses Shared': get.responses[200] };
  const beside = { [PATH]: { $ref: '#/components/pathItems/Shared', parameters: [], 'x-order': 1 } };
  const response = { $ref: '#/components/responses/Shared', description: 'Own.', headers: {} };
  const changes = { ...shared, ...beside, 'components pathItems Shared get responses 200': response };

  const { notes, operations } = await contractOf(stressWith(...Object.entries(changes).flat()));

  expect(operations.map(({ id }) => id)).toEqual(['closed']);
  expect(notes.map(({ path }) => path.at(-1))).toEqual(expect.arrayContaining(['parameters', 'headers']));
});

test('a schema outside the components has no name', async () => {
  const field = { $ref: '#/x-shared/schemas/Closed' };
  const changes = ['x-shared', { schemas: { Closed: { type: 'integer' } } }, 'components schemas Field', field];

  expect((await contractOf(stressWith(...changes))).schemas.get('Field')).toMatchObject({ kind: 'number' });
});

test('a schema inside an operation gets types of its own', async () => {
  const schema = {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { const: true }, data: { type: 'array' } },
  };
  const [closed] = (await contractOf(stressWith(`${JSON_OK} schema`, schema, `${JSON_OK} examples`, undefined)))
    .operations;

  expect(closed).toMatchObject({ response: 'ClosedResponse2', data: 'ClosedData', example: { data: [{}] } });
});

test('an operation cannot have the name of a command or of a client member', async () => {
  const members = [...Object.getOwnPropertyNames(FxRates.prototype), 'request'].filter((name) => !(name in operations));
  const program = createProgram();
  const commands = program.commands.map((command) => command.name()).filter((name) => !(name in operations));

  expect([...commands, ...members].filter((name) => !isTakenOperationId(name))).toEqual([]);
});

test.each([
  ['openapi', undefined, "#: this is not an OpenAPI document: 'openapi' is missing"],
  ['openapi', '2.0.0', "#/openapi: OpenAPI 3.1 or 3.0 is expected, not '2.0.0'"],
  ['servers', [{ url: 'https://x.test/v1' }], '#/servers/0/url: a URL without path and variables is expected'],
  ['servers', [{ url: 'https://<your-host>' }], '#/servers/0/url: a URL without path and variables is expected'],
  ['servers', [{ url: '{base}' }], '#/servers/0/url: a URL without path and variables is expected'],
  ['security', [], '#/security: the client sends its key with every request'],
  ['security', undefined, '#: the client sends its key with every request'],
  ['security', [{ cookieKey: [] }], "#/security/0: the client does not send its key as 'apiKey cookie key'"],
  ['security', [{ bearerKey: [], cookieKey: [] }], '#/security/0: exactly one scheme is expected'],
  ['security', [{ bearer: [] }], "#/security/0: 'bearer' is not one of the securitySchemes"],
  [
    'x-plans free rateLimitPerMinute',
    'thirty',
    '#/x-plans/free/rateLimitPerMinute: a whole number above 0 is expected',
  ],
  ['x-plans free rateLimitPerMinute', -30, '#/x-plans/free/rateLimitPerMinute: a whole number above 0 is expected'],
  ['x-plans free rateLimitPerMinute', null, '#/x-plans/free/rateLimitPerMinute: a whole number above 0 is expected'],
  ['x-plans free monthlyLimit', 0.5, '#/x-plans/free/monthlyLimit: a whole number above 0 is expected'],
  ['x-plans free limit', 3, "#/x-plans/free/limit: unknown key of a plan 'limit'"],
  ['x-not-shown host', ['a'], '#/x-not-shown/host: text is expected'],
  ['x-api-key pattern', '[', '#/x-api-key/pattern: SyntaxError'],
  ['components schemas ErrorResponse', undefined, "'#/components/schemas/ErrorResponse' does not exist"],
  [`${GET} security`, [], '/get/security: the client sends its key with every request'],
  ['x-plan', {}, "#/x-plan: unknown key 'x-plan'; did you mean 'x-plans'?"],
  ['components schema', {}, "#/components/schema: property 'schema' is not expected here; did you mean 'schemas'?"],
  ['components schemas 1st', {}, "#/components/schemas/1st: '1st' cannot be the name of a type"],
  ['components schemas Object', {}, "#/components/schemas/Object: 'Object' cannot be the name of a type"],
  ['components schemas closed', {}, "#/components/schemas/closed: two components have the type name 'Closed'"],
  ['components schemas Own', { $ref: '#/components/schemas/Own' }, "#/components/schemas/Own: 'Own' refers to itself"],
  ['components schemas Own', { allOf: [{ $ref: '#/components/schemas/Own' }, {}] }, "'Own' refers to itself"],
  ['components responses', { A: { $ref: '#/components/responses/A' } }, '#: the structure cannot be checked: '],
  ['components schemas Own', { anyOf: [{ $ref: '#/components/schemas/Own' }, {}] }, "'Own' refers to itself"],
  [
    'components schemas Own',
    { type: 'object', properties: { own: { type: 'object', allOf: [{ $ref: '#/components/schemas/Own' }] } } },
    '#/components/schemas/Own: combining a schema with others inside itself is not implemented: write its $ref alone',
  ],
  ['paths', { '/a/{b}': {}, '/a/{c}': {} }, '#/paths//a/{c}: the path already exists which differs only by path'],
  ['paths closed', {}, "#/paths/closed: a path begins with '/'"],
  ['paths //evil.test', {}, "#/paths///evil.test: a path begins with '/'"],
  ['paths /a/../b', {}, "#/paths//a/../b: a path begins with '/'"],
  ['paths /a?b=c', {}, "#/paths//a?b=c: a path begins with '/'"],
  ['paths /ä', {}, "#/paths//ä: a path begins with '/'"],
  ['paths /{a', {}, "#/paths//{a: a path begins with '/'"],
  ['paths /{a}{b}', {}, "#/paths//{a}{b}: a path begins with '/'"],
  ['paths /{a}', { get: {} }, '#/paths//{a}: the path has {a}, but no parameter in: path has this name'],
  [`${PATH} post`, {}, "#/paths//api/v1/closed/post: 'post' is not implemented; only GET is"],
  [`${GET} operationId`, undefined, "/get/operationId: 'operationId' is missing"],
  [`${GET} operationId`, '€', "/get/operationId: '€' cannot be the name of a method"],
  [`${GET} operationId`, 'últimas-tasas', "/get/operationId: 'últimas-tasas' cannot be the name of a method"],
  ['components schemas Größe', {}, "#/components/schemas/Größe: 'Größe' cannot be the name of a type"],
  [
    'paths /api/v1/quota get',
    { operationId: 'quota', parameters: [{ name: 'day', in: 'query', required: true, schema: {} }] },
    "/get/parameters/0: 'day' is required, but the client itself calls quota() without parameters",
  ],
  [`${GET} parameters 0 allowReserved`, true, "/parameters/0/allowReserved: 'allowReserved' is not implemented"],
  [`${GET} operationId`, 'then', "/get/operationId: 'then' is the name of a command or of a member of the client"],
  [`${GET} operationId`, 'mock', "/get/operationId: 'mock' is the name of a command or of a member of the client"],
  [`${GET} operationId`, 'toString', "/get/operationId: 'toString' is the name of a command or of a member"],
  [`${GET} x-consumes-qouta`, true, "unknown key 'x-consumes-qouta'; did you mean 'x-consumes-quota'?"],
  [`${GET} x-consumes-quota`, 'yes', '/get/x-consumes-quota: true or false is expected'],
  [`${GET} requestBody`, {}, "/get/requestBody: 'requestBody' is not implemented; a GET has no body"],
  [`${GET} x-free-form-query`, 'Any.', '/get/x-free-form-query: an operation with x-free-form-query has no other'],
  [`${GET} parameters 0 in`, 'header', '/0/in: unknown place of a required parameter "header"; known: query, path'],
  [`${GET} parameters 0 in`, 'path', "the parameter 'from-date' is in: path, but the path has no {from-date}"],
  [SCHEMA, { type: 'object' }, '/parameters/0/schema: a parameter is text, a number'],
  [SCHEMA, { type: 'null' }, '/parameters/0/schema: a parameter is text, a number'],
  [SCHEMA, { type: ['string', 'array'] }, '/parameters/0/schema: a parameter is text, a number'],
  [SCHEMA, { type: ['string', 'object'] }, '/parameters/0/schema: a parameter is text, a number'],
  [SCHEMA, { items: { type: ['string', 'array'] } }, '/parameters/0/schema: a parameter is text, a number'],
  [SCHEMA, { enum: [null] }, '/parameters/0/schema: a parameter is text, a number'],
  [SCHEMA, { enum: [1, '1'] }, '/parameters/0/schema: two values of the enum are written alike'],
  [SCHEMA, { type: 'number', minimum: 2, maximum: 1 }, '/parameters/0: no valid value can be made'],
  [`${GET} parameters 0 style`, 'deepObject', '/parameters/0/style: unknown style of a parameter in the query'],
  [`${GET} parameters 2 example`, 9, '/parameters/2/example: 9 is not a valid example: Too big'],
  [`${GET} parameters 4 schema default`, 'up', `/schema/default: "up" is not a valid default: Invalid option`],
  [`${GET} parameters 0 content`, {}, "/parameters/0/content: 'content' is not implemented; write 'schema'"],
  [`${GET} parameters 0 name`, 'api_key', "/parameters/0/name: 'api_key' is the API key"],
  [`${GET} parameters 0 name`, 'toString', "/parameters/0/name: every object has 'toString'"],
  [`${GET} parameters 0 name`, '', "/parameters/0/name: a name without control characters, '='"],
  [`${GET} parameters 0 name`, 'a ', "/parameters/0/name: a name without control characters, '='"],
  [`${GET} parameters 1 name`, 'from-date', "/parameters/1: the parameter 'from-date' stands twice"],
  [OK, undefined, "/get/responses/200: '200' is missing"],
  [`${OK} content`, undefined, "/responses/200: 'content' is missing: every response of the service is the envelope"],
  [`${GET} responses 204`, { description: '' }, '/responses/204: one response of success is implemented, 200 or 2XX'],
  [`${GET} responses 2XX`, { description: '' }, '/responses/2XX: one response of success is implemented'],
  [`${GET} responses 600`, { description: '' }, "/responses/600: unknown status '600'"],
  [`${OK} content`, { 'text/csv': {} }, "/responses/200/content: unknown media type 'text/csv'"],
  [`${JSON_OK} examples one value data count`, 'x', '/examples/one/value/data/count: "x" is not a valid example'],
  [`${JSON_OK} schema`, CLOSED, '/schema: the response is not the envelope of the service'],
  [
    'components schemas ClosedResponse properties success',
    { const: false },
    '/schema: the envelope of a success has success: true, which this schema does not allow',
  ],
  [
    'components schemas ClosedResponse',
    { type: 'object', required: ['data'], properties: { data: {} }, additionalProperties: false },
    '/schema: the envelope of a success has success: true',
  ],
  ['components schemas Code default', 'x', '#/components/schemas/Code/default: "x" is not a valid default'],
  [
    'components schemas Names',
    { type: 'object', propertyNames: { enum: ['EUR'] }, example: { EUR: 1, CYP: 2 } },
    '#/components/schemas/Names/example/CYP: 2 is not a valid example: Unexpected field',
  ],
  [
    'components schemas Names',
    {
      ...{ type: 'object', patternProperties: { '^[A-Z]{3}$': {} }, additionalProperties: false },
      ...{ propertyNames: { enum: ['EUR'] }, example: { EUR: 1, CYP: 2 } },
    },
    '#/components/schemas/Names/example/CYP: 2 is not a valid example: Unexpected field',
  ],
  ['components schemas Count example', 11, '#/components/schemas/Count/example: 11 is not a valid example: Too big'],
  [
    'components schemas Tree example',
    { value: 1, children: [{ value: 'x' }] },
    '#/components/schemas/Tree/example/children/0/value: "x" is not a valid example',
  ],
  ['components schemas Later example', {}, "#/components/schemas/Later/example: {} is not a valid example: 'later':"],
  [`${GET} responses 503 content application/json schema`, CLOSED, "every error is an 'ErrorResponse'"],
])('%s: %j is refused: %s', async (place, value, problem) => {
  await expect(contractOf(stressWith(place, value))).rejects.toThrow(problem);
});

test('a parameter whose type refers only to itself is rejected', async () => {
  const own = { $ref: '#/components/schemas/Own' };
  const document = stressWith('components schemas Own', { anyOf: [own, {}] }, SCHEMA, own);

  await expect(contractOf(document)).rejects.toThrow("#/components/schemas/Own: 'Own' refers to itself");
});

test.each([
  { type: 'string' },
  { enum: ['a', 'b'] },
  { type: 'object', required: ['a'] },
  { $ref: '#/components/schemas/Other' },
])('%j combined with a type that refers only to itself is rejected', async (part) => {
  const own = { $ref: '#/components/schemas/Own' };
  const other = { oneOf: [{ $ref: '#/components/schemas/Other' }, own] };
  const changes = ['Own', { oneOf: [own, { type: 'null' }] }, 'Other', other, 'Both', { allOf: [own, part] }];
  const named = changes.map((change) => (typeof change === 'string' ? `components schemas ${change}` : change));

  await expect(contractOf(stressWith(...named))).rejects.toThrow("#/components/schemas/Own: 'Own' refers to itself");
});

const hasThreeRates = (map: object) => Object.keys(map).join() === 'EUR,GBP,USD';

function withoutExample(field: unknown): Record<string, unknown> {
  const data = { type: 'object', required: ['field'], properties: { field } };
  const loop = { type: 'object', required: ['next'], properties: { next: { $ref: '#/components/schemas/Loop' } } };
  return stressWith(DATA, data, `${JSON_OK} examples`, undefined, 'components schemas Loop', loop);
}

test.each([
  { type: 'string', pattern: '^[A-Z]{9}$' },
  { type: 'string', minLength: 1e9 },
  { type: 'array', items: { type: 'string' }, minItems: 1e9 },
  { $ref: '#/components/schemas/Loop' },
])('a response without an example for %j needs one', async (field) => {
  await expect(contractOf(withoutExample(field))).rejects.toThrow(
    /#\/paths.*\/responses\/200: no response can be generated from the schema \(.*\); give an example$/,
  );
});

test.each([
  [{ type: 'string', pattern: '^[A-Z]{3}$', example: 'EUR' }, 'EUR'],
  [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 0.0001],
  [{ anyOf: [{ type: 'string', pattern: '^[A-Z]{9}$' }, { type: 'boolean' }] }, true],
  [{ type: 'object', additionalProperties: { type: 'number' } }, expect.toSatisfy(hasThreeRates)],
  [{ type: 'object', additionalProperties: { type: 'number' }, example: { EUR: 0.9 } }, { EUR: 0.9 }],
  [{ type: 'array', items: { type: 'string' }, example: ['a', 'b'] }, ['a', 'b']],
  [{ type: 'array', items: { type: 'string', example: ['a', 'b'] } }, ['text']],
  [{ type: 'string', default: 'EUR' }, 'EUR'],
  // The example of a part can lack a field.
  [{ allOf: [{ properties: { a: { const: 1 } }, example: { a: 1 } }, { required: ['b'] }] }, { a: 1, b: {} }],
])('a response without an example for the field %j has the value %j', async (field, value) => {
  expect((await contractOf(withoutExample(field))).operations[0]?.example).toMatchObject({ data: { field: value } });
});

const WRONG_FIELDS = {
  properties: {
    a: { type: 'strong' },
    b: { typ: 'string' },
    c: { type: 'string', minLength: 'x' },
    d: { enum: [{}, []] },
  },
};

test.each<[what: string, changes: unknown[], problems: string[]]>([
  [
    'all parts',
    [`${GET} requestBody`, {}, `${GET} parameters 1 in`, 'cookie', 'components schemas Day type', 'text'],
    ['#/components/schemas/Day/type: unknown type "text"', "/get/requestBody: 'requestBody' is not implemented"],
  ],
  [
    'a document without components and extensions',
    ['components', undefined, 'x-plans', undefined, 'x-api-key', undefined, `${GET} requestBody`, {}],
    [
      ...['components', 'x-plans', 'x-api-key'].map((name) => `#/${name}: '${name}' is missing`),
      "'requestBody' is not implemented",
    ],
  ],
  [
    'all keywords of a schema',
    ['components schemas Field', WRONG_FIELDS],
    [
      'a/type: unknown type "strong"',
      "b/typ: property 'typ' is not expected here; did you mean 'type'?",
      'c/minLength: a number is expected',
      'd/enum/0: only text, numbers, true, false and null are implemented here',
      'd/enum/1: only text, numbers, true, false and null are implemented here',
    ].map((problem) => `#/components/schemas/Field/properties/${problem}`),
  ],
])('one run reports the problems of %s', async (_, changes, problems) => {
  const refused = contractOf(stressWith(...changes));

  for (const problem of problems) await expect(refused).rejects.toThrow(problem);
});

/** The stress spec with some values set, or removed with `undefined`. */
function stressWith(...changes: readonly unknown[]) {
  const document = structuredClone(stress);
  for (let index = 0; index < changes.length; index += 2) {
    const keys = String(changes[index]).split(' ');
    const last = keys.pop() ?? '';
    const place = keys.reduce((node, key) => (node[key] ??= {}), document);
    place[last] = changes[index + 1];
    if (place[last] === undefined) delete place[last];
  }
  return document;
}

test.each([
  ['{ type: string, title: A, description: B, default: a, deprecated: true, example: b }'],
  [
    '{ type: string, examples: [b], readOnly: true, writeOnly: false, externalDocs: { url: x }, $comment: c, x-order: 1 }',
  ],
  ['{ type: string, format: uuid }'],
  ['{ type: integer, format: int64 }'],
  ['{ type: number, format: double }'],
  ['{ type: array, items: { type: string, example: [a, b] } }'], // a list is an example of the schema of its items
])('%s: annotations and unknown formats are ignored', async (yaml) => {
  expect((await schemaOf(yaml)).kind).toMatch(/string|number|array/);
});

test.each([
  ['{ maxLenght: 3 }', "property 'maxLenght' is not expected here; did you mean 'maxLength'?", '/maxLenght'],
  [
    '{ x-extensible-enums: [a] }',
    "unknown key 'x-extensible-enums'; did you mean 'x-extensible-enum'?",
    '/x-extensible-enums',
  ],
  ['{ type: string, x-extensible-enum: [1] }', 'text is expected', '/x-extensible-enum/0'],
  ['{ type: string, minLength: "3" }', 'a number is expected', '/minLength'],
  ['{ type: string, format: datetime }', "unknown format 'datetime'; did you mean 'date-time'?", '/format'],
  ['{ type: string, pattern: "(" }', 'SyntaxError: Invalid regular expression', '/pattern'],
  ['{ type: string, pattern: "/^a$/" }', 'a pattern is written without delimiters', '/pattern'],
  ['{ type: strong }', 'unknown type "strong"; known: string, integer,', '/type'],
  ['{ type: [] }', 'at least one item is expected', '/type'],
  ['{ const: { a: 1 } }', 'only text, numbers, true, false and null are implemented here', '/const'],
  ['{ type: boolean, const: "true" }', `${COMBINED}: none of "true" is possible`],
  ['{ type: [string, array], enum: [1.5] }', "enum value '1.5' must be of allowed types: 'string,array'", '/enum/0'],
  ['{ enum: [] }', 'at least one item is expected', '/enum'],
  ['{ required: [a], additionalProperties: false }', "'a' is required but not among properties", '/required/0'],
  [
    '{ patternProperties: { a: {} } }',
    "'patternProperties' is implemented with one pattern, additionalProperties: false",
    '/patternProperties',
  ],
  ['{ properties: { a: { propertees: {} } } }', "property 'propertees' is not expected", '/properties/a/propertees'],
  ['{ properties: { a/b~c: { typ: string } } }', "property 'typ' is not expected here", '/properties/a/b~c/typ'],
  ['{ type: object, properties: { __proto__: {} } }', "every object has '__proto__'", '/properties/__proto__'],
  ['{ type: object, required: [toString] }', "every object has 'toString'", '/required/0'],
  ['{ type: object, additionalProperties: { typ: string } }', "property 'typ' is not", '/additionalProperties/typ'],
  ['{ anyOf: [] }', 'at least one item is expected', '/anyOf'],
  ['{ not: {} }', "'not' is not implemented", '/not'],
  ['{ if: {}, then: {} }', "'if' is not implemented", '/if'],
  ['{ allOf: [{ type: string }, { type: object }] }', `${COMBINED}: a value cannot be of type string and`],
  ['{ type: string, anyOf: [{ type: object }] }', `${COMBINED}: a value cannot be of type object and`],
  ['{ enum: [a, b], minLength: 2 }', `${COMBINED}: none of "a", "b" is possible`],
  ['{ allOf: [{ additionalProperties: false }, { required: [a] }] }', `${COMBINED}: 'a' is required and not allowed`],
  ['{ type: string, allOf: [{ pattern: a }, { pattern: b }] }', `${COMBINED}: one value of 'pattern' is`],
  ["{ $ref: '#/components/schemas/Nobody' }", "'#/components/schemas/Nobody' does not exist", '/$ref'],
  ["{ $ref: 'b.yaml#/B' }", "only references into this document are implemented, not 'b.yaml#/B'", '/$ref'],
  ['text', 'a map is expected'],
  ['false', 'the schema false, which no value matches, is not implemented; leave it out'],
])('%s is refused: %s', async (yaml, problem, at = '') => {
  await expect(schemaOf(yaml)).rejects.toThrow(`#/components/schemas/Field${at}: ${problem}`);
});

/** The schema of a component among others that it can refer to. */
async function schemaOf(yaml: string): Promise<Schema> {
  const field = parse(yaml);
  const { schemas } = await contractOf(stressWith('components schemas Field', field, 'components schemas Other', {}));
  return schemas.get('Field')!;
}
