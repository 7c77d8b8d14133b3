import type { Scalar, Schema, Schemas } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Everything the generated files are written from. */
export interface Contract {
  /** Those of the components, then those that stand inside operations. */
  readonly schemas: Schemas;
  readonly operations: readonly Operation[];
  /** Examples of the document, and the type that each must have. */
  readonly examples: readonly Example[];
  /** Copied as they are: `x-plans`, `x-api-key`, `x-not-shown`. */
  readonly plans: unknown;
  readonly apiKeyPattern: string;
  readonly notShown: unknown;
}

export interface Example {
  readonly type: string;
  readonly node: SpecNode;
}

export interface Operation {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated: boolean;
  readonly query: Query;
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** Type of the whole answer. */
  readonly response: string;
  /** Type of the answer's `data`. */
  readonly data: string;
  readonly example: unknown;
  /** The place of the success response, for what is found out later. */
  readonly node: SpecNode;
  readonly errors: readonly ErrorResponse[];
}

/** What the caller passes: parameters of the path and of the query in one object. */
export type Query =
  | { readonly kind: 'none' }
  /** Any parameters, sent as they are. */
  | { readonly kind: 'free-form'; readonly schema: string }
  | { readonly kind: 'named'; readonly schema: string; readonly parameters: readonly Parameter[] };

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly isRequired: boolean;
  readonly isDeprecated: boolean;
  /** For help: 'string', 'date', 'integer', 'asc|desc', … */
  readonly type: string;
  /** JSON types of one value. */
  readonly types: readonly ScalarType[];
  /** The only values there are; empty when there are others. */
  readonly choices: readonly Scalar[];
  /** How several values are written; absent for one value. */
  readonly list?: 'comma' | 'repeated';
  /** What the service assumes without the parameter. */
  readonly default?: unknown;
  /** What the document gives as examples, valid or not; the first that is valid is shown in help. */
  readonly examples: readonly unknown[];
  readonly node: SpecNode;
  readonly schema: Schema;
}

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean';

export interface ErrorResponse {
  readonly status: number | '4XX' | '5XX' | 'default';
  readonly code: string | undefined;
  readonly headers: readonly string[];
  readonly example: unknown;
}
