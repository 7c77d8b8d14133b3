import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { transformSync } from 'esbuild';
import { en as english } from 'zod/locales';
import type * as z from 'zod/mini';
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
import type { SpecNode } from './spec-node.ts';
import { writeSchemas } from './write-schemas.ts';

/**
 * Returns the contract with an example for each parameter and each response. Rejects examples and defaults that the
 * generated schemas reject: the client would reject them, too.
 */
export function withExamples(contract: Contract, spec: SpecNode): Contract {
  const schemas = loadSchemas(writeSchemas(contract));
  for (const { type, node } of contract.examples) {
    const problem = problemOf(schemas[type], node.value);
    if (problem !== undefined) node.refuse(`the example is not a valid ${type}: ${problem}`);
  }
  if (!spec.isClean) return contract;
  const operations = contract.operations.map((operation) => ({
    ...operation,
    query: withParameterExamples(operation.query, contract.schemas, schemas),
    example: operation.example ?? responseExample(operation, contract.schemas, schemas),
  }));
  return { ...contract, operations };
}

/** The mock server sends it if the document has no example of the response. */
function responseExample({ response, node }: Operation, types: Schemas, schemas: GeneratedSchemas): unknown {
  const example = exampleOf({ kind: 'reference', name: response }, types);
  const problem = example === undefined ? 'a value would contain itself' : problemOf(schemas[response], example);
  if (problem !== undefined) node.refuse(`no response can be generated from the schema (${problem}); give an example`);
  return example;
}

function withParameterExamples(query: Query, types: Schemas, schemas: GeneratedSchemas): Query {
  if (query.kind !== 'named') return query;
  const { shape } = schemas[query.schema] as z.ZodMiniObject; // `querySchema` writes it
  const parameters = query.parameters.map((parameter) => {
    const { name, schema, node, required, examples } = parameter;
    const problem = (value: unknown) => problemOf(shape[name] as z.ZodMiniType, value);
    for (const given of examples) {
      const invalid = problem(given.value);
      if (invalid !== undefined) given.refuse(`${JSON.stringify(given.value)} is not valid for '${name}': ${invalid}`);
    }
    const values = [...examples.map(({ value }) => value), exampleOf(schema, types)];
    const example = values.find((value) => isWritable(value) && problem(value) === undefined);
    if (required && example === undefined) node.refuse('no valid value can be made from the schema; give an example');
    return { ...parameter, example };
  });
  return { ...query, parameters };
}

/** A URL cannot contain an empty list or an empty part of a path. */
function isWritable(value: unknown): boolean {
  return [value].flat().length > 0 && value !== '' && value !== undefined;
}

function problemOf(schema: z.ZodMiniType | undefined, value: unknown): string | undefined {
  const [issue] = schema?.safeParse(value, { error: english().localeError }).error?.issues ?? [];
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

/** A value made from the schema, which may still be invalid; `undefined` if it would contain itself. */
export function exampleOf(schema: Schema, schemas: Schemas, within: readonly string[] = []): unknown {
  if (schema.example !== undefined) return schema.example;
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
      return exampleList(schema, inner(schema.items));
    case 'object':
      return exampleObject(schema, inner);
    case 'any':
    case 'one':
      return schema.members.map(inner).find((value) => value !== undefined);
    case 'reference': {
      const target = within.includes(schema.name) ? undefined : schemas.get(schema.name);
      return target && exampleOf(target, schemas, [...within, schema.name]);
    }
  }
}

type Example = (schema: Schema) => unknown;

function exampleText({ format, knownValues, minLength = 0, maxLength }: StringSchema): string | undefined {
  if (format !== undefined) return format === 'date' ? '2026-01-21' : '2026-01-21T14:20:00.000Z';
  return knownValues?.[0] ?? 'text'.padEnd(Math.min(minLength, LONGEST_EXAMPLE), '.').slice(0, maxLength);
}

/** A longer text or list would make a response that no test can use. */
const LONGEST_EXAMPLE = 1_000;

function exampleNumber({ isInteger, ...limits }: NumberSchema): number {
  const step = isInteger ? 1 : 0.0001;
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = limits;
  if (minimum !== undefined) return minimum;
  if (exclusiveMinimum !== undefined) return exclusiveMinimum + step;
  return Math.min(step, maximum ?? step, (exclusiveMaximum ?? Number.POSITIVE_INFINITY) - step);
}

function exampleList({ minItems = 0, maxItems = 1 }: ArraySchema, item: unknown): unknown {
  if (item === undefined) return minItems === 0 ? [] : undefined;
  return Array.from({ length: Math.min(LONGEST_EXAMPLE, Math.max(minItems, Math.min(1, maxItems))) }, () => item);
}

function exampleObject({ properties, rest, names }: ObjectSchema, inner: Example): unknown {
  const named = properties.map((property) => [property.name, inner(property.schema)] as const);
  if (named.some(([, value], index) => value === undefined && properties[index]?.isRequired)) return undefined;
  const fields = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  const other = rest && rest.kind !== 'unknown' ? inner(rest) : undefined;
  if (properties.length > 0 || other === undefined) return fields;
  // A map such as rates by currency gets entries, because an empty map would be a poor example.
  return Object.fromEntries((names ? [String(inner(names))] : ['EUR', 'GBP', 'USD']).map((name) => [name, other]));
}
