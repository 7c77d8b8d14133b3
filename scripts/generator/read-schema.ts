import { nearestName } from '../../src/nearest-name.ts';
import {
  type ObjectSchema,
  type Property,
  type Scalar,
  type Schema,
  STRING_FORMATS,
  type StringFormat,
} from './contract.ts';
import { INHERITED_NAMES, typeName } from './names.ts';
import type { SpecNode } from './spec-node.ts';

/** Reads a JSON Schema (2020-12). Rejects every keyword or combination that the generator does not implement. */
export function readSchema(node: SpecNode): Schema {
  if (node.value === true) return { kind: 'unknown' };
  const read = readKeywords(node);
  const description = (node.find('description') ?? node.find('title'))?.prose();
  return {
    ...read,
    ...optional('description', description || undefined),
    ...optional('isDeprecated', node.isTrue('deprecated') || undefined),
    ...optional('example', exampleOf(node)),
  };
}

/** Keywords that do not affect which values are valid. */
const ANNOTATIONS = [
  ...['title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly', 'example', 'examples', 'externalDocs'],
  ...['$comment', 'xml', 'discriminator', 'contentMediaType', 'contentEncoding'],
];

function readKeywords(node: SpecNode): Schema {
  for (const [keyword, { read, besides }] of Object.entries(WHOLE_KEYWORDS)) {
    if (!node.has(keyword)) continue;
    const own = [keyword, ...besides, ...ANNOTATIONS];
    const others = node.keys().filter((key) => !own.includes(key) && !key.startsWith('x-'));
    for (const other of others) node.refuse(`'${other}' beside '${keyword}' is not implemented`, other);
    return read(node);
  }
  return readTypes(node);
}

interface WholeKeyword {
  readonly read: (node: SpecNode) => Schema;
  /** Other keywords that it reads. */
  readonly besides: readonly string[];
}

/** Keywords that define a value completely. */
const WHOLE_KEYWORDS: Readonly<Record<string, WholeKeyword>> = {
  $ref: { read: readReference, besides: [] },
  const: { read: (node) => readLiterals(node, [node.get('const')]), besides: ['type', 'format'] },
  enum: { read: (node) => readLiterals(node, node.get('enum').someItems()), besides: ['type', 'format'] },
  anyOf: { read: (node) => anyOf(node.get('anyOf').someItems().map(readSchema)), besides: [] },
  oneOf: { read: (node) => ({ kind: 'one', members: node.get('oneOf').someItems().map(readSchema) }), besides: [] },
};

/** Reader and keywords of each type. A keyword that no declared type has is rejected as unknown. */
const TYPES = {
  string: { keywords: ['minLength', 'maxLength', 'pattern', 'format', 'x-extensible-enum'], read: readString },
  integer: numberType(true),
  number: numberType(false),
  boolean: { keywords: [], read: (): Schema => ({ kind: 'boolean' }) },
  null: { keywords: [], read: (): Schema => ({ kind: 'null' }) },
  array: { keywords: ['items', 'minItems', 'maxItems'], read: readArray },
  object: {
    keywords: ['properties', 'required', 'additionalProperties', 'propertyNames'],
    read: readObject,
  },
};
type TypeName = keyof typeof TYPES;
const TYPE_NAMES = Object.keys(TYPES) as TypeName[];

function readTypes(node: SpecNode): Schema {
  const names = typesOf(node);
  if (names.length === 0) {
    node.only('keyword', 'type', ...ANNOTATIONS);
    return { kind: 'unknown' };
  }
  const types = names.map((name) => TYPES[name]);
  node.only('keyword', 'type', ...types.flatMap((type) => type.keywords), ...ANNOTATIONS);
  return anyOf(types.map((type) => type.read(node)));
}

/** Without a `type`, keywords of an object mean an object, and keywords of an array mean an array. */
function typesOf(node: SpecNode): readonly TypeName[] {
  const declared = node.find('type');
  if (declared !== undefined) {
    const types = Array.isArray(declared.value) ? declared.someItems() : [declared];
    return types.map((type) => type.oneOf('type', TYPE_NAMES));
  }
  return (['object', 'array'] as const).filter((name) => TYPES[name].keywords.some((keyword) => node.has(keyword)));
}

/** Returns a single member as it is, and merges a nested `anyOf` into the outer one. */
function anyOf(members: readonly Schema[]): Schema {
  const flat = members.flatMap((member) => (member.kind === 'any' ? member.members : [member]));
  const [first, ...others] = flat;
  return first !== undefined && others.length === 0 ? first : { kind: 'any', members: flat };
}

