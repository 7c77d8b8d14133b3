import type { Contract, Operation, Parameter, Schemas } from './contract.ts';
import { jsdoc, literal, propertyKey } from './source.ts';

/** `operations.ts`: the data that the client, the CLI and the mock server need about each operation; no code. */
export function writeOperations({ operations }: Contract): string {
  return `import type { Operation } from '../operation.ts';

/** The operations of the service, by name. */
export const operations = {
${operations.map((operation) => `${operation.id}: ${literal(entry(operation))},\n`).join('')}
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
`;
}

function entry({ id, path, summary, description, isDeprecated, query, ...operation }: Operation) {
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
    errors: operation.errors,
  };
}

function parameter({ examples: _, node: __, schema: ___, ...known }: Parameter) {
  return known;
}

/** `operation-methods.ts`: a typed method for each operation. */
export function writeMethods({ operations, schemas }: Contract): string {
  return `
import type { ApiCall, WithNumbers } from '../client/call/api-call.ts';
import type { AnyCallOptions, CallOptions, Numbers, SchemaOutput, StandardSchema } from '../client/options/call-options.ts';
import type { OperationId } from './operations.ts';
import type * as types from './types.ts';

/** Query and data of each operation. No interface: the declarations of a program that exports a method could not name it. */
export type OperationTypes = {
${operations.map(types).join('\n')}
};

/** A method for each operation of the service; the client says how a request is sent. */
export abstract class OperationMethods<ClientNumbers extends Numbers = 'number'> {
  protected abstract request<Data>(
    id: OperationId, query: object | undefined, options: AnyCallOptions | undefined): ApiCall<Data>;

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
  const parametersWith = (options: string) => `${queryType && `query${mark}: ${queryType}, `}options?: ${options}`;
  const beforeSchema = queryType && `query: ${queryType}${isRequired ? '' : ' | undefined'}, `;
  const dataType = `WithNumbers<types.${data}, ClientNumbers>`;
  const isOpen = hasOpenData(schemas, data);
  const [generic, result] = isOpen ? [`<Data = ${dataType}>`, 'Data'] : ['', dataType];
  const plain = isOpen ? ['The type parameter `Data` says the type of the data; it is not checked.'] : [];
  return `
${jsdoc(documentation(operation, 'The data is checked and typed by `options.schema`, a schema of your own.'))}${id}<Schema extends StandardSchema>(${beforeSchema}options: CallOptions<Schema> & { readonly schema: Schema }): ApiCall<SchemaOutput<Schema>>;
${jsdoc(documentation(operation, ...plain))}${id}${generic}(${parametersWith('CallOptions')}): ApiCall<${result}>;
${id}(${parametersWith('AnyCallOptions')}): ApiCall<unknown> {
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

/** `service.ts`: facts about the service that do not belong to one operation. */
export function writeService({ plans, apiKeyPattern, notShown }: Contract): string {
  return `
/** What an account plan allows. */
export interface Plan {
  readonly title: string;
  readonly rateLimitPerMinute: number;
  /** Requests per month; null for no limit. */
  readonly monthlyLimit: number | null;
  /** API keys that may be active at once; null when not shown. */
  readonly maxActiveKeys: number | null;
}

export const plans = ${literal(plans)} as const satisfies Record<string, Plan>;

/** Name of a plan. */
export type PlanName = keyof typeof plans;

/** Regular expression of an API key. */
export const apiKeyPattern = ${literal(apiKeyPattern)};

/** What the service's specification leaves open, by name. */
export const notShown = ${literal(notShown)} as const satisfies Record<string, string>;

export type NotShown = keyof typeof notShown;
`;
}
