import { type Property, type Scalar, type Schema, STRING_FORMATS } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Reads a JSON Schema (2020-12); throws on every keyword or combination that would be read but not obeyed. */
export function readSchema(node: SpecNode): Schema {
  if (node.value === true) return { kind: 'unknown' };
  const description = node.find('description')?.prose();
  return { ...readKeywords(node), ...(description === undefined ? {} : { description }) };
}

function readKeywords(node: SpecNode): Schema {
  for (const [keyword, read] of Object.entries(WHOLE_KEYWORDS)) {
    if (node.has(keyword)) return read(node);
  }
  if (!node.has('type')) {
    only(node);
    return { kind: 'unknown' };
  }
  return readTypes(node);
}

/** Keywords that say everything about a value; no other keyword may stand beside them. */
const WHOLE_KEYWORDS: Record<string, (node: SpecNode) => Schema> = {
  $ref: readReference,
  const: (node) => readLiterals(node, 'const', [node.get('const')]),
  enum: (node) => readLiterals(node, 'enum', node.get('enum').someItems()),
  anyOf: (node) => any(readMembers(node, 'anyOf').map(readSchema)),
  oneOf: (node) => ({ kind: 'one', members: readMembers(node, 'oneOf').map(readSchema) }),
  allOf: (node) => ({ kind: 'all', members: readMembers(node, 'allOf').map(readOpenObject) }),
};

/** What each type reads, and the keywords it takes; a keyword no declared type takes is unknown. */
const TYPES = {
  string: { keywords: ['minLength', 'maxLength', 'pattern', 'format', 'x-extensible-enum'], read: readString },
  integer: numberType(true),
  number: numberType(false),
  boolean: { keywords: [], read: (): Schema => ({ kind: 'boolean' }) },
  null: { keywords: [], read: (): Schema => ({ kind: 'null' }) },
  array: { keywords: ['items', 'prefixItems', 'minItems', 'maxItems'], read: readArray },
  object: { keywords: ['properties', 'required', 'additionalProperties'], read: readObject },
};
const TYPE_NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];

function readTypes(node: SpecNode): Schema {
  const declared = node.get('type');
  const types = (Array.isArray(declared.value) ? declared.someItems() : [declared]).map(
    (type) => TYPES[type.oneOf('type', TYPE_NAMES)],
  );
  only(node, 'type', ...types.flatMap((type) => type.keywords));
  return any(types.map((type) => type.read(node)));
}

/** One schema for several; a choice within the choice is the same choice. */
function any(members: readonly Schema[]): Schema {
  const flat = members.flatMap((member) => (member.kind === 'any' ? member.members : [member]));
  const [first, ...others] = flat;
  return first !== undefined && others.length === 0 ? first : { kind: 'any', members: flat };
}

function readReference(node: SpecNode): Schema {
  only(node, '$ref');
  const ref = node.get('$ref');
  const name = /^#\/components\/schemas\/(\w+)$/.exec(ref.string())?.[1];
  if (name === undefined) return ref.fail(`only '#/components/schemas/Name' is implemented, not '${ref.string()}'`);
  node.resolved();
  return { kind: 'reference', name };
}

function readLiterals(node: SpecNode, keyword: string, nodes: readonly SpecNode[]): Schema {
  only(node, 'type', keyword);
  const types = node.find('type')?.value;
  for (const item of nodes) {
    if (types !== undefined && ![types].flat().some((type) => hasType(item.value, type))) {
      item.fail(`${JSON.stringify(item.value)} is not of the type ${JSON.stringify(types)}`);
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
  const { value } = node;
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  return node.fail('only text, numbers, true, false and null are implemented here');
}

function readMembers(node: SpecNode, keyword: string): SpecNode[] {
  only(node, keyword);
  return node.get(keyword).someItems();
}

/** zod's intersection lets a closed object take the fields of its sibling, which JSON Schema does not. */
function readOpenObject(node: SpecNode): Schema {
  const target = node.resolved();
  const isOpen =
    target.has('allOf') ||
    (target.find('type')?.value === 'object' && target.find('additionalProperties')?.value !== false);
  return isOpen ? readSchema(node) : node.fail('allOf is implemented for objects that allow additional properties');
}

function readString(node: SpecNode): Schema {
  const knownValues = node.find('x-extensible-enum')?.someItems();
  return {
    kind: 'string',
    ...numbers(node, 'minLength', 'maxLength'),
    ...optional('pattern', readPattern(node.find('pattern'))),
    ...optional('format', node.find('format')?.oneOf('format', STRING_FORMATS)),
    ...optional(
      'knownValues',
      knownValues?.map((item) => item.string()),
    ),
  };
}

function readPattern(node: SpecNode | undefined): string | undefined {
  const pattern = node?.string();
  try {
    new RegExp(pattern ?? '', 'u');
    return pattern;
  } catch (error) {
    return node?.fail(String(error));
  }
}

function numberType(isInteger: boolean) {
  const keywords = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
  return { keywords, read: (node: SpecNode): Schema => ({ kind: 'number', isInteger, ...numbers(node, ...keywords) }) };
}

function readArray(node: SpecNode): Schema {
  const items = node.find('items');
  const prefix = node.find('prefixItems')?.items();
  if (prefix === undefined) {
    const each: Schema = items ? readSchema(items) : { kind: 'unknown' };
    return { kind: 'array', items: each, ...numbers(node, 'minItems', 'maxItems') };
  }
  if (node.find('minItems')?.value !== prefix.length || node.has('maxItems')) {
    node.fail(`prefixItems is implemented with minItems: ${prefix.length}, and items: false in place of maxItems`);
  }
  return { kind: 'tuple', items: prefix.map(readSchema), ...readRest(items) };
}

function readObject(node: SpecNode): Schema {
  const required = node.itemsAt('required');
  const properties = node.entriesAt('properties').map(([name, field]): Property => {
    if (name === '__proto__') field.fail('zod drops a field of this name');
    return { name, isRequired: required.some((item) => item.value === name), schema: readSchema(field) };
  });
  for (const item of required) {
    const isNamed = properties.some(({ name }) => name === item.value);
    if (!isNamed) item.fail(`'${item.value}' is required but not among properties`);
  }
  return { kind: 'object', properties, ...readRest(node.find('additionalProperties')) };
}

/** Schema of the items or fields that are not named: anything unless told, absent when there may be none. */
function readRest(node: SpecNode | undefined): { readonly rest?: Schema } {
  if (node?.value === false) return {};
  return { rest: node ? readSchema(node) : { kind: 'unknown' } };
}

function only(node: SpecNode, ...keywords: string[]): void {
  node.only('keyword', 'description', ...keywords);
}

function numbers<Key extends string>(node: SpecNode, ...keys: Key[]): { [key in Key]?: number } {
  return Object.assign({}, ...keys.map((key) => optional(key, node.find(key)?.number())));
}

/** A field that is left out when there is no value for it. */
function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [key in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [key in Key]: Value });
}
