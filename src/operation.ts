/** An operation of the service, as in the generated table. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET';
  /** Such as `/v1/rates/{date}`, with the names of parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** `'free-form'`: any parameters are sent unchanged. `'named'`: only those of `parameters` are accepted. */
  readonly query: 'none' | 'free-form' | 'named';
  readonly parameters: readonly Parameter[];
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** The complete body of a 200 response: the example of openapi.yaml, or one made from its schema. */
  readonly example: unknown;
  readonly errors: readonly ErrorResponseSpec[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly deprecated?: boolean;
  /** For help, such as `string`, `date` or `asc|desc`. */
  readonly type: string;
  /** JSON types of one value. */
  readonly types: readonly ScalarType[];
  /** The only valid values; `undefined` if others are valid too. */
  readonly choices?: readonly (string | number | boolean)[];
  /** Form of several values: `a=1,2` or `a=1&a=2`; `undefined` for a single value. */
  readonly list?: 'comma' | 'repeated';
  /** The value that the service uses without the parameter. */
  readonly default?: unknown;
  /** A valid value; `undefined` if none is known. */
  readonly example: unknown;
}

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean';

export interface ErrorResponseSpec {
  readonly status: number | '4XX' | '5XX' | 'default';
  /** `error.code`; `undefined` if it is not documented. */
  readonly code: string | undefined;
  readonly headers: readonly string[];
  /** The complete body; `undefined` if openapi.yaml has no example. */
  readonly example: unknown;
}
