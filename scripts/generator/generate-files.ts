import { structureProblems } from './check-structure.ts';
import type { Contract } from './contract.ts';
import { withExamples } from './examples.ts';
import { readContract } from './read-contract.ts';
import { readDocument } from './spec-node.ts';
import { writeMethods, writeOperations, writeService } from './write-operations.ts';
import { writeSchemas } from './write-schemas.ts';
import { writeTypes } from './write-types.ts';

const BANNER = '// Generated from openapi.yaml by npm run generate. Do not edit.\n\n';

/** Returns the generated files by name, not formatted yet. */
export function generateFiles(contract: Contract): Map<string, string> {
  const files = {
    'operation-methods.ts': writeMethods(contract),
    'operations.ts': writeOperations(contract),
    'schemas.ts': writeSchemas(contract),
    'service.ts': writeService(contract),
    'types.ts': writeTypes(contract),
  };
  return new Map(Object.entries(files).map(([name, text]) => [name, `${BANNER}${text.trim()}\n`]));
}

/** Reads the contract from a document. @throws SpecError with all problems of the document */
export async function contractOf(document: unknown): Promise<Contract> {
  const problems = await structureProblems(document);
  return readDocument(
    document,
    (spec) => {
      const contract = readContract(spec);
      return spec.isClean && problems.length === 0 ? withExamples(contract, spec) : contract;
    },
    problems,
  );
}
