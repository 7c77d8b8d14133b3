import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { transformSync } from 'esbuild';
import fc from 'fast-check';
import type * as z from 'zod/mini';
import { isJsonObject } from '../../src/json.ts';
import type {
  ArraySchema,
  Contract,
  NumberSchema,
  ObjectSchema,
  Operation,
  Query,
  Schema,
  Schemas,
  StringSchema,
} from './contract.ts';
import { freeName } from './names.ts';
import type { SpecNode } from './spec-node.ts';
import { writeSchemas } from './write-schemas.ts';

/**
 * Returns the contract with the valid examples of each parameter, and with an example for each response. Rejects
 * examples that the generated schemas reject: the client would reject the mock server's response.
 */
export function withExamples(contract: Contract, spec: SpecNode): Contract {
  const inner = innerExamples(contract);
  const schemas = loadSchemas(writeSchemas({ ...contract, schemas: new Map([...contract.schemas, ...inner]) }));
  for (const { type, node } of contract.examples) {
    const problem = problemOf(schemas[type], node.value);
    if (problem !== undefined) node.refuse(`the example is not a valid ${type}: ${problem}`);
  }
  for (const [type, { example }] of inner) {
    const problem = example && problemOf(schemas[type], example.value);
    if (problem !== undefined) example?.refuse(`the example does not match its schema: ${problem}`);
  }
  if (!spec.isClean) return contract; // an example made from the schema would repeat the invalid one
  const operations = contract.operations.map((operation) => ({
    ...operation,
    query: withParameterExamples(operation.query, contract.schemas, schemas),
    example: operation.example ?? responseExample(operation, contract.schemas, schemas),
  }));
  return { ...contract, operations };
}

/** Every schema with an example, under a name of its own. */
function innerExamples({ schemas }: Contract): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  for (const schema of schemas.values()) collect(schema);
  return found;

  function collect(schema: Schema): void {
    const name = freeName(`Example${found.size}`, (taken) => schemas.has(taken) || found.has(taken));
    if (schema.example !== undefined) found.set(name, schema);
    for (const member of innerSchemas(schema)) collect(member);
  }
}

function innerSchemas(schema: Schema): readonly Schema[] {
  switch (schema.kind) {
    case 'array':
      return [schema.items];
    case 'tuple':
      return [...schema.items, ...(schema.rest ? [schema.rest] : [])];
    case 'object':
      return [...schema.properties.map((property) => property.schema), ...(schema.rest ? [schema.rest] : [])];
    case 'any':
    case 'one':
    case 'all':
      return schema.members;
    default:
      return [];
  }
}

/** The mock server sends it if the document has no example of the response. */
function responseExample({ response, node }: Operation, types: Schemas, schemas: GeneratedSchemas): unknown {
  const example = exampleOf({ kind: 'reference', name: response }, types);
  const problem = example === undefined ? 'no value of a usable size was found' : problemOf(schemas[response], example);
  if (problem !== undefined) node.refuse(`no response can be generated from the schema (${problem}); give an example`);
  return example;
}

function withParameterExamples(query: Query, types: Schemas, schemas: GeneratedSchemas): Query {
  if (query.kind !== 'named') return query;
  const { shape } = schemas[query.schema] as z.ZodMiniObject; // `querySchema` writes it
  const parameters = query.parameters.map((parameter) => {
    const { name, schema, node, required } = parameter;
    const examples = [...parameter.examples, exampleOf(schema, types)].filter(
      (value) => isWritable(value) && problemOf(shape[name] as z.ZodMiniType, value) === undefined,
    );
    if (required && examples.length === 0) node.refuse('no valid value can be made from the schema; give an example');
    return { ...parameter, examples };
  });
  return { ...query, parameters };
}

/** A URL cannot contain an empty list or an empty part of a path. */
function isWritable(value: unknown): boolean {
  return [value].flat().length > 0 && value !== '' && value !== undefined;
}

function problemOf(schema: z.ZodMiniType | undefined, value: unknown): string | undefined {
  const [issue] = schema?.safeParse(value).error?.issues ?? [];
  return issue && [issue.path.join('.'), issue.message].filter((text) => text !== '').join(': ');
}

type GeneratedSchemas = Readonly<Record<string, z.ZodMiniType>>;

/** Compiles the generated source and returns its schemas. */
function loadSchemas(source: string): GeneratedSchemas {
  const { code } = transformSync(source, { loader: 'ts', format: 'cjs' });
  const module = { exports: {} };
  compileFunction(code, ['module', 'require'])(module, createRequire(import.meta.url));
  return module.exports;
}

