import type { ErrorResponse, Operation, Parameter, Query } from './contract.ts';
import { readSchema } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

const KEYS = ['operationId', 'tags', 'summary', 'description', 'x-consumes-quota', 'x-works-when-quota-exhausted'];

export function readOperation(path: string, node: SpecNode): Operation {
  node.only('key of an operation', ...KEYS, 'parameters', 'responses');
  const id = node.get('operationId').string();
  if (!/^[a-z][A-Za-z0-9]*$/.test(id)) node.get('operationId').fail(`'${id}' cannot be a method name`);
  const consumesQuota = node.get('x-consumes-quota').boolean();
  const parameters = node.itemsAt('parameters').map((parameter) => parameter.resolved());
  const responses = node.get('responses').entries();
  return {
    id,
    path,
    summary: node.get('summary').prose(),
    description: node.find('description')?.prose() ?? '',
    query: readQuery(id, parameters),
    consumesQuota,
    worksWhenQuotaExhausted: node.find('x-works-when-quota-exhausted')?.boolean() ?? !consumesQuota,
    ...readSuccess(node.get('responses').get('200').resolved()),
    errors: responses.filter(([status]) => status !== '200').map(readError),
  };
}

function readQuery(id: string, parameters: readonly SpecNode[]): Query {
  const [first, ...others] = parameters;
  if (first === undefined) return { kind: 'none' };
  if (readSchema(first.get('schema').resolved()).kind === 'object') {
    if (others.length > 0) first.fail('a free-form parameter is the only one of its operation');
    return { kind: 'free-form', schema: readFreeForm(first) };
  }
  const named = parameters.map(readParameter);
  const repeated = named.find(({ name }, index) => named.findIndex((other) => other.name === name) !== index);
  if (repeated) first.fail(`the parameter '${repeated.name}' stands twice`);
  return { kind: 'named', schema: `${id.charAt(0).toUpperCase()}${id.slice(1)}Query`, parameters: named };
}

/** An exploded object: each of its fields is a parameter, and its own name is never sent. */
function readFreeForm(node: SpecNode): string {
  onlyQuery(node, 'style', 'explode');
  node.get('style').oneOf('style of a free-form parameter', ['form']);
  if (!node.get('explode').boolean()) node.get('explode').fail('a free-form parameter is exploded');
  if (node.find('required')?.boolean()) node.get('required').fail('a free-form parameter is never required');
  return componentName(node.get('schema'));
}

function readParameter(node: SpecNode): Parameter {
  onlyQuery(node);
  const schema = readSchema(node.get('schema'));
  return {
    name: node.get('name').string(),
    description: node.get('description').prose(),
    isRequired: node.find('required')?.boolean() ?? false,
    type: parameterType(node.get('schema').resolved()),
    schema,
  };
}

function parameterType(schema: SpecNode): string {
  const choices = schema.itemsAt('enum').map(({ value }) => String(value));
  if (choices.length > 0) return choices.join('|');
  const type = schema.get('type').oneOf('type of a parameter', ['string', 'integer', 'number', 'boolean']);
  return schema.find('format')?.string() ?? type;
}

function onlyQuery(node: SpecNode, ...keys: string[]): void {
  node.only('key of a parameter', 'name', 'in', 'description', 'required', 'schema', ...keys);
  node.get('in').oneOf('place of a parameter', ['query']);
}

function readSuccess(node: SpecNode): Pick<Operation, 'response' | 'data' | 'example'> {
  node.only('key of a response', 'description', 'content');
  const media = readMedia(node);
  const envelope = media.get('schema').resolved();
  return {
    response: componentName(media.get('schema')),
    data: componentName(envelope.get('properties').get('data')),
    example: readExample(media) ?? media.fail('an example is expected: the mock server answers with it'),
  };
}

function readError([status, response]: [string, SpecNode]): ErrorResponse {
  const node = response.resolved().only('key of a response', 'description', 'content', 'headers', 'x-error-code');
  const media = readMedia(node);
  const schema = media.get('schema');
  if (!/^([345]\d\d|default)$/.test(status))
    response.fail(`unknown status '${status}'; known: 200, 300 to 599, default`);
  if (componentName(schema) !== 'ErrorResponse') schema.fail('every error is an ErrorResponse');
  return {
    status: status === 'default' ? status : Number(status),
    code: node.find('x-error-code')?.string(),
    headers: node.entriesAt('headers').map(readHeader),
    example: readExample(media),
  };
}

function readHeader([name, header]: [string, SpecNode]): string {
  header.resolved().only('key of a header', 'description', 'required', 'schema');
  return name;
}

function readMedia(response: SpecNode): SpecNode {
  const media = response.get('content').only('media type', 'application/json').get('application/json');
  return media.only('key of a media type', 'schema', 'examples');
}

/** The first of the named examples. */
function readExample(media: SpecNode): unknown {
  const [first] = media.entriesAt('examples');
  return first?.[1].resolved().only('key of an example', 'summary', 'description', 'value').get('value').value;
}

function componentName(schema: SpecNode): string {
  const read = readSchema(schema);
  return read.kind === 'reference' ? read.name : schema.fail('a $ref to a component schema is expected');
}
