import type { OperationMethods } from '../generated/operation-methods.ts';
import type { OperationId, operations } from '../generated/operations.ts';

/** The operations that take a query. */
export type QueryOperation = {
  [Id in OperationId]: (typeof operations)[Id]['query'] extends 'none' ? never : Id;
}[OperationId];

/** The query of an operation; `undefined` if it takes none. */
export type OperationQuery<Id extends OperationId> = Id extends QueryOperation
  ? NonNullable<Parameters<OperationMethods[Id]>[0]>
  : undefined;

/** The data that an operation returns. */
export type OperationData<Id extends OperationId> = Awaited<ReturnType<OperationMethods[Id]>>;
