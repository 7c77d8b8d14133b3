import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type * as z from 'zod/mini';
import { STRING_FORMATS } from '../../scripts/generator/contract.ts';
import { exampleOf } from '../../scripts/generator/examples.ts';
import { contractOf } from '../../scripts/generator/main.ts';
import { typeName } from '../../scripts/generator/names.ts';
import { type OperationId, operations } from '../../src/generated/operations.ts';
import * as generated from '../../src/generated/schemas.ts';
import type { Operation } from '../../src/operation.ts';
import { GeneratedProject } from '../generator/generated-project.ts';
import { inLongRuns } from '../helpers/long-tests.ts';
import { mutated } from '../helpers/mutated.ts';

const ROOT = join(import.meta.dirname, '../..');

const { latest, quota } = operations;
const rateLimited = latest.errors[0].example;

/** Valid values of components of openapi.yaml, in addition to those that its schemas generate. */
const CONTRACT: Readonly<Record<string, readonly unknown[]>> = {
  LatestData: [latest.example.data, {}, { base: 'EUR', rates: { USD: 1.1 }, at: [1, 2] }],
  LatestResponse: [latest.example, { success: true, data: {} }],
  QuotaData: [
    quota.example.data,
    { ...quota.example.data, resets_at: '2026-02-01T05:30:00+05:30' },
    { ...quota.example.data, plan: 'unlimited', monthly_limit: null, extra: { a: [1] } },
  ],
  QuotaResponse: [quota.example, { ...quota.example, request_id: 'r-1' }],
  ErrorDetail: [rateLimited.error, { code: 'other', message: '', status: 503, hint: 'later' }],
  ErrorResponse: [rateLimited, { success: false, error: { code: 'x', message: 'y', status: 401 }, at: 1 }],
};

/** Valid values of each component of the stress spec, which uses every keyword that the generator implements. */
const STRESS = {
  Anything: [null, { a: [1, 'b'] }],
  Code: ['EUR'],
  Words: ['ab', '😀😀😀😀', '\ud800a'],
  Moment: ['2026-02-01T00:00:00.000Z', '2026-02-01T00:00:00-05:30'],
  Day: ['2026-01-02', '2024-02-29'],
  Level: ['low', 3, true, null],
  Answer: [42],
  Open: ['free', 'other'],
  Amount: [1, 1000.5, 5e-324],
  Share: [-1, 0, 0.999],
  Count: [0, 10],
  Mixed: [null, 'text', 5, true, [1, 2.5]],
  Closed: [{ kind: 'closed', count: 0, note: null, 'odd name': true, nested: { deep: 1 } }],
  Empty: [{}],
  Named: [{ EUR: 1.5, USD: 2 }, {}],
  Table: [{ base: 'EUR', scale: 4, USD: 1.1 }],
  List: [['a', [true, false], 'b']],
  Base: [{ id: 'a', tags: ['b'] }],
  Either: [{ a: 1 }, { b: 2, c: 'c' }, { a: 'no', b: 2 }, 1.5],
  Shape: [{ kind: 'closed', count: 1 }, 'EUR', { later: true }],
  Tree: [{ value: 1, children: [{ value: 2, children: [{ value: 3 }] }], more: {} }],
  Later: [{ later: false }],
  Merged: [{ id: 'abc', size: 1, tags: ['b'], more: null }],
  Choice: [{ a: 'a' }, { b: 1, c: null }, { a: 'a', b: 1 }],
  Chosen: ['bcd', 3, null],
  Short: ['abc', [1, 2], [1, 2, 3]],
  Steps: [-8, 0, 4, 12],
  Fives: [-5, 0, 9007199254740990],
  Unique: [[], [1, '1'], ['a', 'b', 2]],
  Few: [{ a: 1 }, { a: 1, b: 2.5 }],
  ClosedResponse: [{ success: true, data: { kind: 'closed', count: 1 }, more: null }],
  ErrorResponse: [{ success: false, error: {} }],
};

/**
 * ajv-formats also accepts texts that RFC 3339 forbids (a space for the T, an offset without minutes or colon). zod
 * rejects lower-case letters and leap seconds, which few programs write and `Date` cannot read. Neither is tested.
 */
const USUAL_DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const contract = await readFile(join(ROOT, 'openapi.yaml'), 'utf8');
const stress = await readFile(join(ROOT, 'test/fixtures/stress.openapi.yaml'), 'utf8');
const stressProject = await GeneratedProject.create(parse(stress));
const stressSchemas = await stressProject.load('schemas.ts');

