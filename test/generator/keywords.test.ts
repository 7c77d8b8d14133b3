import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Contract, Schema } from '../../scripts/generator/contract.ts';
import { readSchema } from '../../scripts/generator/read-schema.ts';
import { readDocument } from '../../scripts/generator/spec-node.ts';
import { writeSchemas } from '../../scripts/generator/write-schemas.ts';
import { writeTypes } from '../../scripts/generator/write-types.ts';

test.each([
  ['{}', 'unknown', 'z.unknown()'],
  ['true', 'unknown', 'z.unknown()'],
  ['{ type: string }', 'string', 'z.string()'],
  ['{ type: string, format: date }', 'string', 'z.iso.date()'],
  ['{ type: string, format: date-time }', 'string', 'z.iso.datetime({ offset: true })'],
  ['{ type: string, pattern: ^a/b$ }', 'string', 'z.string().check(z.regex(/^a\\/b$/u))'],
  [
    '{ type: string, minLength: 2 }',
    'string',
    "z.string().check(z.refine((text) => [...text].length >= 2, 'Expected length >= 2'))",
  ],
  [
    '{ type: string, maxLength: 3 }',
    'string',
    "z.string().check(z.refine((text) => [...text].length <= 3, 'Expected length <= 3'))",
  ],
  ['{ type: string, x-extensible-enum: [a, b] }', '"a" | "b" | (string & {})', 'z.string()'],
  ['{ type: boolean }', 'boolean', 'z.boolean()'],
  ["{ type: 'null' }", 'null', 'z.null()'],
  ['{ type: number }', 'number', 'z.number()'],
  ['{ type: integer }', 'number', 'integer'],
  ['{ type: integer, minimum: 1, maximum: 9 }', 'number', 'integer.check(z.gte(1), z.lte(9))'],
  ['{ type: number, exclusiveMinimum: 0, exclusiveMaximum: 1.5 }', 'number', 'z.number().check(z.gt(0), z.lt(1.5))'],
  ["{ type: [integer, string, 'null'] }", 'number | string | null', 'z.union([integer, z.string(), z.null()])'],
  ['{ const: 1 }', '1', 'z.literal(1)'],
  ['{ type: boolean, const: true }', 'true', 'z.literal(true)'],
  ["{ type: [string, integer, 'null'], enum: [a, 1, null] }", '"a" | 1 | null', 'z.literal(["a", 1, null])'],
  ['{ type: array }', 'readonly unknown[]', 'z.array(z.unknown())'],
  ['{ type: array, items: { type: string } }', 'readonly string[]', 'z.array(z.string())'],
  [
    '{ type: array, items: { enum: [a, b] }, minItems: 1, maxItems: 2 }',
    'readonly ("a" | "b")[]',
    'z.array(z.literal(["a", "b"])).check(z.minLength(1), z.maxLength(2))',
  ],
  ['{ type: object }', '{ readonly [field: string]: unknown; }', 'z.looseObject({})'],
  ['{ type: object, additionalProperties: true }', '{ readonly [field: string]: unknown; }', 'z.looseObject({})'],
  ['{ type: object, additionalProperties: false }', '{ readonly [field: string]: never }', 'z.strictObject({})'],
  [
    '{ properties: { a: {} } }',
    '{ readonly a?: unknown; readonly [field: string]: unknown; }',
    'z.looseObject({ a: z.exactOptional(z.unknown()), })',
  ],
  ['{ items: { type: string } }', 'readonly string[]', 'z.array(z.string())'],
  [
    '{ type: object, required: [a] }',
    '{ readonly a: unknown; readonly [field: string]: unknown; }',
    'z.looseObject({ a: z.unknown(), })',
  ],
  [
    "{ type: object, propertyNames: { pattern: '^[A-Z]+$', type: string } }",
    '{ readonly [field: string]: unknown; }',
    "z.looseObject({}).check(z.refine((value) => Object.keys(value).every((name) => z.string().check(z.regex(/^[A-Z]+$/u)).safeParse(name).success), 'Unexpected name of a field'))",
  ],
  ['{ type: number, multipleOf: 0.01 }', 'number', 'z.number().check(z.multipleOf(0.01))'],
  [
    '{ type: object, additionalProperties: { type: number } }',
    '{ readonly [field: string]: number; }',
    'z.catchall(z.object({}), z.number())',
  ],
  [
    '{ type: object, required: [a], properties: { a: { type: string, description: First. }, b c: { type: integer } }, additionalProperties: false }',
    '{ /** First. */ readonly a: string; readonly "b c"?: number; }',
    'z.strictObject({ a: z.string(), "b c": z.exactOptional(integer), })',
  ],
  [
    '{ type: object, properties: { a: { type: string } }, additionalProperties: { type: number } }',
    '{ readonly a?: string; readonly [field: string]: number | string | undefined; }',
    'z.catchall(z.object({ a: z.exactOptional(z.string()), }), z.number())',
  ],
  [
    '{ anyOf: [{ type: string }, { type: [number, boolean] }] }',
    'string | number | boolean',
    'z.union([z.string(), z.number(), z.boolean()])',
  ],
  ['{ oneOf: [{ type: string }, { type: number }] }', 'string | number', 'z.xor([z.string(), z.number()])'],
  ["{ $ref: '#/components/schemas/Other', description: The other. }", 'Other', 'z.lazy(() => Other)'],
])('%s is %s', (yaml, type, zod) => {
  const schema = schemaOf(yaml);
  const contract = contractWith({ Field: schema });

  const types = oneLine(writeTypes(contract));
  const schemas = oneLine(writeSchemas(contract));

  expect(types).toMatch(/^(\/\*\* The other\. \*\/ )?export /);
  expect(types.replace(/^.*?export (type Field = |interface Field )/, '').replace(/;$/, '')).toBe(type);
  expect(schemas).toContain(`export const Field: z.ZodMiniType<types.Field> = ${zod};`);
});

