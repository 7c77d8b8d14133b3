import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSchema } from '../../scripts/generator/read-schema.ts';
import { SpecNode } from '../../scripts/generator/spec-node.ts';
import { writeSchemas } from '../../scripts/generator/write-schemas.ts';
import { writeTypes } from '../../scripts/generator/write-types.ts';

test.each([
  ['{}', 'unknown', 'z.unknown()'],
  ['true', 'unknown', 'z.unknown()'],
  ['{ type: string }', 'string', 'z.string()'],
  ['{ type: string, format: date }', 'string', 'z.iso.date()'],
  ['{ type: string, format: date-time }', 'string', 'z.iso.datetime({ offset: true })'],
  ['{ type: string, pattern: ^a/b$ }', 'string', 'z.string().regex(/^a\\/b$/u)'],
  [
    '{ type: string, minLength: 2 }',
    'string',
    "z.string().refine((text) => [...text].length >= 2, 'Expected length >= 2')",
  ],
  [
    '{ type: string, maxLength: 3 }',
    'string',
    "z.string().refine((text) => [...text].length <= 3, 'Expected length <= 3')",
  ],
  ['{ type: string, x-extensible-enum: [a, b] }', '"a" | "b" | (string & {})', 'z.string()'],
  ['{ type: boolean }', 'boolean', 'z.boolean()'],
  ["{ type: 'null' }", 'null', 'z.null()'],
  ['{ type: number }', 'number', 'z.number()'],
  ['{ type: integer }', 'number', 'integer'],
  ['{ type: integer, minimum: 1, maximum: 9 }', 'number', 'integer.min(1).max(9)'],
  ['{ type: number, exclusiveMinimum: 0, exclusiveMaximum: 1.5 }', 'number', 'z.number().gt(0).lt(1.5)'],
  ["{ type: [integer, string, 'null'] }", 'number | string | null', 'z.union([integer, z.string(), z.null()])'],
  ['{ const: 1 }', '1', 'z.literal(1)'],
  ['{ type: boolean, const: true }', 'true', 'z.literal(true)'],
  ["{ type: [string, integer, 'null'], enum: [a, 1, null] }", '"a" | 1 | null', 'z.literal(["a", 1, null])'],
  ['{ type: array }', 'readonly unknown[]', 'z.array(z.unknown())'],
  ['{ type: array, items: { type: string } }', 'readonly string[]', 'z.array(z.string())'],
  [
    '{ type: array, items: { enum: [a, b] }, minItems: 1, maxItems: 2 }',
    'readonly ("a" | "b")[]',
    'z.array(z.literal(["a", "b"])).min(1).max(2)',
  ],
  [
    '{ type: array, prefixItems: [{ type: string }, { type: number }], minItems: 2, items: false }',
    'readonly [string, number]',
    'z.tuple([z.string(), z.number()])',
  ],
  [
    '{ type: array, prefixItems: [{ type: string }], minItems: 1, items: { type: number } }',
    'readonly [string, ...number[]]',
    'z.tuple([z.string()], z.number())',
  ],
  [
    '{ type: array, prefixItems: [{ type: string }], minItems: 1 }',
    'readonly [string, ...unknown[]]',
    'z.tuple([z.string()], z.unknown())',
  ],
  ['{ type: object }', '{ readonly [field: string]: unknown; }', 'z.looseObject({})'],
  ['{ type: object, additionalProperties: true }', '{ readonly [field: string]: unknown; }', 'z.looseObject({})'],
  ['{ type: object, additionalProperties: false }', 'Record<string, never>', 'z.strictObject({})'],
  [
    '{ type: object, additionalProperties: { type: number } }',
    '{ readonly [field: string]: number; }',
    'z.object({}).catchall(z.number())',
  ],
  [
    '{ type: object, required: [a], properties: { a: { type: string, description: First. }, b c: { type: integer } }, additionalProperties: false }',
    '{ /** First. */ readonly a: string; readonly "b c"?: number; }',
    'z.strictObject({ a: z.string(), "b c": integer.exactOptional(), })',
  ],
  [
    '{ type: object, properties: { a: { type: string } }, additionalProperties: { type: number } }',
    '{ readonly a?: string; readonly [field: string]: number | string | undefined; }',
    'z.object({ a: z.string().exactOptional(), }).catchall(z.number())',
  ],
  [
    '{ anyOf: [{ type: string }, { type: [number, boolean] }] }',
    'string | number | boolean',
    'z.union([z.string(), z.number(), z.boolean()])',
  ],
  ['{ oneOf: [{ type: string }, { type: number }] }', 'string | number', 'z.xor([z.string(), z.number()])'],
  [
    "{ allOf: [{ $ref: '#/components/schemas/Other' }, { type: object }] }",
    'Other & ({ readonly [field: string]: unknown; })',
    'z.intersection(z.lazy(() => Other), z.looseObject({}))',
  ],
  ["{ $ref: '#/components/schemas/Other', description: The other. }", 'Other', 'z.lazy(() => Other)'],
])('%s is %s', (yaml, type, zod) => {
  const schema = readSchema(specNode(yaml));
  const contract = {
    schemas: new Map([['Field', schema]]),
    operations: [],
    plans: {},
    apiKeyPattern: '',
    notShown: {},
  };

  const types = oneLine(writeTypes(contract));
  const schemas = oneLine(writeSchemas(contract));

  expect(types).toMatch(/^(\/\*\* The other\. \*\/ )?export /);
  expect(types.replace(/^.*?export (type Field = |interface Field )/, '').replace(/;$/, '')).toBe(type);
  expect(schemas).toContain(`export const Field: z.ZodType<types.Field> = ${zod};`);
});

