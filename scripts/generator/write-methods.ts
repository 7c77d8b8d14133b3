import type { Contract, Operation } from './contract.ts';
import type { Schemas } from './schema.ts';
import { jsdoc, literal, propertyKey } from './source.ts';

/** `operation-methods.ts`: a typed method for each operation. */
export function writeMethods({ operations, schemas }: Contract): string {
  return `
import type { ApiCall, CallOptions, SchemaCallOptions } from '../client/api-call.ts';
import type { Numbers, WithNumbers } from '../client/numbers.ts';
import type { SchemaOutput, StandardSchema } from '../client/standard-schema.ts';
import type { OperationId } from './operations.ts';
import type * as types from './types.ts';

/** Query and data of each operation. */
export interface OperationTypes {
${operations.map(types).join('\n')}
}

/** A method for each operation of the service; the client says how a request is sent. */
export abstract class OperationMethods<ClientNumbers extends Numbers = 'number'> {
  protected abstract request<Data>(
    id: OperationId, query: object | undefined, options: CallOptions | undefined): ApiCall<Data>;

${operations.map((operation) => methods(operation, schemas)).join('\n')}
}
`;
}

function types({ id, query, data }: Operation): string {
  const queryType = query.kind === 'none' ? 'undefined' : `types.${query.schema}`;
  return `readonly ${propertyKey(id)}: { readonly query: ${queryType}; readonly data: types.${data} };`;
}

function methods(operation: Operation, schemas: Schemas): string {
  const { id, query, data } = operation;
  const isRequired = query.kind === 'named' && query.parameters.some(({ required }) => required);
  const mark = isRequired ? '' : '?';
  const queryType = query.kind === 'none' ? '' : `types.${query.schema}`;
  const parameters = `${queryType && `query${mark}: ${queryType}, `}options?: CallOptions`;
  const beforeSchema = queryType && `query: ${queryType}${isRequired ? '' : ' | undefined'}, `;
  const dataType = `WithNumbers<types.${data}, ClientNumbers>`;
  const isOpen = hasOpenData(schemas, data);
  const [generic, result] = isOpen ? [`<Data = ${dataType}>`, 'Data'] : ['', dataType];
  const plain = isOpen ? ['The type parameter `Data` says the type of the data; it is not checked.'] : [];
  return `
${jsdoc(documentation(operation, 'The data is checked and typed by `options.schema`, a schema of your own.'))}${id}<Schema extends StandardSchema>(${beforeSchema}options: SchemaCallOptions<Schema>): ApiCall<SchemaOutput<Schema>>;
${jsdoc(documentation(operation, ...plain))}${id}${generic}(${parameters}): ApiCall<${result}>;
${id}(${parameters}): ApiCall<unknown> {
  return this.request(${literal(id)}, ${queryType ? 'query' : 'undefined'}, options);
}
`;
}

/** Whether the contract names no field of the data. */
function hasOpenData(schemas: Schemas, name: string): boolean {
  const schema = schemas.get(name);
  if (schema?.kind === 'reference') return hasOpenData(schemas, schema.name);
  return (
    schema?.kind === 'unknown' ||
    (schema?.kind === 'object' && schema.properties.length === 0 && schema.rest?.kind === 'unknown')
  );
}

function documentation({ summary, description, consumesQuota, isDeprecated }: Operation, ...more: string[]): string {
  const cost = consumesQuota ? 'Uses one request of the monthly quota.' : 'Free: never consumes quota.';
  const failure = 'Rejects with an `FxRatesError`; its `kind` says what went wrong.';
  const deprecation = isDeprecated ? ['@deprecated'] : [];
  return [summary.replace(/\.?$/, '.'), description, cost, ...more, failure, ...deprecation].join('\n\n');
}
