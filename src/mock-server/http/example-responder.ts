import type { Operation } from '../../generated/operations.ts';
import { querySchemas } from '../../generated/schemas.ts';
import { badParameter } from './bad-parameter.ts';
import type { Responder } from './responder.ts';
import { errorResponse, successResponse } from './service-response.ts';

/** An operation without a responder of its own: checks the named parameters and answers the example of openapi.yaml. */
export const exampleResponder: Responder = ({ operation, query }, { behaviour }) => {
  const problem = operation.query === 'named' ? queryProblem(operation, query) : undefined;
  const refusal = problem === undefined ? undefined : badParameter(problem, behaviour);
  if (refusal !== undefined) return refusal;
  if (!isSuccessEnvelope(operation.example)) {
    return errorResponse({
      status: 501,
      code: 'not_implemented',
      message: `openapi.yaml has no example for ${operation.id}.`,
    });
  }
  return successResponse(operation.example.data);
};

/** What is wrong with the query, by the schema generated for it; `undefined` if nothing is. */
function queryProblem(operation: Operation, query: URLSearchParams): string | undefined {
  const schema = Object.entries(querySchemas).find(([id]) => id === operation.id)?.[1];
  const result = schema?.safeParse(typedQuery(operation, query));
  if (result === undefined || result.success) return undefined;
  return result.error.issues
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
    .join('; ');
}

/** Text from the URL as the types the schema asks for; what does not fit stays text, and the schema refuses it. */
function typedQuery({ parameters }: Operation, query: URLSearchParams): Record<string, unknown> {
  const types = new Map(parameters.map(({ name, type }) => [name, type]));
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const values = query.getAll(name).map((value) => typed(value, types.get(name)));
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

function typed(value: string, type: string | undefined): unknown {
  if ((type === 'integer' || type === 'number') && value.trim() !== '' && !Number.isNaN(Number(value))) {
    return Number(value);
  }
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function isSuccessEnvelope(example: unknown): example is { readonly data: unknown } {
  return typeof example === 'object' && example !== null && 'data' in example;
}
