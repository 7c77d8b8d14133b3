/** An operation of the service, as the generated table has it. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET';
  /** `/v1/rates/{date}`: the names in braces are parameters. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: boolean;
  /** 'free-form' sends any parameters as they are; 'named' takes those of `parameters` alone. */
  readonly query: 'none' | 'free-form' | 'named';
  readonly parameters: readonly Parameter[];
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** A whole 200 answer with its envelope; undefined when there is none. */
  readonly example: unknown;
  /** What a 200 answer looks like, where there is no example. */
  readonly sample?: Sample;
  readonly errors: readonly ErrorResponseSpec[];
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly deprecated?: boolean;
  /** For help: 'string', 'date', 'integer', 'asc|desc', … */
  readonly type: string;
  /** JSON types of one value. */
  readonly types: readonly ScalarType[];
  /** The only values there are; absent when there are others. */
  readonly choices?: readonly (string | number | boolean)[];
  /** How several values are written, `a=1,2` or `a=1&a=2`; absent for one value. */
  readonly list?: 'comma' | 'repeated';
  /** What the service assumes without the parameter. */
  readonly default?: unknown;
  /** A valid value; undefined when none is known. */
  readonly example: unknown;
}

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean';

export interface ErrorResponseSpec {
  readonly status: number | '4XX' | '5XX' | 'default';
  /** `error.code`; undefined when the service does not show it. */
  readonly code: string | undefined;
  readonly headers: readonly string[];
  /** A whole answer with its envelope; undefined when there is none. */
  readonly example: unknown;
}

/** A schema without references, from which an answer can be made. */
export type Sample =
  /** One of these values. */
  | { readonly kind: 'values'; readonly values: readonly unknown[] }
  | { readonly kind: 'number'; readonly from: number; readonly to: number; readonly step: number }
  /** An item each. */
  | { readonly kind: 'list'; readonly items: readonly Sample[] }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, Sample>> };
