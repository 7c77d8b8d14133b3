import { nearestName } from '../../src/nearest-name.ts';
import {
  type ObjectSchema,
  type Property,
  type Scalar,
  type Schema,
  STRING_FORMATS,
  type StringFormat,
} from './contract.ts';
import { Contradiction, intersect } from './intersect.ts';
import { INHERITED_NAMES, typeName } from './names.ts';
import { pointerKeys, type SpecNode } from './spec-node.ts';

/** In place of a schema whose problem is recorded: it causes no others. */
export const UNREADABLE: Schema = { kind: 'unknown' };

/**
 * Reads a JSON Schema (2020-12), or one of OpenAPI 3.0. Rejects every keyword or combination that the generator does
 * not implement.
 */
export function readSchema(node: SpecNode): Schema {
  if (node.value === true) return { kind: 'unknown' };
  if (node.value === false) node.fail('the schema false, which no value matches, is not implemented; leave it out');
  const read = readKeywords(node);
  const isNullable = node.isTrue('nullable'); // OpenAPI 3.0
  const description = (node.find('description') ?? node.find('title'))?.prose();
  const schema = {
    ...(isNullable ? anyOf([read, { kind: 'null' }]) : read),
    ...optional('description', description || undefined),
    ...optional('isDeprecated', node.isTrue('deprecated') || undefined),
    ...optional('example', exampleOf(node)),
  };
  for (const given of givenValues(node)) node.document.examples.push({ schema, node: given });
  return schema;
}

