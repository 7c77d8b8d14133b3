import type { Contract, Operation } from './contract.ts';
import { literal } from './source.ts';

/** `operations.ts`: what the client, the CLI and the mock server need to know of each operation; no code. */
export function writeOperations({ operations }: Contract): string {
  return `${DECLARATIONS}
/** The operations of the service, by name. */
export const operations = {
${operations.map((operation) => `${operation.id}: ${literal(entry(operation))},\n`).join('')}
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
`;
}

function entry({ id, path, summary, description, query, ...operation }: Operation) {
  return {
    id,
    method: 'GET',
    path,
    summary,
    description,
    query: query.kind,
    parameters: query.kind === 'named' ? query.parameters.map(parameter) : [],
    consumesQuota: operation.consumesQuota,
    worksWhenQuotaExhausted: operation.worksWhenQuotaExhausted,
    example: operation.example,
    errors: operation.errors,
  };
}

function parameter({
  name,
  description,
  isRequired,
  type,
}: (Operation['query'] & { kind: 'named' })['parameters'][number]) {
  return { name, description, required: isRequired, type };
}

const DECLARATIONS = `
export interface Operation {
  readonly id: string;
  readonly method: 'GET';
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** 'free-form' sends any parameters as they are; 'named' takes those of \`parameters\` alone. */
  readonly query: 'none' | 'free-form' | 'named';
  readonly parameters: readonly Parameter[];
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** A whole 200 answer, envelope and all. */
  readonly example: unknown;
  readonly errors: readonly ErrorResponseSpec[];
}

export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** For help: 'string', 'date', 'integer', 'asc|desc', … */
  readonly type: string;
}

export interface ErrorResponseSpec {
  readonly status: number | 'default';
  /** \`error.code\`; undefined when the service does not show it. */
  readonly code: string | undefined;
  readonly headers: readonly string[];
  /** A whole answer, envelope and all; undefined when there is none. */
  readonly example: unknown;
}
`;
