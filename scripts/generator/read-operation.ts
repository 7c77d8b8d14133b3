import type { ErrorResponseSpec } from '../../src/operation.ts';
import type { Operation, Property, Query, Schema, Schemas } from './contract.ts';
import { freeName, isTakenOperationId, methodName, pascalCase } from './names.ts';
import { examplesOf, parameterNodes, readParameters, resolve, SCALARS } from './read-parameter.ts';
import { optional, readSchema, UNREADABLE } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

/** State that the operations of a document share while they are read. */
export interface Reading {
  /** Schemas inside operations are added to it. */
  readonly schemas: Map<string, Schema>;
  /** Ids of the operations that were read. */
  readonly ids: Set<string>;
}

/** Reads the operation of a path; `item` is what the document has for the path. */
export function readOperation(path: string, item: SpecNode, reading: Reading): Operation | undefined {
  const node = item.get('get');
  node.refuseKeys(['requestBody'], 'a GET has no body');
  node.refuseKeys(['servers'], 'the client sends all requests to the base URL of its user');
  const id = node.attempt(() => readId(node, reading.ids));
  const consumesQuota = node.attempt(() => node.find('x-consumes-quota')?.boolean()) ?? true;
  const worksWhenExhausted = node.attempt(() => node.find('x-works-when-quota-exhausted')?.boolean());
  const query = node.attempt(() => readQuery(id ?? 'operation', [path, item], reading));
  const responses = node.get('responses');
  const served = ['200', '2XX', '2xx'].find((status) => responses.has(status)) ?? '200';
  const errors = responses.entries().flatMap(([status, response]) => {
    if (status === served || status.startsWith('x-')) return [];
    return response.attempt(() => readError(status, response)) ?? [];
  });
  const success = responses.get(served).resolved();
  const response = readSuccess(id ?? 'operation', success, reading);
  if (id === undefined || query === undefined) return undefined;
  const description = node.find('description')?.prose() ?? '';
  return {
    id,
    path,
    summary: node.find('summary')?.prose() || /^[^\n.]+/.exec(description)?.[0] || id,
    description,
    isDeprecated: node.isTrue('deprecated'),
    query,
    consumesQuota,
    worksWhenQuotaExhausted: worksWhenExhausted ?? !consumesQuota,
    ...response,
    node: success,
    errors,
  };
}

function readId(node: SpecNode, ids: Set<string>): string {
  const given = node.get('operationId');
  const id = methodName(given.string()) ?? given.fail(`'${given.value}' cannot be the name of a method`);
  if (isTakenOperationId(id)) given.fail(`'${id}' is the name of a command or of a member of the client already`);
  if (ids.has(id)) given.fail(`the operationId '${id}' is taken`);
  ids.add(id);
  return id;
}

function readQuery(id: string, [path, item]: readonly [string, SpecNode], { schemas }: Reading): Query {
  const node = item.get('get');
  const freeForm = node.find('x-free-form-query');
  const parameters = readParameters(item, node, schemas);
  refuseOtherPlaceholders(path, item);
  const name = freeName(`${pascalCase(id)}Query`, (candidate) => schemas.has(candidate));
  if (freeForm !== undefined) {
    if (parameters.length > 0) freeForm.refuse('an operation with x-free-form-query has no other parameters');
    schemas.set(name, { kind: 'object', properties: [], rest: ANY_PARAMETER, description: freeForm.prose() });
    return { kind: 'free-form', schema: name };
  }
  return parameters.length === 0 ? { kind: 'none' } : { kind: 'named', schema: name, parameters };
}

const ANY_PARAMETER: Schema = {
  kind: 'any',
  members: [...SCALARS, { kind: 'array', items: { kind: 'any', members: SCALARS } }],
};

function refuseOtherPlaceholders(path: string, item: SpecNode): void {
  const names = parameterNodes(item, item.get('get'))
    .filter((parameter) => parameter.find('in')?.value === 'path')
    .map((parameter) => String(parameter.find('name')?.value));
  const placeholders = Array.from(path.matchAll(/\{([^}]*)\}/g), ([, name = '']) => name);
  for (const [index, name] of placeholders.entries()) {
    if (placeholders.indexOf(name) !== index) item.refuse(`{${name}} stands twice in the path`);
    if (!names.includes(name)) item.refuse(`the path has {${name}}, but no parameter in: path has this name`);
  }
  for (const name of names) {
    if (!placeholders.includes(name)) item.refuse(`the parameter '${name}' is in: path, but the path has no {${name}}`);
  }
}

