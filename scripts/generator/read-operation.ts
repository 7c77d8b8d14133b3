import { definedOf } from '../../src/json.ts';
import type { ErrorResponseSpec } from '../../src/operation.ts';
import type { Operation, Parameter, Property, Query, Schema, Schemas } from './contract.ts';
import { freeName, isTakenOperationId, methodName, pascalCase } from './names.ts';
import { examplesOf, parameterNodes, readParameters, resolve, SCALAR } from './read-parameter.ts';
import { readSchema } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Reads the operation of a path; `item` is what the document has for the path. */
export function readOperation(path: string, item: SpecNode): Operation {
  const node = item.get('get');
  node.refuseKeys(['requestBody'], 'a GET has no body');
  node.refuseKeys(['servers'], 'the client sends all requests to the base URL of its user');
  node.noteKeys(['callbacks'], NOT_RECEIVED);
  const id = readId(node) ?? 'operation';
  const query = readQuery(id, path, item);
  const responses = node.get('responses');
  const served = ['200', '2XX', '2xx'].find((status) => responses.has(status)) ?? '200';
  const errors = responses.entries().filter(([status]) => status !== served && !status.startsWith('x-'));
  const success = responses.get(served).replaced();
  const consumesQuota = node.find('x-consumes-quota')?.boolean() ?? true;
  const text = (key: string) => (node.find(key) ?? item.find(key))?.prose();
  const description = text('description') ?? '';
  return {
    id,
    path,
    summary: text('summary') || /^.+?(?=\.?$|(?<!\b\p{L})\.\s)/mu.exec(description)?.[0] || id,
    description,
    isDeprecated: node.isTrue('deprecated'),
    query,
    consumesQuota,
    worksWhenQuotaExhausted: node.find('x-works-when-quota-exhausted')?.boolean() ?? !consumesQuota,
    ...readSuccess(id, success),
    node: success,
    errors: errors.map(([status, response]) => readError(status, response)),
  };
}

export const NOT_RECEIVED = 'the client sends requests and receives none';

function readId(node: SpecNode): string | undefined {
  const { ids } = node.document;
  const given = node.get('operationId');
  const id = methodName(given.string());
  if (id === undefined)
    return given.refuse(`'${given.value}' cannot be the name of a method, which has letters and digits of ASCII`);
  if (isTakenOperationId(id)) given.refuse(`'${id}' is the name of a command or of a member of the client already`);
  if (ids.has(id)) given.refuse(`the operationId '${id}' is taken`);
  ids.add(id);
  return id;
}

function readQuery(id: string, path: string, item: SpecNode): Query {
  const { schemas } = item.document;
  const node = item.get('get');
  const freeForm = node.find('x-free-form-query');
  const nodes = parameterNodes(item, node);
  const parameters = readParameters(nodes, schemas);
  refuseOtherPlaceholders(path, item, nodes);
  if (id === 'quota') refuseRequired(parameters);
  const name = freeName(`${pascalCase(id)}Query`, (candidate) => schemas.has(candidate));
  if (freeForm !== undefined) {
    if (parameters.length > 0) freeForm.refuse('an operation with x-free-form-query has no other parameters');
    schemas.set(name, { kind: 'object', properties: [], rest: ANY_PARAMETER, description: freeForm.prose() });
    return { kind: 'free-form', schema: name };
  }
  return parameters.length === 0 ? { kind: 'none' } : { kind: 'named', schema: name, parameters };
}

function refuseRequired(parameters: readonly Parameter[]): void {
  for (const { name, node, required } of parameters)
    if (required) node.refuse(`'${name}' is required, but the client itself calls quota() without parameters`);
}

const ANY_PARAMETER: Schema = { kind: 'any', members: [...SCALAR.members, { kind: 'array', items: SCALAR }] };

function refuseOtherPlaceholders(path: string, item: SpecNode, parameters: readonly SpecNode[]): void {
  const names = parameters
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

function readSuccess(id: string, node: SpecNode): Pick<Operation, 'response' | 'data' | 'example'> {
  const media = readMedia(node);
  if (media === undefined) {
    if (node.isClean) node.refuse("'content' is missing: every response of the service is the envelope");
    return { response: '', data: '', example: undefined };
  }
  const { schemas } = node.document;
  const name = (suffix: string) => freeName(pascalCase(id) + suffix, (taken) => schemas.has(taken));
  const schema = media.get('schema');
  const response = named(readSchema(schema), name('Response'), schemas);
  const whole: Schema = { kind: 'reference', name: response };
  const data = propertyOf(resolve(whole, schemas), 'data');
  if (schema.resolved().isClean) refuseOtherEnvelope(schema, whole);
  return {
    response,
    data: data === undefined ? '' : nameData(data.schema, name('Data'), response, schemas),
    example: readExample(media, whole),
  };
}

function refuseOtherEnvelope(node: SpecNode, schema: Schema): void {
  const { schemas } = node.document;
  const target = resolve(schema, schemas);
  if (!propertyOf(target, 'data')?.isRequired) {
    node.refuse("the response is not the envelope of the service: an object whose required 'data' is the payload");
  }
  const success = propertyOf(target, 'success')?.schema ?? (target.kind === 'object' ? target.rest : undefined);
  if (success === undefined || !canBeTrue(success, schemas)) {
    node.refuse('the envelope of a success has success: true, which this schema does not allow');
  }
}

function canBeTrue(schema: Schema, schemas: Schemas): boolean {
  const target = resolve(schema, schemas);
  if ('members' in target) return target.members.some((member) => canBeTrue(member, schemas));
  if (target.kind === 'literals') return target.values.includes(true);
  return target.kind === 'boolean' || target.kind === 'unknown';
}

/** Type of `data`. A schema inside the response gets a name, by which the response then refers to it. */
function nameData(schema: Schema, name: string, response: string, schemas: Map<string, Schema>): string {
  const whole = schemas.get(response);
  if (schema.kind !== 'reference' && whole?.kind === 'object') {
    const { description } = schema;
    const reference = definedOf({ kind: 'reference' as const, name, description });
    const properties = whole.properties.map((one) => (one.name === 'data' ? { ...one, schema: reference } : one));
    schemas.set(response, { ...whole, properties });
  }
  return named(schema, name, schemas);
}

/** Type of a schema. A schema inside an operation gets a name. */
function named(schema: Schema, name: string, schemas: Map<string, Schema>): string {
  if (schema.kind === 'reference') return schema.name;
  schemas.set(name, schema);
  return name;
}

function propertyOf(schema: Schema, name: string): Property | undefined {
  return schema.kind === 'object' ? schema.properties.find((property) => property.name === name) : undefined;
}

function readError(status: string, response: SpecNode): ErrorResponseSpec {
  const code = /^([345]\d\d|[45]XX|default)$/i.exec(status)?.[0].replace(/xx$/i, 'XX');
  if (/^2/.test(status)) response.refuse('one response of success is implemented, 200 or 2XX');
  else if (code === undefined)
    response.refuse(`unknown status '${status}'; known: 200 or 2XX, 300 to 599, 4XX, 5XX, default`);
  const node = response.replaced();
  const media = readMedia(node);
  const schema = media?.get('schema');
  if (response.isClean && schema?.find('$ref')?.value !== '#/components/schemas/ErrorResponse') {
    schema?.refuse("the response is not the envelope of the service: every error is an 'ErrorResponse'");
  }
  schema?.resolved();
  return {
    status: /^\d+$/.test(status) ? Number(status) : (code as 'default'),
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
  if (type !== undefined) return content.get(type);
  return content.refuse(`unknown media type '${types.join("', '")}'; known: application/json`);
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
