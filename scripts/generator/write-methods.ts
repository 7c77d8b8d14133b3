import type { Contract, Operation } from './contract.ts';
import { jsdoc, literal } from './source.ts';

/** `operation-methods.ts`: a typed method for each operation. */
export function writeMethods({ operations }: Contract): string {
  return `
import type { ApiCall, CallOptions, SchemaCallOptions } from '../client/api-call.ts';
import type { Numbers, WithNumbers } from '../client/numbers.ts';
import type { SchemaOutput, StandardSchema } from '../client/standard-schema.ts';
import type { OperationId } from './operations.ts';
import type * as types from './types.ts';

/** A method for each operation of the service; the client says how a request is sent. */
export abstract class OperationMethods<ClientNumbers extends Numbers = 'number'> {
  protected abstract request<Data>(
    id: OperationId, query: object | undefined, options: CallOptions | undefined): ApiCall<Data>;

${operations.map(methods).join('\n')}
}
`;
}

function methods(operation: Operation): string {
  const { id, query, data } = operation;
  const isRequired = query.kind === 'named' && query.parameters.some(({ required }) => required);
  const mark = isRequired ? '' : '?';
  const queryType = query.kind === 'none' ? '' : `types.${query.schema}`;
  const parameters = `${queryType && `query${mark}: ${queryType}, `}options?: CallOptions`;
  const beforeSchema = queryType && `query: ${queryType}${isRequired ? '' : ' | undefined'}, `;
  return `
${jsdoc(documentation(operation, 'The data is checked and typed by `options.schema`, a schema of your own.'))}${id}<Schema extends StandardSchema>(${beforeSchema}options: SchemaCallOptions<Schema>): ApiCall<SchemaOutput<Schema>>;
${jsdoc(documentation(operation, 'Returns numbers in the form that `options.numbers` selects: text with all digits, or the results of a function.'))}${id}<Chosen extends Numbers | undefined>(${beforeSchema}options: CallOptions & { readonly numbers: Chosen }): ApiCall<WithNumbers<types.${data}, Chosen, ClientNumbers>>;
${jsdoc(documentation(operation))}${id}(${parameters}): ApiCall<WithNumbers<types.${data}, ClientNumbers>>;
${id}(${parameters}): ApiCall<unknown> {
  return this.request(${literal(id)}, ${queryType ? 'query' : 'undefined'}, options);
}
`;
}

function documentation({ summary, description, consumesQuota, isDeprecated }: Operation, ...more: string[]): string {
  const cost = consumesQuota ? 'Uses one request of the monthly quota.' : 'Free: never consumes quota.';
  const failure = 'Rejects with an `FxRatesError`; its `kind` says what went wrong.';
  const deprecation = isDeprecated ? ['@deprecated'] : [];
  return [summary.replace(/\.?$/, '.'), description, cost, ...more, failure, ...deprecation].join('\n\n');
}