function readSuccess(id: string, node: SpecNode, reading: Reading): Pick<Operation, 'response' | 'data' | 'example'> {
  const media = readMedia(node) ?? node.fail("'content' is missing: every response of the service is the envelope");
  const name = (suffix: string) => freeName(pascalCase(id) + suffix, (taken) => reading.schemas.has(taken));
  const schema = media.get('schema');
  const response = named(readSchema(schema), name('Response'), reading);
  const whole: Schema = { kind: 'reference', name: response };
  const example = readExample(media, whole);
  const target = resolve(whole, reading.schemas);
  if (target === UNREADABLE) return schema.abandon();
  const [success, data] = ['success', 'data'].map((key) => propertyOf(target, key));
  if (data === undefined || !data.isRequired) {
    return schema.fail(
      "the response is not the envelope of the service: an object whose required 'data' is the payload",
    );
  }
  const allowed = success?.schema ?? (target.kind === 'object' ? target.rest : undefined);
  if (allowed === undefined || !canBeTrue(allowed, reading.schemas)) {
    schema.refuse('the envelope of a success has success: true, which this schema does not allow');
  }
  return { response, data: nameData(data, response, { reading, name: name('Data') }), example };
}

function canBeTrue(schema: Schema, schemas: Schemas): boolean {
  const target = resolve(schema, schemas);
  if ('members' in target) return target.members.some((member) => canBeTrue(member, schemas));
  if (target.kind === 'literals') return target.values.includes(true);
  return target.kind === 'boolean' || target.kind === 'unknown';
}

/** Type of `data`. A schema inside the response gets a name, by which the response then refers to it. */
function nameData(
  { schema }: Property,
  response: string,
  { reading, name }: { readonly reading: Reading; readonly name: string },
): string {
  const whole = reading.schemas.get(response);
  if (schema.kind === 'reference' || whole?.kind !== 'object') return named(schema, name, reading);
  const reference: Schema = { kind: 'reference', name, ...optional('description', schema.description) };
  const properties = whole.properties.map((one) => (one.name === 'data' ? { ...one, schema: reference } : one));
  reading.schemas.set(response, { ...whole, properties });
  return named(schema, name, reading);
}

/** Type of a schema. A schema inside an operation gets a name. */
function named(schema: Schema, name: string, { schemas }: Reading): string {
  if (schema.kind === 'reference') return schema.name;
  schemas.set(name, schema);
  return name;
}

function propertyOf(schema: Schema, name: string): Property | undefined {
  return schema.kind === 'object' ? schema.properties.find((property) => property.name === name) : undefined;
}

function readError(status: string, response: SpecNode): ErrorResponseSpec {
  const code = /^([345]\d\d|[45]XX|default)$/i.exec(status)?.[0].replace(/xx$/i, 'XX');
  if (code === undefined) response.fail(`unknown status '${status}'; known: 200 or 2XX, 300 to 599, 4XX, 5XX, default`);
  const node = response.resolved();
  const media = readMedia(node);
  const schema = media?.get('schema');
  if (schema?.find('$ref')?.value !== '#/components/schemas/ErrorResponse') {
    schema?.refuse("the response is not the envelope of the service: every error is an 'ErrorResponse'");
  }
  schema?.resolved();
  return {
    status: /^\d+$/.test(code) ? Number(code) : (code as 'default'),
    code: node.find('x-error-code')?.string(),
    headers: node.entriesAt('headers').map(([name]) => name),
    example: media && readExample(media, { kind: 'reference', name: 'ErrorResponse' }),
  };
}

/** The JSON media type of a response; `undefined` if the response has no body. */
function readMedia(response: SpecNode): SpecNode | undefined {
  const content = response.find('content');
  const types = content?.keys() ?? [];
  if (content === undefined || types.length === 0) return undefined;
  const type = JSON_TYPES.map((form) => types.find((key) => form.test(key))).find((key) => key !== undefined);
  return content.get(type ?? content.fail(`unknown media type '${types.join("', '")}'; known: application/json`));
}

/** The first one is used before the others. A range of types is what a server declares that names none. */
const JSON_TYPES = [
  /^application\/json\s*(;|$)/i,
  /^(application|text)\/([\w.-]+\+)?json\s*(;|$)|^(application|\*)\/\*$/i,
];

/** Adds the examples of a response to those that are checked; returns the first one. */
function readExample(media: SpecNode, schema: Schema): unknown {
  const nodes = examplesOf(media);
  for (const node of nodes) node.document.examples.push({ schema, node });
  return nodes[0]?.value;
}
