// Generated from openapi.yaml by npm run generate. Do not edit.

import type { ApiCall, WithNumbers } from '../client/call/api-call.ts';
import type {
  AnyCallOptions,
  CallOptions,
  Numbers,
  SchemaOutput,
  StandardSchema,
} from '../client/options/call-options.ts';
import type { OperationId } from './operations.ts';
import type * as types from './types.ts';

/** Query and data of each operation. No interface: the declarations of a program that exports a method could not name it. */
export type OperationTypes = {
  readonly latest: { readonly query: types.LatestQuery; readonly data: types.LatestData };
  readonly quota: { readonly query: undefined; readonly data: types.QuotaData };
};

/** A method for each operation of the service; the client says how a request is sent. */
export abstract class OperationMethods<ClientNumbers extends Numbers = 'number'> {
  protected abstract request<Data>(
    id: OperationId,
    query: object | undefined,
    options: AnyCallOptions | undefined,
  ): ApiCall<Data>;

  /**
   * Latest exchange rates.
   *
   * The service does not document the parameters and the fields of this endpoint, so they are neither checked nor
   * changed.
   *
   * Uses one request of the monthly quota.
   *
   * The data is checked and typed by `options.schema`, a schema of your own.
   *
   * Rejects with an `FxRatesError`; its `kind` says what went wrong.
   */
  latest<Schema extends StandardSchema>(
    query: types.LatestQuery | undefined,
    options: CallOptions<Schema> & { readonly schema: Schema },
  ): ApiCall<SchemaOutput<Schema>>;
  /**
   * Latest exchange rates.
   *
   * The service does not document the parameters and the fields of this endpoint, so they are neither checked nor
   * changed.
   *
   * Uses one request of the monthly quota.
   *
   * The type parameter `Data` says the type of the data; it is not checked.
   *
   * Rejects with an `FxRatesError`; its `kind` says what went wrong.
   */
  latest<Data = WithNumbers<types.LatestData, ClientNumbers>>(
    query?: types.LatestQuery,
    options?: CallOptions,
  ): ApiCall<Data>;
  latest(query?: types.LatestQuery, options?: AnyCallOptions): ApiCall<unknown> {
    return this.request('latest', query, options);
  }

  /**
   * Plan, usage, limits and reset time of the key.
   *
   * Never consumes quota, and works when the monthly quota is exhausted. It can be rate-limited like any other
   * request.
   *
   * Free: never consumes quota.
   *
   * The data is checked and typed by `options.schema`, a schema of your own.
   *
   * Rejects with an `FxRatesError`; its `kind` says what went wrong.
   */
  quota<Schema extends StandardSchema>(
    options: CallOptions<Schema> & { readonly schema: Schema },
  ): ApiCall<SchemaOutput<Schema>>;
  /**
   * Plan, usage, limits and reset time of the key.
   *
   * Never consumes quota, and works when the monthly quota is exhausted. It can be rate-limited like any other
   * request.
   *
   * Free: never consumes quota.
   *
   * Rejects with an `FxRatesError`; its `kind` says what went wrong.
   */
  quota(options?: CallOptions): ApiCall<WithNumbers<types.QuotaData, ClientNumbers>>;
  quota(options?: AnyCallOptions): ApiCall<unknown> {
    return this.request('quota', undefined, options);
  }
}
