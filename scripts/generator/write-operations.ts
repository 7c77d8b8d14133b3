import type { Contract, Operation, Parameter } from './contract.ts';
import { literal } from './source.ts';

/** `operations.ts`: the data that the client, the CLI and the mock server need about each operation; no code. */
export function writeOperations({ operations }: Contract): string {
  return `import type { Operation } from '../operation.ts';

export type { ErrorResponseSpec, Operation, Parameter, Sample } from '../operation.ts';

/** The operations of the service, by name. */
export const operations = {
${operations.map((operation) => `${operation.id}: ${literal(entry(operation))},\n`).join('')}
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
`;
}

function entry({ id, path, summary, description, isDeprecated, query, sample, ...operation }: Operation) {
  return {
    id,
    method: 'GET',
    path,
    summary,
    description,
    ...(isDeprecated ? { deprecated: true } : {}),
    query: query.kind,
    parameters: query.kind === 'named' ? query.parameters.map(parameter) : [],
    consumesQuota: operation.consumesQuota,
    worksWhenQuotaExhausted: operation.worksWhenQuotaExhausted,
    example: operation.example,
    ...(sample === undefined ? {} : { sample }),
    errors: operation.errors,
  };
}

function parameter({ examples, node: _, schema: __, ...known }: Parameter) {
  return { ...known, example: examples[0] };
}
