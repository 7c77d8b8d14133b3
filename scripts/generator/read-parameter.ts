import { isDeepStrictEqual } from 'node:util';
import type { ScalarType } from '../../src/operation.ts';
import type { Parameter, Scalar, Schema, Schemas } from './contract.ts';
import { INHERITED_NAMES } from './names.ts';
import { givenValues, optional, readSchema, UNREADABLE } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

/** The parameters of an operation, and those of its path that it does not replace. */
export function readParameters(path: SpecNode, operation: SpecNode, schemas: Schemas): Parameter[] {
  const nodes = parameterNodes(path, operation).filter((node) => !isSkipped(node));
  const parameters = nodes.flatMap((node) => node.attempt(() => readParameter(node, schemas)) ?? []);
  for (const [index, { name, node }] of parameters.entries()) {
    const isTaken = parameters.findIndex((other) => other.name === name) !== index;
    if (isTaken) node.refuse(`the parameter '${name}' stands twice; path and query are one object for the caller`);
  }
  return parameters;
}

/** A parameter of an operation replaces the one of its path with the same place and name. */
export function parameterNodes(path: SpecNode, operation: SpecNode): readonly SpecNode[] {
  const [shared = [], own = []] = [path, operation].map((owner) =>
    owner.itemsAt('parameters').flatMap((item) => item.attempt(() => item.resolved()) ?? []),
  );
  const keyOf = (node: SpecNode) => `${node.at(['in']).value} ${node.at(['name']).value}`;
  return [...shared.filter((node) => !own.some((other) => keyOf(other) === keyOf(node))), ...own];
}

/** A caller can send optional headers with the option `headers` of the call. */
function isSkipped(node: SpecNode): boolean {
  const place = node.at(['in']).value;
  const name = String(node.at(['name']).value);
  const isOfClient = place === 'header' && /^(accept|authorization|content-type)$/i.test(name); // as in OpenAPI
  if (isOfClient) return true;
  if ((place !== 'header' && place !== 'cookie') || node.at(['required']).value === true) return false;
  const header = place === 'cookie' ? 'Cookie' : name;
  node.note(
    `the optional ${place} parameter is skipped; a call can send it with its option headers: { '${header}': … }`,
  );
  return true;
}

function readParameter(node: SpecNode, schemas: Schemas): Parameter {
  const place = node.get('in').oneOf('place of a required parameter', ['query', 'path']);
  node.refuseKeys(['content'], "write 'schema'");
  const name = readName(node.get('name'));
  const required = node.isTrue('required');
  if (place === 'path' && !required) node.refuse('a parameter of the path is required: true');
  const schemaNode = node.get('schema');
  const read = readSchema(schemaNode);
  if (resolve(read, schemas) === UNREADABLE) node.abandon();
  const schema = sendable(read, schemas);
  const annotation = (key: string) => schemaNode.find(key) ?? schemaNode.resolved().find(key);
  const array = resolve(schema, schemas);
  const item = array.kind === 'array' ? array.items : schema;
  const values = scalarValues(item, schemas) ?? schemaNode.fail(UNWRITABLE);
  const { choices } = values;
  refuseAmbiguous(choices, schemaNode);
  return {
    name,
    in: place,
    description: (node.find('description') ?? annotation('description'))?.prose() ?? '',
    required,
    ...optional('deprecated', node.isTrue('deprecated') || schema.isDeprecated || undefined),
    type: helpType(item, values, schemas),
    types: values.types,
    ...optional('choices', choices?.length ? choices : undefined),
    ...optional('list', readStyle(node, place, array.kind === 'array')),
    ...optional('default', annotation('default')?.value ?? undefined),
    examples: readExamples(node, schema),
    example: undefined, // `withExamples` finds one
    node,
    schema,
  };
}

/** The schema of the values that a URL can contain. */
function sendable(schema: Schema, schemas: Schemas): Schema {
  const target = resolve(schema, schemas);
  const values = sendableValues(target, schemas);
  if (isDeepStrictEqual(values, target)) return schema;
  const { description, example, isDeprecated } = { ...target, ...schema };
  return {
    ...values,
    ...optional('description', description),
    ...optional('example', example ?? undefined),
    ...optional('isDeprecated', isDeprecated),
  };
}

/** Null is sent as no parameter. Integers of 64 bits may be texts: a double holds only those up to 2^53. */
function sendableValues(target: Schema, schemas: Schemas): Schema {
  if (target.kind === 'unknown') return { kind: 'any', members: SCALARS };
  if (target.kind === 'number') return target.isLong ? { kind: 'digits', number: target } : target;
  if (target.kind === 'array') return { ...target, items: sendable(target.items, schemas) };
  if (target.kind === 'literals') return { ...target, values: target.values.filter((value) => value !== null) };
  if (!('members' in target)) return target;
  const members = target.members.map((member) => sendable(member, schemas)).filter(({ kind }) => kind !== 'null');
  const [first] = members;
  return first !== undefined && members.length === 1 ? first : { ...target, members };
}

