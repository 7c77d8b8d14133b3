import { definedOf } from '../../src/json.ts';
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
import { pointerKeys, SpecNode } from './spec-node.ts';

/** Also in place of a schema whose problem is recorded. */
export const ANY_VALUE: Schema = { kind: 'unknown' };

/**
 * Reads a JSON Schema (2020-12), or one of OpenAPI 3.0. Rejects every keyword or combination that the generator does
 * not implement.
 */
export function readSchema(node: SpecNode): Schema {
  if (node.value === false) node.refuse('the schema false, which no value matches, is not implemented; leave it out');
  if (typeof node.value === 'boolean') return { kind: 'unknown' };
  const read = readKeywords(node);
  const isNullable = node.isTrue('nullable'); // OpenAPI 3.0
  const given = givenValues(node);
  // A list in the schema of its items can be an example of the list.
  const example = given.find(({ path, value }) => path.at(-2) !== 'items' || !Array.isArray(value))?.value;
  const schema = definedOf({
    ...(isNullable ? anyOf([read, { kind: 'null' }]) : read),
    ...definedOf({
      description: (node.find('description') ?? node.find('title'))?.prose() || undefined,
      isDeprecated: node.isTrue('deprecated') || undefined,
      isWriteOnly: node.isTrue('writeOnly') || undefined,
      example,
    }),
  });
  node.document.examples.push(...given.map((one) => ({ schema, node: one })));
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
    ...node.itemsAt('allOf').map(readSchema),
    ...WHOLE_KEYWORDS.filter(([keyword]) => node.has(keyword)).map(([, read]) => read(node)),
    ...readTypes(node),
  ];
  return parts.reduce((all, part) => combined(all, part, node), { kind: 'unknown' });
}

/** Keywords that define a value completely. */
const WHOLE_KEYWORDS: readonly (readonly [keyword: string, read: (node: SpecNode) => Schema])[] = [
  ['$ref', readReference],
  ['const', (node) => readLiterals([node.get('const')])],
  ['enum', (node) => readLiterals(node.get('enum').someItems())],
  ['anyOf', (node) => anyOf(node.get('anyOf').someItems().map(readSchema))],
  // With a discriminator, the schemas alone may not say which one is meant.
  [
    'oneOf',
    (node) => ({
      kind: node.has('discriminator') ? 'any' : 'one',
      members: node.get('oneOf').someItems().map(readSchema),
    }),
  ],
];

function combined(one: Schema, other: Schema, node: SpecNode): Schema {
  const { components } = node.document;
  // The schema of a component, also while the components are being read.
  const lookup = (name: string) => {
    const component = components.get(name);
    return component === undefined ? ANY_VALUE : readOnce(component);
  };
  try {
    return intersect(one, other, lookup);
  } catch (error) {
    if (!(error instanceof Contradiction)) throw error;
    return node.refuse(`the parts of this schema cannot be combined: ${error.message}`) ?? ANY_VALUE;
  }
}

/** Reads a schema that several others need for themselves. */
export function readOnce(node: SpecNode): Schema {
  const { places } = node.document;
  if (!places.has(node.id)) {
    places.set(node.id, undefined);
    places.set(node.id, readSchema(node));
  }
  return places.get(node.id) ?? node.refuse(CONTAINS_ITSELF) ?? ANY_VALUE;
}

const CONTAINS_ITSELF =
  'combining a schema with others inside itself is not implemented: write its $ref alone there, without a type beside it';

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
  if (!isImplied) return [read];
  const others = TYPE_NAMES.filter((name) => name !== 'integer' && !names.includes(name));
  const nothing = new SpecNode({}, node.path, node.document);
  return [anyOf([read, ...others.map((name) => TYPES[name].read(nothing))])];
}

/** Beside one of them, keywords of a type say nothing about values of other types. */
const COMBINING = ['allOf', ...WHOLE_KEYWORDS.map(([keyword]) => keyword)];

/** Without a `type`, those that have one of the keywords are meant. */
function typesOf(node: SpecNode): readonly TypeName[] {
  const declared = node.find('type');
  if (declared !== undefined) {
    const types = Array.isArray(declared.value) ? declared.someItems() : [declared];
    return types.flatMap((type) => type.oneOf('type', TYPE_NAMES) ?? []);
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
  const [root, kind, component = '', ...inner] = pointerKeys(ref.string());
  // Only a whole component has a name of its own.
  if (root !== 'components' || kind !== 'schemas' || inner.length > 0) return readOnce(target);
  const name = typeName(component);
  if (name === undefined) return ANY_VALUE;
  return definedOf({ kind: 'reference' as const, name, isWriteOnly: target.isTrue('writeOnly') || undefined });
}

function readLiterals(nodes: readonly SpecNode[]): Schema {
  const values = nodes.flatMap((node) => {
    if (isScalar(node.value)) return [node.value];
    return node.refuse('only text, numbers, true, false and null are implemented here') ?? [];
  });
  return values.length === 0 ? ANY_VALUE : { kind: 'literals', values };
}

function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value === 'string' || Number.isFinite(value) || typeof value === 'boolean';
}

