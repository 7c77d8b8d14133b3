import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseDocument, type YAMLMap } from 'yaml';
import type { Parameter, Query, Schema } from '../../scripts/generator/contract.ts';
import { contractOf } from '../../scripts/generator/generate-files.ts';
import { isTakenOperationId } from '../../scripts/generator/names.ts';
import { readSchema } from '../../scripts/generator/read-schema.ts';
import { readDocument } from '../../scripts/generator/spec-node.ts';
import { createProgram } from '../../src/cli/program/program.ts';
import { FxRates } from '../../src/client/index.ts';
import { operations } from '../../src/generated/operations.ts';

const stress = await readFile(join(import.meta.dirname, '../fixtures/stress.openapi.yaml'), 'utf8');

const PATH = 'paths /api/v1/closed';
const GET = `${PATH} get`;
const OK = `${GET} responses 200`;
const JSON_OK = `${OK} content application/json`;
const CLOSED = { $ref: '#/components/schemas/Closed' };
const RESPONSE = '#/components/schemas/ClosedResponse';

test('an operation has its facts, and its parameters have their types for help', () => {
  const [closed] = contractOf(parseDocument(stress).toJS()).operations;

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

test('an operation with x-free-form-query accepts any parameters', () => {
  const contract = contractOf(stressWith(`${GET} parameters`, undefined, `${GET} x-free-form-query`, 'Any.'));

  expect(contract.operations[0]?.query).toEqual({ kind: 'free-form', schema: 'ClosedQuery' });
  expect(contract.schemas.get('ClosedQuery')).toMatchObject({ kind: 'object', properties: [], description: 'Any.' });
});

test('parameters of the path and of the query are one object; those of the path item count, too', () => {
  const document = stressDocument();
  const item = document.getIn(['paths', '/api/v1/closed']) as YAMLMap;
  document.setIn(['paths', '/api/v1/closed/{day}'], item);
  document.deleteIn(['paths', '/api/v1/closed']);
  item.set(
    'parameters',
    document.createNode([
      { name: 'day', in: 'path', required: true, schema: { $ref: '#/components/schemas/Day' } },
      { name: 'places', in: 'query', schema: { type: 'string' } },
    ]),
  );

  const [closed] = contractOf(document.toJS()).operations;

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

test.each<[object, Partial<Parameter>]>([
  [{ schema: { type: 'array', items: { type: 'string' } } }, { list: 'repeated', types: ['string'] }],
  [
    { explode: false, schema: { type: 'array', items: { type: 'integer' } } },
    { list: 'comma', types: ['integer'] },
  ],
  [{ schema: { enum: [1, 'two', true] } }, { choices: [1, 'two', true], types: ['integer', 'string', 'boolean'] }],
  [{ schema: { type: ['string', 'number'] } }, { types: ['string', 'number'], type: 'string|number' }],
  [{ schema: { type: 'string', default: 'EUR' } }, { default: 'EUR' }],
  [{ schema: { type: 'string' }, deprecated: true }, { deprecated: true }],
  [{ schema: { type: 'integer', minimum: 5 }, examples: { a: { value: 6 } } }, { example: 6 }],
  [{ schema: { $ref: '#/components/schemas/Code', description: 'Own.' }, example: 'EUR' }, { description: 'Own.' }],
  [{ schema: { type: 'string', description: 'Of the schema.' } }, { description: 'Of the schema.' }],
])('the parameter %j is %j', (parameter, facts) => {
  const contract = contractOf(stressWith(`${GET} parameters`, [{ name: 'a', in: 'query', ...parameter }]));

  const { parameters } = contract.operations[0]!.query as Query & { kind: 'named' };
  expect(parameters[0]).toMatchObject(facts);
});

test.each([
  ['closed-rates', 'closedRates'],
  ['GetClosed', 'getClosed'],
  ['get_closed', 'getClosed'],
])('the operationId %s is the method %s', (operationId, id) => {
  expect(contractOf(stressWith(`${GET} operationId`, operationId)).operations[0]?.id).toBe(id);
});

test('a schema inside an operation gets types of its own', () => {
  const schema = {
    type: 'object',
    required: ['success', 'data'],
    properties: { success: { const: true }, data: { type: 'array' } },
  };
  const [closed] = contractOf(stressWith(`${JSON_OK} schema`, schema, `${JSON_OK} examples`, undefined)).operations;

  expect(closed).toMatchObject({ response: 'ClosedResponse2', data: 'ClosedData', example: { data: [{}] } });
});

test('a media type may have parameters', () => {
  const content = { 'text/plain': {}, 'application/json; charset=utf-8': { schema: { $ref: RESPONSE } } };

  expect(contractOf(stressWith(`${OK} content`, content)).operations[0]?.response).toBe('ClosedResponse');
});

test('names of components become names of types', () => {
  const contract = contractOf(stressWith('components schemas latest-rates.v1', { type: 'string' }));

  expect([...contract.schemas.keys()]).toContain('LatestRatesV1');
});

test('an operation cannot have the name of a command or of a client member', () => {
  const members = [...Object.getOwnPropertyNames(FxRates.prototype), 'request'].filter((name) => !(name in operations));
  const program = createProgram();
  const commands = program.commands.map((command) => command.name()).filter((name) => !(name in operations));

  expect([...commands, ...members].filter((name) => !isTakenOperationId(name))).toEqual([]);
});

test('a free operation works when the quota is exhausted, unless the spec says otherwise', () => {
  const free = contractOf(stressWith(`${GET} x-consumes-quota`, false)).operations[0];

  expect(free).toMatchObject({ consumesQuota: false, worksWhenQuotaExhausted: true });
});

test.each([
  ['openapi', undefined, "#: this is not an OpenAPI document: 'openapi' is missing"],
  ['openapi', '3.0.3', "#/openapi: OpenAPI 3.1 is expected, not '3.0.3'"],
  ['servers', [{ url: 'https://x.test/v1' }], '#/servers/0/url: a URL without path and variables is expected'],
  ['servers', [{ url: '{base}' }], '#/servers/0/url: a URL without path and variables is expected'],
  ['security', [], '#/security: the client sends its key with every request'],
  ['security', undefined, '#: the client sends its key with every request'],
  ['security', [{ cookieKey: [] }], "#/security/0: the client does not send its key as 'apiKey cookie key'"],
  ['security', [{ bearerKey: [], cookieKey: [] }], '#/security/0: exactly one scheme is expected'],
  ['security', [{ bearer: [] }], "#/security/0: 'bearer' is not one of the securitySchemes"],
  ['x-plans free rateLimitPerMinute', 'thirty', '#/x-plans/free/rateLimitPerMinute: a number is expected'],
  ['x-plans free limit', 3, "#/x-plans/free: unknown key of a plan 'limit'"],
  ['x-not-shown host', ['a'], '#/x-not-shown/host: text is expected'],
  ['x-api-key pattern', '[', '#/x-api-key/pattern: SyntaxError'],
  ['components schemas ErrorResponse', undefined, "'#/components/schemas/ErrorResponse' does not exist"],
  [`${GET} security`, [], '/get/security: the client sends its key with every request'],
  ['x-plan', {}, "#: unknown key 'x-plan'; did you mean 'x-plans'?"],
  ['components schema', {}, "#/components: unknown kind of component 'schema'; did you mean 'schemas'?"],
  ['components schemas 1st', {}, "#/components/schemas/1st: '1st' cannot be the name of a type"],
  ['components schemas Object', {}, "#/components/schemas/Object: 'Object' cannot be the name of a type"],
  ['components schemas closed', {}, "#/components/schemas/closed: two components have the type name 'Closed'"],
  [
    'components schemas Own',
    { $ref: '#/components/schemas/Own' },
    "#/components/schemas/Own/$ref: '#/components/schemas/Own' refers to itself",
  ],
  ['components schemas Own', { anyOf: [{ $ref: '#/components/schemas/Own' }, {}] }, "'Own' refers to itself"],
  ['paths closed', {}, "#/paths/closed: a path begins with '/'"],
  ['paths //evil.test', {}, "#/paths///evil.test: a path begins with '/'"],
  ['paths /a/../b', {}, "#/paths//a/../b: a path begins with '/'"],
  ['paths /a?b=c', {}, "#/paths//a?b=c: a path begins with '/'"],
  ['paths /ä', {}, "#/paths//ä: a path begins with '/'"],
  ['paths /{a', {}, "#/paths//{a: a path begins with '/'"],
  ['paths /{a}{b}', {}, "#/paths//{a}{b}: a path begins with '/'"],
  ['paths /{a}', { get: {} }, '#/paths//{a}: the path has {a}, but no parameter in: path has this name'],
  [`${PATH} post`, {}, "#/paths//api/v1/closed: unknown method or key of a path 'post'; only GET is implemented"],
  [`${GET} operationId`, undefined, "/get: 'operationId' is missing"],
  [`${GET} operationId`, '€', "/get/operationId: '€' cannot be the name of a method"],
  [`${GET} operationId`, 'then', "/get/operationId: 'then' is the name of a command or of a member of the client"],
  [`${GET} operationId`, 'mock', "/get/operationId: 'mock' is the name of a command or of a member of the client"],
  [`${GET} operationId`, 'toString', "/get/operationId: 'toString' is the name of a command or of a member"],
  [`${GET} x-consumes-qouta`, true, "unknown key of an operation 'x-consumes-qouta'; did you mean 'x-consumes-quota'?"],
  [`${GET} x-consumes-quota`, 'yes', '/get/x-consumes-quota: true or false is expected'],
  [`${GET} requestBody`, {}, "/get: unknown key of an operation 'requestBody'"],
  [`${GET} x-free-form-query`, 'Any.', '/get/x-free-form-query: an operation with x-free-form-query has no other'],
  [`${GET} parameters 0 in`, 'header', '/parameters/0/in: unknown place of a parameter "header"; known: query, path'],
  [`${GET} parameters 0 in`, 'path', "the parameter 'from-date' is in: path, but the path has no {from-date}"],
  [`${GET} parameters 0 schema`, { type: 'object' }, '/parameters/0/schema: a parameter is text, a number'],
  [`${GET} parameters 0 schema`, { type: 'array' }, '/parameters/0/schema: a parameter is text, a number'],
  [`${GET} parameters 0 schema`, { type: ['string', 'null'] }, '/parameters/0/schema: a parameter is text, a number'],
  [`${GET} parameters 0 schema`, { enum: [1, '1'] }, '/parameters/0/schema: two values of the enum are written alike'],
  [
    `${GET} parameters 0 schema`,
    { type: 'number', minimum: 2, maximum: 1 },
    '/parameters/0: no valid value can be made',
  ],
  [`${GET} parameters 0 style`, 'deepObject', '/parameters/0/style: unknown style of a parameter in the query'],
  [`${GET} parameters 2 example`, 9, "/parameters/2/example: 9 is not valid for 'places': Too big"],
  [`${GET} parameters 4 schema default`, 'up', `/schema/default: "up" is not valid for 'order': Invalid option`],
  [`${GET} parameters 0 content`, {}, "/parameters/0: unknown key of a parameter 'content'"],
  [`${GET} parameters 0 name`, 'api_key', "/parameters/0/name: 'api_key' is the API key"],
  [`${GET} parameters 0 name`, 'toString', "/parameters/0/name: every object has 'toString'"],
  [`${GET} parameters 0 name`, '', "/parameters/0/name: a name without control characters, '='"],
  [`${GET} parameters 0 name`, 'a ', "/parameters/0/name: a name without control characters, '='"],
  [`${GET} parameters 1 name`, 'from-date', "/parameters/1: the parameter 'from-date' stands twice"],
  [OK, undefined, "/get/responses: '200' is missing"],
  [`${OK} content`, undefined, "/responses/200: 'content' is missing: every response of the service is the envelope"],
  [`${GET} responses 204`, { description: '' }, "/responses/204: unknown status '204'"],
  [`${OK} content`, { 'text/csv': {} }, "/responses/200/content: unknown media type 'text/csv'"],
  [
    `${JSON_OK} examples one value data count`,
    'x',
    '/examples/one/value: the example is not a valid ClosedResponse: data.count',
  ],
  [`${JSON_OK} schema`, CLOSED, '/schema: the response is not the envelope of the service'],
  [`${GET} responses 503 content application/json schema`, CLOSED, "every error is an 'ErrorResponse'"],
])('%s: %j is refused: %s', (place, value, problem) => {
  expect(() => contractOf(stressWith(place, value))).toThrow(problem);
});

test('a parameter whose type refers only to itself is rejected', () => {
  const own = { $ref: '#/components/schemas/Own' };
  const document = stressWith('components schemas Own', { anyOf: [own, {}] }, `${GET} parameters 0 schema`, own);

  expect(() => contractOf(document)).toThrow("#/components/schemas/Own: 'Own' refers to itself");
});

test('a response without an example needs a schema from which one can be made', () => {
  const loop = { type: 'object', required: ['next'], properties: { next: { $ref: '#/components/schemas/Loop' } } };
  const data = 'components schemas ClosedResponse properties data';
  const change = ['components schemas Loop', loop, data, { $ref: '#/components/schemas/Loop' }];

  expect(() => contractOf(stressWith(...change, `${JSON_OK} examples`, undefined))).toThrow(
    'no response can be generated from the schema (a value would contain itself)',
  );
});

const FIELD = ['components schemas ClosedResponse properties data', `${JSON_OK} examples`] as const;

function withoutExample(field: unknown): Record<string, unknown> {
  const data = { type: 'object', required: ['field'], properties: { field } };
  return stressWith(FIELD[0], data, FIELD[1], undefined);
}

test.each([
  { type: 'string', pattern: '^[A-Z]{3}$' },
  { type: 'string', minLength: 1e9 },
  { type: 'array', items: { type: 'string' }, minItems: 1e9 },
  { type: 'string', example: 5 },
])('a response without an example for %j needs one', (field) => {
  expect(() => contractOf(withoutExample(field))).toThrow(
    /#\/paths.*\/responses\/200: no response can be generated from the schema \(.*\); give an example$/,
  );
});

test('a response without an example uses the example of a field', () => {
  const field = { type: 'string', pattern: '^[A-Z]{3}$', example: 'EUR' };

  expect(contractOf(withoutExample(field)).operations[0]?.example).toMatchObject({ data: { field: 'EUR' } });
});

test('a response without an example has three entries of a map', () => {
  const rates = { type: 'object', additionalProperties: { type: 'number' } };
  const change = ['components schemas ClosedResponse properties data', rates, `${JSON_OK} examples`, undefined];

  const [closed] = contractOf(stressWith(...change)).operations;

  expect(Object.keys(Object(closed?.example).data)).toEqual(['EUR', 'GBP', 'USD']);
});

test('an empty list is no example of a parameter, because a URL cannot contain it', () => {
  const list = { type: 'array', items: { enum: ['a', 'b'] }, examples: [[], ['b']] };

  const [closed] = contractOf(stressWith(`${GET} parameters 0 schema`, list)).operations;

  expect(closed).toHaveProperty('query.parameters.0.example', ['b']);
});

test('one run reports the problems of all parts of a document', () => {
  const document = stressWith(
    `${GET} requestBody`,
    {},
    `${GET} parameters 1 in`,
    'cookie',
    'components schemas Day type',
    'text',
  );

  expect(() => contractOf(document)).toThrow(
    [
      '#/components/schemas/Day/type: unknown type "text"; known: string, integer, number, boolean, null, array, object',
      "#/paths//api/v1/closed/get: unknown key of an operation 'requestBody'; only GET is implemented",
    ].join('\n'),
  );
  expect(() => contractOf(document)).toThrow('/parameters/1/in: unknown place of a parameter "cookie"');
});

test('without components and extensions, the other problems are reported, too', () => {
  const changes = ['components', undefined, 'x-plans', undefined, 'x-api-key', undefined, `${GET} requestBody`, {}];

  const refused = () => contractOf(stressWith(...changes));

  expect(refused).toThrow("#: 'components' is missing");
  expect(refused).toThrow("#: 'x-plans' is missing");
  expect(refused).toThrow("#: 'x-api-key' is missing");
  expect(refused).toThrow("unknown key of an operation 'requestBody'");
});

function stressDocument() {
  return parseDocument(stress);
}

/** The stress spec with some values set, or removed with `undefined`. */
function stressWith(...changes: readonly unknown[]): Record<string, unknown> {
  const document = stressDocument();
  for (let index = 0; index < changes.length; index += 2) {
    const path = String(changes[index])
      .split(' ')
      .map((key) => (/^\d$/.test(key) ? Number(key) : key));
    if (changes[index + 1] === undefined) document.deleteIn(path);
    else document.setIn(path, document.createNode(changes[index + 1]));
  }
  return document.toJS();
}

test.each([
  ['{ type: string, title: A, description: B, default: a, deprecated: true, example: b }'],
  [
    '{ type: string, examples: [b], readOnly: true, writeOnly: false, externalDocs: { url: x }, $comment: c, x-order: 1 }',
  ],
  ['{ type: string, format: uuid }'],
  ['{ type: integer, format: int64 }'],
  ['{ type: number, format: double }'],
])('%s: annotations and unknown formats are ignored', (yaml) => {
  expect(['string', 'number']).toContain(schemaOf(yaml).kind);
});

test.each([
  ['{ type: string, maxLenght: 3 }', "unknown keyword 'maxLenght'; did you mean 'maxLength'?"],
  [
    '{ type: string, x-extensible-enums: [a] }',
    "unknown keyword 'x-extensible-enums'; did you mean 'x-extensible-enum'?",
  ],
  ['{ type: string, x-consumes-quota: true }', "unknown keyword 'x-consumes-quota'; known here: type, minLength"],
  ['{ type: string, x-extensible-enum: [1] }', 'text is expected', '/x-extensible-enum/0'],
  ['{ type: string, minimum: 3 }', "unknown keyword 'minimum'"],
  ['{ type: string, minLength: "3" }', 'a number is expected', '/minLength'],
  ['{ type: string, format: datetime }', "unknown format 'datetime'; did you mean 'date-time'?", '/format'],
  ['{ type: string, pattern: "(" }', 'SyntaxError: Invalid regular expression', '/pattern'],
  ['{ type: strong }', 'unknown type "strong"; known: string, integer,', '/type'],
  ['{ type: [] }', 'at least one item is expected', '/type'],
  ['{ type: string, nullable: true }', "unknown keyword 'nullable'; add 'null' to the list 'type'"],
  ['{ const: { a: 1 } }', 'only text, numbers, true, false and null are implemented here', '/const'],
  ['{ type: boolean, const: "true" }', '"true" is not of the type "boolean"', '/const'],
  ['{ type: [string, integer], enum: [a, 1.5] }', '1.5 is not of the type ["string","integer"]', '/enum/1'],
  ['{ enum: [] }', 'at least one item is expected', '/enum'],
  [
    '{ type: object, required: [a], additionalProperties: false }',
    "'a' is required but not among properties",
    '/required/0',
  ],
  ['{ type: object, patternProperties: {} }', "unknown keyword 'patternProperties'"],
  [
    '{ type: object, properties: { a: { type: object, propertees: {} } } }',
    "unknown keyword 'propertees'",
    '/properties/a',
  ],
  ['{ type: object, properties: { a/b~c: { typ: string } } }', "unknown keyword 'typ'", '/properties/a/b~c'],
  ['{ type: object, properties: { __proto__: {} } }', "every object has '__proto__'", '/properties/__proto__'],
  ['{ type: object, required: [toString] }', "every object has 'toString'", '/required/0'],
  ['{ type: object, additionalProperties: { typ: string } }', "unknown keyword 'typ'", '/additionalProperties'],
  ['{ anyOf: [] }', 'at least one item is expected', '/anyOf'],
  ['{ not: {} }', "unknown keyword 'not'"],
  ['{ if: {}, then: {} }', "unknown keyword 'if'"],
  ['{ allOf: [{}] }', "unknown keyword 'allOf'"],
  ['{ type: object, anyOf: [{}] }', "'type' beside 'anyOf' is not implemented"],
  ["{ $ref: '#/components/schemas/Nobody' }", "'#/components/schemas/Nobody' does not exist", '/$ref'],
  [
    "{ $ref: 'other.yaml#/Other' }",
    "only '#/components/schemas/Name' is implemented, not 'other.yaml#/Other'",
    '/$ref',
  ],
  ['text', 'a map is expected'],
  ['false', 'a map is expected'],
])('%s is refused: %s', (yaml, problem, at = '') => {
  expect(() => schemaOf(yaml)).toThrow(`#/components/schemas/Field${at}: ${problem}`);
});

test('one run lists every rejected keyword with its place', () => {
  const yaml =
    '{ type: object, properties: { a: { type: strong }, b: { typ: string }, c: { type: string, minLength: x } } }';

  expect(() => schemaOf(yaml)).toThrow(
    [
      `#/components/schemas/Field/properties/a/type: unknown type "strong"; known: string, integer, number, boolean, null, array, object`,
      `#/components/schemas/Field/properties/b: unknown keyword 'typ'; did you mean 'type'?`,
      `#/components/schemas/Field/properties/c/minLength: a number is expected`,
    ].join('\n'),
  );
});

/** The schema of a component among others that it can refer to. */
function schemaOf(yaml: string): Schema {
  const schemas = { Other: { type: 'object' }, Text: { type: 'string' }, Field: parse(yaml) };
  return readDocument({ components: { schemas } }, (spec) =>
    readSchema(spec.get('components').get('schemas').get('Field')),
  );
}
