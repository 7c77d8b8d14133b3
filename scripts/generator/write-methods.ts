import type { Contract, Operation } from './contract.ts';
import { jsdoc, literal } from './source.ts';

/** `operation-methods.ts`: a typed method for each operation. */
export function writeMethods({ operations }: Contract): string {
  return `
import type { ApiCall, CallOptions, SchemaCallOptions } from '../client/api-call.ts';
import type { SchemaOutput, StandardSchema } from '../client/standard-schema.ts';
import type { OperationId } from './operations.ts';
import type { ${typeNames(operations).join(', ')} } from './types.ts';

/** A method for each operation of the service; the client says how a request is sent. */
export abstract class OperationMethods {
  protected abstract request<Data>(
    id: OperationId, query: object | undefined, options: CallOptions | undefined): ApiCall<Data>;

${operations.map(methods).join('\n')}
}
`;
}

function typeNames(operations: readonly Operation[]): string[] {
  const names = operations.flatMap(({ query, data }) => (query.kind === 'none' ? [data] : [data, query.schema]));
  return [...new Set(names)].sort();
}

function methods(operation: Operation): string {
  const { id, query, data } = operation;
  const isRequired = query.kind === 'named' && query.parameters.some((parameter) => parameter.isRequired);
  const optional = query.kind === 'none' ? '' : `query${isRequired ? '' : '?'}: ${query.schema}, `;
  const given = query.kind === 'none' ? '' : `query: ${query.schema}${isRequired ? '' : ' | undefined'}, `;
  return `
${jsdoc(`${documentation(operation)}\n\nThe data is checked and typed by \`options.schema\`, a schema of your own.`)}${id}<Schema extends StandardSchema>(${given}options: SchemaCallOptions<Schema>): ApiCall<SchemaOutput<Schema>>;
${jsdoc(documentation(operation))}${id}(${optional}options?: CallOptions): ApiCall<${data}>;
${id}(${optional}options?: CallOptions): ApiCall<unknown> {
  return this.request(${literal(id)}, ${query.kind === 'none' ? 'undefined' : 'query'}, options);
}
`;
}

function documentation({ summary, description, consumesQuota }: Operation): string {
  const cost = consumesQuota ? 'Uses one request of the monthly quota.' : 'Free: never consumes quota.';
  return [`${summary}.`, description, cost, 'Rejects with an `FxRatesError`; its `kind` says what went wrong.'].join(
    '\n\n',
  );
}