/** The examples of a schema, then its default. */
export function givenValues(node: SpecNode): readonly SpecNode[] {
  const examples = node.find('examples');
  return [
    ...(Array.isArray(examples?.value) ? examples.items() : []),
    ...[node.find('example'), node.find('default')].filter((given) => given !== undefined),
  ];
}

function readString(node: SpecNode): Schema {
  const knownValues = node.find('x-extensible-enum')?.someItems();
  return definedOf({
    kind: 'string' as const,
    ...numbers(node, 'minLength', 'maxLength'),
    pattern: readPattern(node.find('pattern')),
    format: readFormat(node.find('format')),
    knownValues: knownValues?.map((item) => item.string()),
  });
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
function unicodePattern(given: string, node: SpecNode): string | undefined {
  if (/^\/\^.*\$\/\w*$/.test(given)) node.refuse('a pattern is written without delimiters: ^…$, not /^…$/');
  const escapes = (text: string, character: string) =>
    character === '-' ? '\\x2d' : /[A-Za-z0-9^$\\.*+?()[\]{}|/]/.test(character) ? text : character;
  const pattern = given.replaceAll(/\\(.)/gs, escapes);
  try {
    new RegExp(pattern, 'u');
    return pattern;
  } catch (error) {
    return node.refuse(`${String(error)}; a pattern is a regular expression of JavaScript`);
  }
}

function numberType(isInteger: boolean) {
  const keywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
  return { keywords, read: (node: SpecNode) => readNumber(node, isInteger) };
}

/** In OpenAPI 3.0, `exclusiveMinimum: true` makes `minimum` exclusive. */
function readNumber(node: SpecNode, isInteger: boolean): Schema {
  const [isAbove, isBelow] = ['exclusiveMinimum', 'exclusiveMaximum'].map((key) => node.find(key)?.value);
  const { minimum, maximum, multipleOf } = numbers(node, 'minimum', 'maximum', 'multipleOf');
  if (multipleOf !== undefined && multipleOf <= 0) node.get('multipleOf').refuse('a number above 0 is expected');
  return definedOf({
    kind: 'number' as const,
    isInteger,
    multipleOf,
    isLong: (isInteger && /^u?int64$/.test(String(node.find('format')?.value))) || undefined,
    [isAbove === true ? 'exclusiveMinimum' : 'minimum']: minimum,
    [isBelow === true ? 'exclusiveMaximum' : 'maximum']: maximum,
    ...(typeof isAbove === 'boolean' ? {} : numbers(node, 'exclusiveMinimum')),
    ...(typeof isBelow === 'boolean' ? {} : numbers(node, 'exclusiveMaximum')),
  });
}

function readArray(node: SpecNode): Schema {
  const items = node.find('items');
  return definedOf({
    kind: 'array' as const,
    items: items ? readSchema(items) : ANY_VALUE,
    ...numbers(node, 'minItems', 'maxItems'),
    hasUniqueItems: node.isTrue('uniqueItems') || undefined,
  });
}

function readObject(node: SpecNode): ObjectSchema {
  const required = node.itemsAt('required').map((item) => item.string());
  const unnamed = readUnnamed(node);
  const properties = node.entriesAt('properties').map(([name, field]): Property => {
    refuseFieldName(name, field);
    const schema = readSchema(field);
    return { name, isRequired: required.includes(name) && !schema.isWriteOnly, schema };
  });
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
  const propertyNames = node.find('propertyNames');
  const named = (names: Schema) => (propertyNames ? combined(names, readSchema(propertyNames), propertyNames) : names);
  const [map, ...others] = node.entriesAt('patternProperties');
  if (map !== undefined) {
    const isMap = others.length === 0 && node.find('additionalProperties')?.value === false && !node.has('properties');
    if (!isMap) node.refuse(MAP_EXPECTED, 'patternProperties');
    const [pattern, field] = map;
    const names = definedOf({ kind: 'string' as const, pattern: unicodePattern(pattern, field) });
    return { rest: readSchema(field), names: named(names) };
  }
  const rest = node.find('additionalProperties');
  return definedOf({
    rest: rest?.value === false ? undefined : rest ? readSchema(rest) : ANY_VALUE,
    names: propertyNames && named({ kind: 'string' }),
  });
}

const MAP_EXPECTED =
  "'patternProperties' is implemented with one pattern, additionalProperties: false and without properties";

/** The keywords that the schema has, with their numbers. */
function numbers<Key extends string>(node: SpecNode, ...keys: readonly Key[]): { [key in Key]?: number } {
  const given = keys.filter((key) => node.has(key)).map((key) => [key, node.get(key).number()]);
  return Object.fromEntries(given) as { [key in Key]?: number };
}
