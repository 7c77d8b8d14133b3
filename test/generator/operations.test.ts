import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { readContract } from '../../scripts/generator/read-contract.ts';

const stress = await readFile(join(import.meta.dirname, '../fixtures/stress.openapi.yaml'), 'utf8');

const PATH = 'paths /api/v1/closed';
const GET = `${PATH} get`;
const OK = `${GET} responses 200`;
const JSON_OK = `${OK} content application/json`;
const CLOSED = { $ref: '#/components/schemas/Closed' };
const free = { in: 'query', name: 'query', style: 'form', explode: true, schema: CLOSED };

test('an operation keeps its facts, and its parameters their types for help', () => {
  const [closed] = readContract(parseDocument(stress).toJS()).operations;

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
      { name: 'from-date', type: 'date', isRequired: true },
      { name: 'at', type: 'date-time', isRequired: false },
      { name: 'places', type: 'integer' },
      { name: 'exact', type: 'boolean' },
      { name: 'order', type: 'asc|desc' },
      { name: 'symbol', type: 'string' },
    ],
  });
});

test('an exploded object parameter is a free-form query', () => {
  const { operations } = readContract(stressWith(`${GET} parameters`, [free]));

  expect(operations[0]?.query).toEqual({ kind: 'free-form', schema: 'Closed' });
});

test('an operation that is free works when the quota is exhausted, unless the spec says otherwise', () => {
  const free = readContract(stressWith(`${GET} x-consumes-quota`, false)).operations[0];

  expect(free).toMatchObject({ consumesQuota: false, worksWhenQuotaExhausted: true });
});

test.each([
  ['x-plan', {}, "#: unknown key 'x-plan'"],
  ['components schema', {}, "#/components: unknown kind of component 'schema'"],
  ['components schemas not-a-type', {}, "#/components/schemas/not-a-type: 'not-a-type' cannot be the name of a type"],
  ['components schemas ClosedQuery', {}, '#/components/schemas/ClosedQuery: the query of closed has this name'],
  [`${PATH} post`, {}, "#/paths/~1api~1v1~1closed: unknown method or key of a path 'post'"],
  ['paths /api/v1/rates/{base}', {}, '#/paths/~1api~1v1~1rates~1{base}: parameters in a path are not implemented'],
  [`${GET} operationId`, 'the-rates', "/get/operationId: 'the-rates' cannot be a method name"],
  [`${GET} operationId`, 'request', "/api/v1/closed: the operationId 'request' is taken"],
  [`${GET} x-consumes-qouta`, true, "/get: unknown key of an operation 'x-consumes-qouta'"],
  [`${GET} x-consumes-quota`, 'yes', '/get/x-consumes-quota: true or false is expected'],
  [`${GET} x-consumes-quota`, undefined, "/get: 'x-consumes-quota' is missing"],
  [`${GET} requestBody`, {}, "/get: unknown key of an operation 'requestBody'"],
  [`${GET} parameters 0 in`, 'header', '/parameters/0/in: unknown place of a parameter "header"; known: query'],
  [`${GET} parameters 0 schema`, { type: 'array' }, '/parameters/0/schema/type: unknown type of a parameter "array"'],
  [`${GET} parameters 0 allowReserved`, true, "/parameters/0: unknown key of a parameter 'allowReserved'"],
  [`${GET} parameters 1 name`, 'from-date', "/parameters/0: the parameter 'from-date' stands twice"],
  [`${GET} parameters 0`, free, '/parameters/0: a free-form parameter is the only one of its operation'],
  [`${GET} parameters`, [{ ...free, explode: false }], '/parameters/0/explode: a free-form parameter is exploded'],
  [`${GET} parameters`, [{ ...free, style: 'deepObject' }], '/parameters/0/style: unknown style of a free-form'],
  [`${GET} parameters`, [{ ...free, required: true }], '/parameters/0/required: a free-form parameter is never'],
  [OK, undefined, "/get/responses: '200' is missing"],
  [
    `${GET} responses 204`,
    { $ref: '#/paths/~1api~1v1~1closed/get/responses/default' },
    "/responses/204: unknown status '204'",
  ],
  [`${OK} headers`, {}, "/responses/200: unknown key of a response 'headers'"],
  [`${OK} content text/csv`, {}, "/responses/200/content: unknown media type 'text/csv'"],
  [`${JSON_OK} example`, {}, "/application~1json: unknown key of a media type 'example'"],
  [`${JSON_OK} examples`, undefined, '/application~1json: an example is expected: the mock server answers with it'],
  [`${JSON_OK} schema`, { type: 'object' }, '/application~1json/schema: a $ref to a component schema is expected'],
  [`${JSON_OK} schema`, CLOSED, "#/components/schemas/Closed/properties: 'data' is missing"],
  [`${GET} responses 503 content application/json schema`, CLOSED, '/schema: every error is an ErrorResponse'],
  [
    `${GET} responses 503 headers`,
    { 'Retry-After': { style: 'simple' } },
    "/Retry-After: unknown key of a header 'style'",
  ],
])('%s: %j is refused: %s', (place, value, problem) => {
  expect(() => readContract(stressWith(place, value))).toThrow(problem);
});

/** The stress spec with one value set, or taken out with `undefined`. */
function stressWith(place: string, value: unknown): unknown {
  const document = parseDocument(stress);
  const path = place.split(' ').map((key) => (/^\d$/.test(key) ? Number(key) : key));
  if (value === undefined) document.deleteIn(path);
  else document.setIn(path, document.createNode(value));
  return document.toJS();
}