test('a reference to a component that stands above it is its name', () => {
  const other = readSchema(new SpecNode({ type: 'string' }));
  const field = readSchema(specNode("{ $ref: '#/components/schemas/Other' }"));

  const schemas = writeSchemas({
    schemas: new Map([
      ['Other', other],
      ['Field', field],
    ]),
    operations: [],
    plans: {},
    apiKeyPattern: '',
    notShown: {},
  });

  expect(schemas).toContain('export const Field: z.ZodType<types.Field> = Other;');
});

test.each([
  [
    '{ type: string, maxLenght: 3 }',
    "unknown keyword 'maxLenght'; known here: description, type, minLength, maxLength,",
  ],
  ['{ type: string, x-enum: [a] }', "unknown keyword 'x-enum'"],
  ['{ type: string, x-extensible-enum: [1] }', 'text is expected', '/x-extensible-enum/0'],
  ['{ type: string, minimum: 3 }', "unknown keyword 'minimum'"],
  ['{ type: string, minLength: "3" }', 'a number is expected', '/minLength'],
  ['{ type: string, format: uri }', 'unknown format "uri"; known: date, date-time', '/format'],
  ['{ type: string, pattern: "(" }', 'SyntaxError: Invalid regular expression', '/pattern'],
  ['{ type: integer, format: int64 }', "unknown keyword 'format'"],
  ['{ type: integer, multipleOf: 2 }', "unknown keyword 'multipleOf'"],
  ['{ type: strong }', 'unknown type "strong"; known: string, integer,', '/type'],
  ['{ type: [] }', 'at least one item is expected', '/type'],
  ['{ type: string, nullable: true }', "unknown keyword 'nullable'"],
  ['{ type: string, default: a }', "unknown keyword 'default'"],
  ['{ const: { a: 1 } }', 'only text, numbers, true, false and null are implemented here', '/const'],
  ['{ type: boolean, const: "true" }', '"true" is not of the type "boolean"', '/const'],
  ['{ type: [string, integer], enum: [a, 1.5] }', '1.5 is not of the type ["string","integer"]', '/enum/1'],
  ['{ enum: [] }', 'at least one item is expected', '/enum'],
  ['{ type: array, uniqueItems: true }', "unknown keyword 'uniqueItems'"],
  ['{ type: array, prefixItems: [{}] }', 'prefixItems is implemented with minItems: 1, and items: false'],
  ['{ type: array, prefixItems: [{}], minItems: 1, maxItems: 1 }', 'prefixItems is implemented with minItems: 1, and'],
  ['{ properties: { a: {} } }', "unknown keyword 'properties'"],
  ['{ type: object, required: [a] }', "'a' is required but not among properties", '/required/0'],
  ['{ type: object, patternProperties: {} }', "unknown keyword 'patternProperties'"],
  [
    '{ type: object, properties: { a: { type: object, propertees: {} } } }',
    "unknown keyword 'propertees'",
    '/properties/a',
  ],
  ['{ type: object, properties: { a/b~c: { typ: string } } }', "unknown keyword 'typ'", '/properties/a~1b~0c'],
  ['{ type: object, properties: { __proto__: {} } }', 'zod drops a field of this name', '/properties/__proto__'],
  ['{ type: object, additionalProperties: { typ: string } }', "unknown keyword 'typ'", '/additionalProperties'],
  ['{ type: object, anyOf: [{}] }', "unknown keyword 'type'; known here: description, anyOf"],
  ['{ anyOf: [] }', 'at least one item is expected', '/anyOf'],
  ['{ not: {} }', "unknown keyword 'not'"],
  ['{ if: {}, then: {} }', "unknown keyword 'if'"],
  ['{ allOf: [{ type: string }] }', 'allOf is implemented for objects that allow additional properties', '/allOf/0'],
  ["{ allOf: [{ $ref: '#/components/schemas/Closed' }] }", 'allOf is implemented for objects that allow', '/allOf/0'],
  ["{ $ref: '#/components/schemas/Nobody' }", "'#/components/schemas/Nobody' does not exist", '/$ref'],
  [
    "{ $ref: 'other.yaml#/Other' }",
    "only '#/components/schemas/Name' is implemented, not 'other.yaml#/Other'",
    '/$ref',
  ],
  ["{ $ref: '#/components/schemas/Other', minLength: 1 }", "unknown keyword 'minLength'"],
  ['text', 'a map is expected'],
  ['false', 'a map is expected'],
])('%s is refused: %s', (yaml, problem, at = '') => {
  expect(() => readSchema(specNode(yaml))).toThrow(`#/components/schemas/Field${at}: ${problem}`);
});

/** A component among others that it can refer to. */
function specNode(yaml: string): SpecNode {
  const Other = { type: 'string' };
  const Closed = { type: 'object', additionalProperties: false };
  const spec = new SpecNode({
    components: { schemas: { Other: { type: 'object' }, Closed, Text: Other, Field: parse(yaml) } },
  });
  return spec.get('components').get('schemas').get('Field');
}

function oneLine(source: string): string {
  return source.replaceAll(/\s+/g, ' ').trim();
}