/** A value made from the schema, which may still be invalid; `undefined` if none of a usable size is found. */
export function exampleOf(schema: Schema, schemas: Schemas, within: readonly string[] = []): unknown {
  if (schema.example !== undefined) return schema.example.value;
  const inner = (member: Schema) => exampleOf(member, schemas, within);
  switch (schema.kind) {
    case 'unknown':
      return {};
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'literals':
      return schema.values[0];
    case 'string':
      return exampleText(schema);
    case 'number':
      return exampleNumber(schema);
    case 'array':
      return exampleList(schema, inner);
    case 'tuple':
      return complete(schema.items.map(inner));
    case 'object':
      return exampleObject(schema, inner);
    case 'any':
    case 'one':
      return schema.members.map(inner).find((value) => value !== undefined);
    case 'all':
      return complete(schema.members.map(inner))?.reduce(merged);
    case 'reference': {
      const target = within.includes(schema.name) ? undefined : schemas.get(schema.name);
      return target && exampleOf(target, schemas, [...within, schema.name]);
    }
  }
}

type Example = (schema: Schema) => unknown;

function complete(values: readonly unknown[]): readonly unknown[] | undefined {
  return values.includes(undefined) ? undefined : values;
}

/** A longer text or list would make a response that no test can use. */
const LONGEST_EXAMPLE = 10_000;

function exampleText({ format, knownValues, pattern, minLength = 0, maxLength }: StringSchema): string | undefined {
  if (format !== undefined) return format === 'date' ? '2026-01-21' : '2026-01-21T14:20:00.000Z';
  if (knownValues !== undefined) return knownValues[0];
  if (minLength > LONGEST_EXAMPLE) return undefined;
  if (pattern === undefined) return 'text'.padEnd(minLength, '.').slice(0, maxLength);
  return textsMatching(pattern).find(
    (text) => /^[\x20-\x7e]+$/.test(text) && text.length >= minLength && text.length <= (maxLength ?? 1_000),
  );
}

/** Texts that match the pattern; none if it has a part for which fast-check makes no text, such as a lookahead. */
function textsMatching(pattern: string): readonly string[] {
  const expression = new RegExp(pattern, 'u');
  try {
    return fc.sample(fc.stringMatching(expression), { seed: 1, numRuns: 100 });
  } catch {
    return [];
  }
}

/** The lowest number that the schema allows; without a lower limit, one step. */
function exampleNumber(schema: NumberSchema): number | undefined {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const step = schema.multipleOf ?? (isInteger ? 1 : 0.0001);
  const lowest = Math.max(minimum ?? Number.NEGATIVE_INFINITY, (exclusiveMinimum ?? Number.NEGATIVE_INFINITY) + step);
  const highest = Math.min(maximum ?? Number.POSITIVE_INFINITY, (exclusiveMaximum ?? Number.POSITIVE_INFINITY) - step);
  const start = Number.isFinite(lowest) ? lowest : Math.min(step, highest);
  // Steps have rounding errors: 3 * 0.1.
  const number = Number((Math.ceil(start / step - 1e-9) * step).toPrecision(12));
  return number > highest ? undefined : number;
}

function exampleList({ items, minItems = 0, maxItems = 1 }: ArraySchema, inner: Example): unknown {
  const item = inner(items);
  if (item === undefined || minItems > LONGEST_EXAMPLE) return minItems === 0 ? [] : undefined;
  return Array.from({ length: Math.max(minItems, Math.min(1, maxItems)) }, () => item);
}

function exampleObject(schema: ObjectSchema, inner: Example): unknown {
  const { properties, rest, names } = schema;
  const named = properties.map((property) => [property.name, inner(property.schema)] as const);
  if (named.some(([, value], index) => value === undefined && properties[index]?.isRequired)) return undefined;
  const fields = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  const other = rest && inner(rest);
  if (other === undefined) return fields;
  const missing = missingFields(schema) - Object.keys(fields).length;
  const free = [...(names ? [String(inner(names))] : CURRENCIES)].filter((name) => !(name in fields));
  return { ...fields, ...Object.fromEntries(free.slice(0, Math.max(0, missing)).map((name) => [name, other])) };
}

const CURRENCIES = ['EUR', 'GBP', 'USD', 'JPY', 'CHF'];

/** A map such as rates by currency gets entries, because an empty map would be a poor example. */
function missingFields({ properties, rest, minProperties = 0, maxProperties }: ObjectSchema): number {
  const isMap = properties.length === 0 && rest !== undefined && rest.kind !== 'unknown';
  const wanted = Math.max(minProperties, isMap ? 3 : 0);
  return Math.min(wanted, maxProperties ?? wanted);
}

/** Of two values that an `allOf` requires, the fields of both, or the one that says more. */
function merged(earlier: unknown, later: unknown): unknown {
  if (!isJsonObject(later)) return later;
  if (!isJsonObject(earlier)) return earlier;
  const fields = Object.entries(later).map(([name, value]) => [
    name,
    name in earlier ? merged(earlier[name], value) : value,
  ]);
  return { ...earlier, ...Object.fromEntries(fields) };
}
