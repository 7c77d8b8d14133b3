import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Schema } from '../../scripts/generator/contract.ts';
import { readSchema } from '../../scripts/generator/read-schema.ts';
import { readDocument } from '../../scripts/generator/spec-node.ts';

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