test('a reference to an enclosing component becomes its name', () => {
  const other = schemaOf('{ type: string }');
  const field = schemaOf("{ $ref: '#/components/schemas/Other' }");

  const schemas = writeSchemas(contractWith({ Other: other, Field: field }));

  expect(schemas).toContain('export const Field: z.ZodMiniType<types.Field> = Other;');
});

test.each([
  ['{ type: string, title: A, description: B, default: a, deprecated: true, example: b }'],
  [
    '{ type: string, examples: [b], readOnly: true, writeOnly: false, externalDocs: { url: x }, $comment: c, x-order: 1 }',
  ],
  ['{ type: string, format: uuid }'],
  ['{ type: integer, format: int64 }'],
  ['{ type: number, format: double }'],
])('%s: annotations and unknown formats are ignored', (yaml) => {
  expect(['string', 'number']).toContain(schemaOf(yaml).kind);
});

test.each([
  ['{ type: string, maxLenght: 3 }', "unknown keyword 'maxLenght'; did you mean 'maxLength'?"],
  [
    '{ type: string, x-extensible-enums: [a] }',
    "unknown keyword 'x-extensible-enums'; did you mean 'x-extensible-enum'?",
  ],
  ['{ type: string, x-consumes-quota: true }', "unknown keyword 'x-consumes-quota'; known here: type, minLength"],
  ['{ type: string, x-extensible-enum: [1] }', 'text is expected', '/x-extensible-enum/0'],
  ['{ type: string, minimum: 3 }', "unknown keyword 'minimum'"],
  ['{ type: string, minLength: "3" }', 'a number is expected', '/minLength'],
  ['{ type: string, format: datetime }', "unknown format 'datetime'; did you mean 'date-time'?", '/format'],
  ['{ type: string, pattern: "(" }', 'SyntaxError: Invalid regular expression', '/pattern'],
  ['{ type: integer, multipleOf: 0 }', 'a number above 0 is expected', '/multipleOf'],
  ['{ type: strong }', 'unknown type "strong"; known: string, integer,', '/type'],
  ['{ type: [] }', 'at least one item is expected', '/type'],
  ['{ type: string, nullable: true }', "unknown keyword 'nullable'"],
  ['{ const: { a: 1 } }', 'only text, numbers, true, false and null are implemented here', '/const'],
  ['{ type: boolean, const: "true" }', '"true" is not of the type "boolean"', '/const'],
  ['{ type: [string, integer], enum: [a, 1.5] }', '1.5 is not of the type ["string","integer"]', '/enum/1'],
  ['{ enum: [] }', 'at least one item is expected', '/enum'],
  [
    '{ type: object, required: [a], additionalProperties: false }',
    "'a' is required but not among properties",
    '/required/0',
  ],
  ['{ type: object, patternProperties: {} }', "unknown keyword 'patternProperties'"],
  [
    '{ type: object, properties: { a: { type: object, propertees: {} } } }',
    "unknown keyword 'propertees'",
    '/properties/a',
  ],
  ['{ type: object, properties: { a/b~c: { typ: string } } }', "unknown keyword 'typ'", '/properties/a/b~c'],
  ['{ type: object, properties: { __proto__: {} } }', "every object has '__proto__'", '/properties/__proto__'],
  ['{ type: object, required: [toString] }', "every object has 'toString'", '/required/0'],
  ['{ type: object, additionalProperties: { typ: string } }', "unknown keyword 'typ'", '/additionalProperties'],
  ['{ anyOf: [] }', 'at least one item is expected', '/anyOf'],
  ['{ not: {} }', "unknown keyword 'not'"],
  ['{ if: {}, then: {} }', "unknown keyword 'if'"],
  ['{ allOf: [{}] }', "unknown keyword 'allOf'"],
  ['{ type: object, anyOf: [{}] }', "'type' beside 'anyOf' is not implemented"],
  ["{ $ref: '#/components/schemas/Nobody' }", "'#/components/schemas/Nobody' does not exist", '/$ref'],
  [
    "{ $ref: 'other.yaml#/Other' }",
    "only '#/components/schemas/Name' is implemented, not 'other.yaml#/Other'",
    '/$ref',
  ],
  ['text', 'a map is expected'],
  ['false', 'a map is expected'],
])('%s is refused: %s', (yaml, problem, at = '') => {
  expect(() => schemaOf(yaml)).toThrow(`#/components/schemas/Field${at}: ${problem}`);
});