/** The schemas of a value of which nothing is known. */
export const SCALARS: readonly Schema[] = [
  { kind: 'string' },
  { kind: 'number', isInteger: false },
  { kind: 'boolean' },
];

/** The examples of a parameter and of its schema. Those of the schema are checked with it. */
function readExamples(node: SpecNode, schema: Schema): readonly SpecNode[] {
  const own = examplesOf(node);
  for (const example of own) node.document.examples.push({ schema, node: example });
  const [schemaNode, target] = [node.get('schema'), node.get('schema').resolved()];
  return [...own, ...givenValues(schemaNode), ...(schemaNode.has('$ref') ? givenValues(target) : [])];
}

/** The named examples and the single one of a parameter or a media type. */
export function examplesOf(node: SpecNode): readonly SpecNode[] {
  const named = node.entriesAt('examples').map(([, example]) => {
    return example.resolved().get('value');
  });
  return [...named, node.find('example')].filter((example) => example !== undefined);
}

const UNWRITABLE =
  'a parameter is text, a number, true or false, or a list of those; for any parameters, the operation has x-free-form-query';

function readName(node: SpecNode): string {
  const name = node.string();
  if (name === '' || /[\p{Cc}\p{Cs}=]|^[?\s]|\s$/u.test(name))
    node.refuse("a name without control characters, '=', leading '?' and outer white space is expected");
  if (INHERITED_NAMES.includes(name)) node.refuse(`every object has '${name}'; a parameter cannot have this name`);
  if (/^api[-_ ]?key$/i.test(name)) node.refuse(`'${name}' is the API key, which belongs to securitySchemes`);
  return name;
}

/** How a list is written: `a=1&a=2` or `a=1,2`. */
function readStyle(node: SpecNode, place: 'path' | 'query', isList: boolean): 'comma' | 'repeated' | undefined {
  const style = place === 'query' ? 'form' : 'simple';
  node.find('style')?.oneOf(`style of a parameter in the ${place}`, [style]);
  const isExploded = node.find('explode')?.boolean() ?? place === 'query';
  if (!isList) return undefined;
  return place === 'query' && isExploded ? 'repeated' : 'comma';
}

interface ScalarValues {
  readonly types: readonly ScalarType[];
  /** `undefined` if there are too many to list. */
  readonly choices: readonly Exclude<Scalar, null>[] | undefined;
}

/** The types and choices of one value; `undefined` if it cannot be written as one text. */
function scalarValues(schema: Schema, schemas: Schemas): ScalarValues | undefined {
  const target = resolve(schema, schemas);
  switch (target.kind) {
    case 'string':
    case 'boolean':
      return { types: [target.kind], choices: undefined };
    case 'digits':
      return { types: ['int64'], choices: undefined };
    case 'number':
      return { types: [target.isInteger ? 'integer' : 'number'], choices: undefined };
    case 'literals': {
      const choices = target.values.filter((value) => value !== null); // `sendable` has removed it
      return choices.length === 0 ? undefined : { types: [...new Set(choices.map(typeOf))], choices };
    }
    case 'any':
    case 'one':
      return union(target.members.map((member) => scalarValues(member, schemas)));
    default:
      return undefined;
  }
}

function union(members: readonly (ScalarValues | undefined)[]): ScalarValues | undefined {
  const known = members.filter((member) => member !== undefined);
  if (known.length < members.length || known.length === 0) return undefined;
  const isListed = known.every(({ choices }) => choices !== undefined);
  return {
    types: [...new Set(known.flatMap(({ types }) => types))],
    choices: isListed ? [...new Set(known.flatMap(({ choices = [] }) => choices))] : undefined,
  };
}

function typeOf(value: Scalar): ScalarType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

/** `1` and `"1"` are identical in a URL. */
function refuseAmbiguous(choices: readonly Scalar[] = [], node: SpecNode): void {
  const texts = choices.map(String);
  if (new Set(texts).size < texts.length) node.refuse('two values of the enum are written alike in a URL');
}

function helpType(item: Schema, { types, choices }: ScalarValues, schemas: Schemas): string {
  if (choices !== undefined) return choices.join('|');
  const target = resolve(item, schemas);
  return target.kind === 'string' && target.format !== undefined ? target.format : types.join('|');
}

/** Follows references to a schema; returns `unknown` if that schema was rejected. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.kind === 'reference' ? resolve(schemas.get(schema.name) ?? { kind: 'unknown' }, schemas) : schema;
}