const NOT_IMPLEMENTED = [
  ...['not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'prefixItems'],
  ...['contains', 'minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties', '$dynamicRef', '$id'],
];

/** A value must match all parts of a schema. */
function readKeywords(node: SpecNode): Schema {
  node.refuseKeys(NOT_IMPLEMENTED, 'describe the values without it');
  const parts = [
    ...node.itemsAt('allOf').map(readPart),
    ...WHOLE_KEYWORDS.filter(([keyword]) => node.has(keyword)).map(
      ([, read]) => node.attempt(() => read(node)) ?? UNREADABLE,
    ),
    ...(node.attempt(() => readTypes(node)) ?? [UNREADABLE]),
  ];
  if (parts.includes(UNREADABLE)) node.abandon();
  return parts.reduce((all, part) => combined(all, part, node), { kind: 'unknown' });
}

/** Keywords that define a value completely. */
const WHOLE_KEYWORDS: readonly (readonly [keyword: string, read: (node: SpecNode) => Schema])[] = [
  ['$ref', readReference],
  ['const', (node) => readLiterals([node.get('const')])],
  ['enum', (node) => readLiterals(node.get('enum').someItems())],
  ['anyOf', (node) => anyOf(readMembers(node.get('anyOf')))],
  // With a discriminator, the schemas alone may not say which one is meant.
  ['oneOf', (node) => ({ kind: node.has('discriminator') ? 'any' : 'one', members: readMembers(node.get('oneOf')) })],
];

function readMembers(list: SpecNode): readonly Schema[] {
  const members = list.someItems().map(readPart);
  return members.includes(UNREADABLE) ? list.abandon() : members;
}

/** Reads one of several schemas; a problem of it does not hide those of the others. */
function readPart(node: SpecNode): Schema {
  return node.attempt(() => readSchema(node)) ?? UNREADABLE;
}

function combined(one: Schema, other: Schema, node: SpecNode): Schema {
  try {
    return intersect(one, other, (name) => schemaOfType(name, node));
  } catch (error) {
    if (error instanceof Contradiction)
      return node.fail(`the parts of this schema cannot be combined: ${error.message}`);
    throw error;
  }
}

/** The schema of a component, also while the components are being read. */
function schemaOfType(name: string, node: SpecNode): Schema {
  const [, component] =
    node.root
      .get('components')
      .entriesAt('schemas')
      .find(([key]) => typeName(key) === name) ?? [];
  return component ? readOnce(component) : node.abandon();
}

/** Reads a schema that several others need for themselves. */
export function readOnce(node: SpecNode): Schema {
  const { schemas } = node.document;
  const place = node.path.join('/');
  if (!schemas.has(place)) {
    schemas.set(place, undefined);
    schemas.set(place, readPart(node));
  }
  const schema = schemas.get(place) ?? node.fail(`'${node.path.at(-1)}' refers to itself`);
  return schema === UNREADABLE ? node.abandon() : schema;
}

interface TypeReader {
  readonly keywords: readonly string[];
  readonly read: (node: SpecNode) => Schema;
}

const TYPE_NAMES = ['string', 'integer', 'number', 'boolean', 'null', 'array', 'object'] as const;
type TypeName = (typeof TYPE_NAMES)[number];

/** As in JSON Schema, keywords of other types have no effect. */
const TYPES: Readonly<Record<TypeName, TypeReader>> = {
  string: { keywords: ['minLength', 'maxLength', 'pattern', 'x-extensible-enum'], read: readString },
  integer: numberType(true),
  number: numberType(false),
  boolean: { keywords: [], read: (): Schema => ({ kind: 'boolean' }) },
  null: { keywords: [], read: (): Schema => ({ kind: 'null' }) },
  array: { keywords: ['items', 'minItems', 'maxItems', 'uniqueItems'], read: readArray },
  object: {
    keywords: [
      ...['properties', 'required', 'additionalProperties', 'propertyNames', 'minProperties', 'maxProperties'],
      'patternProperties',
    ],
    read: readObject,
  },
};

/** None if the schema has no keyword of a type. */
function readTypes(node: SpecNode): readonly Schema[] {
  const names = typesOf(node);
  for (const keyword of TYPE_NAMES.flatMap((name) => TYPES[name].keywords)) {
    const isKnown = names.some((name) => TYPES[name].keywords.includes(keyword));
    if (!isKnown && node.has(keyword)) node.note(`'${keyword}' has no effect on the type ${names.join(', ')}`, keyword);
  }
  if (names.length === 0) return [];
  const read = anyOf(names.map((name) => TYPES[name].read(node)));
  const isImplied = !node.has('type') && COMBINING.some((keyword) => node.has(keyword));
  return [isImplied ? anyOf([read, ...TYPE_NAMES.filter((name) => !names.includes(name)).map(anyOfType)]) : read];
}

/** Beside one of them, keywords of a type say nothing about values of other types. */
const COMBINING = ['allOf', ...WHOLE_KEYWORDS.map(([keyword]) => keyword)];

function anyOfType(name: TypeName): Schema {
  switch (name) {
    case 'integer':
    case 'number':
      return { kind: 'number', isInteger: false };
    case 'array':
      return { kind: 'array', items: { kind: 'unknown' } };
    case 'object':
      return { kind: 'object', properties: [], rest: { kind: 'unknown' } };
    default:
      return { kind: name };
  }
}

/** Without a `type`, those that have one of the keywords are meant. */
function typesOf(node: SpecNode): readonly TypeName[] {
  const declared = node.find('type');
  if (declared !== undefined) {
    const types = Array.isArray(declared.value) ? declared.someItems() : [declared];
    return types.map((type) => type.oneOf('type', TYPE_NAMES));
  }
  const isText = STRING_FORMATS.some((format) => format === node.find('format')?.value);
  return (['object', 'array', 'string', 'number'] as const).filter(
    (name) => TYPES[name].keywords.some((keyword) => node.has(keyword)) || (name === 'string' && isText),
  );
}

/** Returns a single member as it is, and merges a nested `anyOf` into the outer one. */
function anyOf(members: readonly Schema[]): Schema {
  const flat = members.flatMap((member) => (member.kind === 'any' ? member.members : [member]));
  const [first, ...others] = flat;
  return first !== undefined && others.length === 0 ? first : { kind: 'any', members: flat };
}

function readReference(node: SpecNode): Schema {
  const ref = node.get('$ref');
  const target = node.resolved();
  const [, kind, component = '', ...inner] = pointerKeys(ref.string());
  // A part of another schema has no name of its own.
  if (kind !== 'schemas' || inner.length > 0) return readOnce(target);
  const name = typeName(component) ?? ref.fail(`'${component}' cannot be the name of a type`);
  return { kind: 'reference', name };
}

function readLiterals(nodes: readonly SpecNode[]): Schema {
  return { kind: 'literals', values: nodes.map(readScalar) };
}

function readScalar(node: SpecNode): Scalar {
  return isScalar(node.value) ? node.value : node.fail('only text, numbers, true, false and null are implemented here');
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || Number.isFinite(value) || typeof value === 'boolean';
}

/** The first example of a scalar, for responses that are made from the schema. */
function exampleOf(node: SpecNode): Scalar | undefined {
  const [first] = givenValues(node).filter(({ path }) => path.at(-1) !== 'default');
  return isScalar(first?.value) ? first.value : undefined;
}

/** The examples of a schema and its default. */
export function givenValues(node: SpecNode): readonly SpecNode[] {
  const examples = node.find('examples');
  return [
    ...(Array.isArray(examples?.value) ? examples.items() : []),
    ...[node.find('example'), node.find('default')].filter((given) => given !== undefined),
  ];
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
  return node && unicodePattern(node.string(), node);
}

/** A regular expression that is valid with the flag `u`: many documents escape characters that need it only without. */
function unicodePattern(given: string, node: SpecNode): string {
  if (/^\/\^.*\$\/\w*$/.test(given)) node.fail('a pattern is written without delimiters: ^…$, not /^…$/');
  const escapes = (text: string, character: string) =>
    character === '-' ? '\\x2d' : /[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(character) ? text : character;
  const pattern = given.replaceAll(/\\(.)/gs, escapes);
  try {
    new RegExp(pattern, 'u');
    return pattern;
  } catch (error) {
    return node.fail(`${String(error)}; a pattern is a regular expression of JavaScript`);
  }
}

function numberType(isInteger: boolean) {
  const keywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
  return { keywords, read: (node: SpecNode) => readNumber(node, isInteger) };
}

/** In OpenAPI 3.0, `exclusiveMinimum: true` makes `minimum` exclusive. */
function readNumber(node: SpecNode, isInteger: boolean): Schema {
  const [isAbove, isBelow] = ['exclusiveMinimum', 'exclusiveMaximum'].map((key) => node.find(key)?.value);
  const { minimum, maximum } = numbers(node, 'minimum', 'maximum');
  const { multipleOf } = numbers(node, 'multipleOf');
  if (multipleOf !== undefined && multipleOf <= 0) node.get('multipleOf').refuse('a number above 0 is expected');
  return {
    kind: 'number',
    isInteger,
    ...optional('multipleOf', multipleOf),
    ...optional('isLong', (isInteger && /^u?int64$/.test(String(node.find('format')?.value))) || undefined),
    ...optional(isAbove === true ? 'exclusiveMinimum' : 'minimum', minimum),
    ...optional(isBelow === true ? 'exclusiveMaximum' : 'maximum', maximum),
    ...(typeof isAbove === 'boolean' ? {} : numbers(node, 'exclusiveMinimum')),
    ...(typeof isBelow === 'boolean' ? {} : numbers(node, 'exclusiveMaximum')),
  };
}

function readArray(node: SpecNode): Schema {
  const items = node.find('items');
  const each: Schema = items ? readSchema(items) : { kind: 'unknown' };
  const hasUniqueItems = node.isTrue('uniqueItems') || undefined;
  return {
    kind: 'array',
    items: each,
    ...numbers(node, 'minItems', 'maxItems'),
    ...optional('hasUniqueItems', hasUniqueItems),
  };
}

function readObject(node: SpecNode): ObjectSchema {
  const required = node.attempt(() => node.itemsAt('required').map((item) => item.string()));
  const unnamed = readUnnamed(node);
  const properties = node.entriesAt('properties').map(([name, field]): Property => {
    refuseFieldName(name, field);
    const schema = field.attempt(() => readSchema(field)) ?? UNREADABLE;
    return { name, isRequired: required?.includes(name) ?? false, schema };
  });
  if (required === undefined || unnamed.rest === UNREADABLE) node.abandon();
  return {
    kind: 'object',
    properties: [...properties, ...readRequired(node, unnamed.rest)],
    ...unnamed,
    ...numbers(node, 'minProperties', 'maxProperties'),
  };
}

/** Required fields that are not among `properties`. */
function readRequired(node: SpecNode, rest: Schema | undefined): Property[] {
  const named = node.entriesAt('properties').map(([name]) => name);
  const others = node.itemsAt('required').filter(({ value }) => !named.includes(String(value)));
  return others.flatMap((item) => {
    const name = item.string();
    refuseFieldName(name, item);
    if (rest === undefined) item.refuse(`'${name}' is required but not among properties`);
    return rest === undefined ? [] : [{ name, isRequired: true, schema: rest }];
  });
}

function refuseFieldName(name: string, node: SpecNode): void {
  if (INHERITED_NAMES.includes(name))
    node.refuse(`every object has '${name}'; zod does not check a field of this name`);
}

/** The fields that are not among `properties`: any by default, `rest` is absent if the schema forbids them. */
function readUnnamed(node: SpecNode): Pick<ObjectSchema, 'rest' | 'names'> {
  const [map, ...others] = node.entriesAt('patternProperties');
  if (map !== undefined) {
    const isMap = others.length === 0 && node.find('additionalProperties')?.value === false && !node.has('properties');
    if (!isMap) node.refuse(MAP_EXPECTED, 'patternProperties');
    const [pattern, field] = map;
    return { rest: readPart(field), names: { kind: 'string', pattern: unicodePattern(pattern, field) } };
  }
  const [rest, names] = [node.find('additionalProperties'), node.find('propertyNames')];
  return {
    ...(rest?.value === false ? {} : { rest: rest ? readPart(rest) : { kind: 'unknown' } }),
    ...optional('names', names && combined({ kind: 'string' }, readSchema(names), names)),
  };
}

const MAP_EXPECTED =
  "'patternProperties' is implemented with one pattern, additionalProperties: false and without properties";

function numbers<Key extends string>(node: SpecNode, ...keys: readonly Key[]): { [key in Key]?: number } {
  return Object.assign({}, ...keys.map((key) => optional(key, node.find(key)?.number())));
}

/** An object with one field, or an empty object if the value is `undefined`. */
export function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [key in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [key in Key]: Value });
}