test('one run lists every rejected keyword with its place', () => {
  const yaml =
    '{ type: object, properties: { a: { type: strong }, b: { typ: string }, c: { type: string, minLength: x } } }';

  expect(() => schemaOf(yaml)).toThrow(
    [
      `#/components/schemas/Field/properties/a/type: unknown type "strong"; known: string, integer, number, boolean, null, array, object`,
      `#/components/schemas/Field/properties/b: unknown keyword 'typ'; did you mean 'type'?`,
      `#/components/schemas/Field/properties/c/minLength: a number is expected`,
    ].join('\n'),
  );
});

/** The schema of a component among others that it can refer to. */
function schemaOf(yaml: string): Schema {
  const schemas = { Other: { type: 'object' }, Text: { type: 'string' }, Field: parse(yaml) };
  return readDocument({ components: { schemas } }, (spec) =>
    readSchema(spec.get('components').get('schemas').get('Field')),
  );
}

function contractWith(schemas: Readonly<Record<string, Schema>>): Contract {
  const others = { operations: [], examples: [], plans: {}, apiKeyPattern: '', notShown: {} };
  return { schemas: new Map(Object.entries(schemas)), ...others };
}

function oneLine(source: string): string {
  return source.replaceAll(/\s+/g, ' ').trim();
}
