import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { transformSync } from 'esbuild';
import type * as z from 'zod/mini';
import { sampleValue } from '../../src/mock-server/http/responders.ts';
import { randomFromSeed } from '../../src/mock-server/service/random.ts';
import type { Sample } from '../../src/operation.ts';
import type { Contract, Operation, Query } from './contract.ts';
import { sampleOf } from './sample-schema.ts';
import type { Schemas } from './schema.ts';
import { writeSchemas } from './write-schemas.ts';

/**
 * Returns the contract with the valid examples of each parameter, and with a sample for each response without an
 * example. Rejects examples that the generated schemas reject: the client would reject the mock server's response.
 */
export function checkExamples(contract: Contract): Contract {
  const schemas = loadSchemas(writeSchemas(contract));
  for (const { type, node } of contract.examples) {
    const problem = problemOf(schemas[type], node.value);
    if (problem !== undefined) node.refuse(`the example is no ${type}: ${problem}`);
  }
  const operations = contract.operations.map((operation) => ({
    ...operation,
    query: withExamples(operation.query, contract.schemas, schemas),
    sample: operation.example === undefined ? sampleOfResponse(operation, contract.schemas, schemas) : undefined,
  }));
  return { ...contract, operations };
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
  const problem = problems === undefined ? 'it has no end' : problems.find((found) => found !== undefined);
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