const { schemas } = await contractOf(parse(contract));
const contractOracle = jsonSchemaOracle(contract);
const stressOracle = jsonSchemaOracle(stress);

test.each(componentNames(contract))('%s accepts the same values as JSON Schema, unchanged', async (name) => {
  const valid = await expectAgreement({
    schema: schemaNamed(generated, typeName(name)!),
    oracle: contractOracle(name),
    examples: [...(CONTRACT[name] ?? []), ...samplesOf(name)],
    runs: inLongRuns(10_000, 1_000),
  });

  expect(valid).toBeGreaterThan(inLongRuns(500, 50));
});

test.each(Object.entries(STRESS))('%s accepts the same values as JSON Schema, unchanged', async (name, examples) => {
  const valid = await expectAgreement({
    schema: schemaNamed(stressSchemas, name),
    oracle: stressOracle(name),
    examples,
    runs: inLongRuns(4_000, 500),
  });

  expect(valid).toBeGreaterThan(inLongRuns(400, 50));
});

test('every component of the stress spec is compared', () => {
  expect(Object.keys(STRESS)).toEqual(componentNames(stress));
});

test.each([
  ['a lower-case T or Z', '2026-02-01t00:00:00z'],
  ['a leap second', '2026-12-31T23:59:60Z'],
  ['a space for the T', '2026-02-01 00:00:00Z'],
  ['an offset without minutes', '2026-02-01T00:00:00+01'],
  ['an offset without a colon', '2026-02-01T00:00:00+0100'],
])('rejects a date-time with %s, although ajv accepts it', (_, text) => {
  expect(schemaNamed(stressSchemas, 'Moment').safeParse(text).success).toBe(false);
  expect(fullFormats['date-time']).toSatisfy(({ validate }) => validate(text));
});

test('removes a field called __proto__ from open objects and rejects it in closed ones', () => {
  const parsed = schemaNamed(generated, 'LatestData').parse(JSON.parse('{"a":1,"__proto__":{"polluted":true}}'));
  const closed = schemaNamed(stressSchemas, 'Empty').safeParse(JSON.parse('{"__proto__":1}'));

  expect(parsed).toEqual({ a: 1 });
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
  expect({}).not.toHaveProperty('polluted');
  expect(closed.success).toBe(false);
});

test.each(Object.values<Operation>(operations))('the schemas accept the examples of $id', (operation) => {
  const { id, example, errors } = operation;

  expect(generated.responseSchemas[id as OperationId].parse(example)).toEqual(example);
  for (const error of errors) {
    if (error.example !== undefined) expect(generated.ErrorResponse.parse(error.example)).toEqual(error.example);
  }
});

/** The value that the generator makes from the schema. */
function samplesOf(component: string): readonly unknown[] {
  return [exampleOf({ kind: 'reference', name: typeName(component)! }, schemas)].filter((value) => value !== undefined);
}

function schemaNamed(module: Readonly<Record<string, unknown>>, name: string): z.ZodMiniType {
  return module[name] as z.ZodMiniType;
}

function componentNames(spec: string): string[] {
  return Object.keys(parse(spec).components.schemas);
}

interface Compared {
  readonly schema: z.ZodMiniType;
  /** The same check in another implementation. */
  readonly oracle: (value: unknown) => boolean;
  /** Valid values, from which the other values are made. */
  readonly examples: readonly unknown[];
  readonly runs: number;
}

/** Expects that both accept the same values and that parsing changes none. Returns the number of valid values. */
async function expectAgreement({ schema, oracle, examples, runs }: Compared): Promise<number> {
  let valid = 0;
  for (const example of examples) expect(oracle(example), `${JSON.stringify(example)} is a valid example`).toBe(true);
  const agree = (value: unknown) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) valid += 1;
    return parsed.success === oracle(value) && (!parsed.success || isDeepStrictEqual(parsed.data, value));
  };
  await fc.assert(fc.property(mutated(examples), agree), { numRuns: runs, seed: 20260121 });
  return valid;
}

/** Validates values of a component with ajv, which reads the same document independently. */
function jsonSchemaOracle(spec: string): (component: string) => (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv, [...STRING_FORMATS]); // all others are only notes
  const dateTime = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => USUAL_DATE_TIME.test(text) && dateTime.validate(text));
  ajv.addSchema({ $id: 'spec', ...parse(spec) }, undefined, undefined, false);
  return (component) => ajv.compile({ $ref: `spec#/components/schemas/${component}` });
}