function readReference(node: SpecNode): Schema {
  const ref = node.get('$ref');
  const component = /^#\/components\/schemas\/([\w.-]+)$/.exec(ref.string())?.[1];
  const name = component && typeName(component);
  if (!name) return ref.fail(`only '#/components/schemas/Name' is implemented, not '${ref.string()}'`);
  node.resolved();
  return { kind: 'reference', name };
}

function readLiterals(node: SpecNode, nodes: readonly SpecNode[]): Schema {
  const types = node.find('type')?.value;
  for (const item of nodes) {
    if (types !== undefined && ![types].flat().some((type) => hasType(item.value, type))) {
      item.refuse(`${JSON.stringify(item.value)} is not of the type ${JSON.stringify(types)}`);
    }
  }
  return { kind: 'literals', values: nodes.map(readScalar) };
}

function hasType(value: unknown, type: unknown): boolean {
  if (value === null) return type === 'null';
  if (type === 'integer') return Number.isInteger(value);
  return type === typeof value;
}

function readScalar(node: SpecNode): Scalar {
  return isScalar(node.value) ? node.value : node.fail('only text, numbers, true, false and null are implemented here');
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || Number.isFinite(value) || typeof value === 'boolean';
}

/** The first example of a scalar, for responses that are made from the schema. */
function exampleOf(node: SpecNode): Scalar | undefined {
  const examples = node.find('examples');
  const first = Array.isArray(examples?.value) ? examples.items()[0] : node.find('example');
  return isScalar(first?.value) ? first.value : undefined;
}

function readString(node: SpecNode): Schema {
  const knownValues = node.find('x-extensible-enum')?.someItems();
  return {
    kind: 'string',
    ...numbers(node, 'minLength', 'maxLength'),
    ...optional('pattern', readPattern(node.find('pattern'))),
    ...optional('format', readFormat(node.find('format'))),
    ...optional(
      'knownValues',
      knownValues?.map((item) => item.string()),
    ),
  };
}

function readFormat(node: SpecNode | undefined): StringFormat | undefined {
  const format = node?.string() ?? '';
  const meant = nearestName(format, STRING_FORMATS);
  if (meant !== undefined && meant !== format) node?.refuse(`unknown format '${format}'; did you mean '${meant}'?`);
  return STRING_FORMATS.find((known) => known === format);
}

export function readPattern(node: SpecNode | undefined): string | undefined {
  const pattern = node?.string();
  try {
    new RegExp(pattern ?? '', 'u');
    return pattern;
  } catch (error) {
    return node?.fail(String(error));
  }
}

function numberType(isInteger: boolean) {
  const limits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
  const read = (node: SpecNode): Schema => {
    node.find('format')?.string();
    return { kind: 'number', isInteger, ...numbers(node, ...limits) };
  };
  return { keywords: [...limits, 'format'], read };
}

function readArray(node: SpecNode): Schema {
  const items = node.find('items');
  const each: Schema = items ? readSchema(items) : { kind: 'unknown' };
  return { kind: 'array', items: each, ...numbers(node, 'minItems', 'maxItems') };
}

function readObject(node: SpecNode): ObjectSchema {
  const required = node.itemsAt('required').map((item) => item.string());
  const rest = readRest(node.find('additionalProperties'));
  const properties = node.entriesAt('properties').flatMap(([name, field]): Property[] => {
    refuseFieldName(name, field);
    const schema = field.attempt(() => readSchema(field));
    return schema ? [{ name, isRequired: required.includes(name), schema }] : [];
  });
  for (const [index, name] of required.entries()) {
    if (node.entriesAt('properties').some(([known]) => known === name)) continue;
    const item = node.get('required').items()[index] ?? node;
    refuseFieldName(name, item);
    if (rest.rest === undefined) item.refuse(`'${name}' is required but not among properties`);
    else properties.push({ name, isRequired: true, schema: rest.rest });
  }
  const names = node.find('propertyNames');
  return {
    kind: 'object',
    properties,
    ...rest,
    ...optional('names', names && readSchema(names)),
  };
}

function refuseFieldName(name: string, node: SpecNode): void {
  if (INHERITED_NAMES.includes(name))
    node.refuse(`every object has '${name}'; zod does not check a field of this name`);
}

/** Schema of unnamed items or fields: any value by default, absent if the schema forbids them. */
function readRest(node: SpecNode | undefined): { readonly rest?: Schema } {
  if (node?.value === false) return {};
  return { rest: node ? readSchema(node) : { kind: 'unknown' } };
}

function numbers<Key extends string>(node: SpecNode, ...keys: readonly Key[]): { [key in Key]?: number } {
  return Object.assign({}, ...keys.map((key) => optional(key, node.find(key)?.number())));
}

/** An object with one field, or an empty object if the value is `undefined`. */
export function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [key in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [key in Key]: Value });
}
