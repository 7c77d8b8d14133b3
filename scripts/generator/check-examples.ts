import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { transformSync } from 'esbuild';
import type * as z from 'zod/mini';
import { sampleValue } from '../../src/mock-server/http/responders.ts';
import { randomFromSeed } from '../../src/mock-server/service/random.ts';
import type { Sample } from '../../src/operation.ts';
import type { Contract, Operation, Query } from './contract.ts';
import { freeName } from './names.ts';
import { sampleOf } from './sample-schema.ts';
import type { Schema, Schemas } from './schema.ts';
import type { SpecNode } from './spec-node.ts';
import { writeSchemas } from './write-schemas.ts';

/**
 * Returns the contract with the valid examples of each parameter, and with a sample for each response without an
 * example. Rejects examples that the generated schemas reject: the client would reject the mock server's response.
 */
export function checkExamples(contract: Contract, spec: SpecNode): Contract {
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
  if (!spec.isClean) return contract; // a sample would repeat the invalid example
  const operations = contract.operations.map((operation) => ({
    ...operation,
    query: withExamples(operation.query, contract.schemas, schemas),
    sample: operation.example === undefined ? sampleOfResponse(operation, contract.schemas, schemas) : undefined,
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

/** The mock server makes responses from the sample. The sample must be valid with every seed. */
function sampleOfResponse(
  { response, node }: Operation,
  types: Schemas,
  schemas: GeneratedSchemas,
): Sample | undefined {
  const sample = sampleOf({ kind: 'reference', name: response }, types);
  const seeds = Array.from({ length: 20 }, (_, seed) => seed);
  const problems =
    sample && seeds.map((seed) => problemOf(schemas[response], sampleValue(sample, randomFromSeed(seed))));
  const problem =
    problems === undefined ? 'no value of a usable size was found' : problems.find((found) => found !== undefined);
  if (problem !== undefined) node.refuse(`no response can be generated from the schema (${problem}); give an example`);
  return sample;
}

function withExamples(query: Query, types: Schemas, schemas: GeneratedSchemas): Query {
  if (query.kind !== 'named') return query;
  const { shape } = schemas[query.schema] as z.ZodMiniObject; // `querySchema` writes it
  const parameters = query.parameters.map((parameter) => {
    const { name, schema, node, required } = parameter;
    const sample = sampleOf(schema, types);
    const values = [...parameter.examples, ...(sample ? [sampleValue(sample, randomFromSeed(0))] : [])];
    const examples = values.filter(
      (value) => problemOf(shape[name] as z.ZodMiniType, value) === undefined && isWritable(value),
    );
    if (required && examples.length === 0) node.refuse('no valid value can be made from the schema; give an example');
    return { ...parameter, examples };
  });
  return { ...query, parameters };
}

/** A URL cannot contain an empty list or an empty part of a path. */
function isWritable(value: unknown): boolean {
  return [value].flat().length > 0 && value !== '';
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
