import type { ErrorResponseSpec, Sample } from '../../src/generated/operations.ts';
import type { Scalar, Schema, Schemas } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Everything the generated files are written from. */
export interface Contract {
  /** Those of the components, then those inside operations. */
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
  /** From which the mock server makes answers if there is no example; added by `checkExamples`. */
  readonly sample?: Sample | undefined;
  /** The place of the success response, for refusals of `checkExamples`. */
  readonly node: SpecNode;
  readonly errors: readonly ErrorResponseSpec[];
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
  /** The examples of the document, valid or not; `checkExamples` keeps the valid ones. Help shows the first. */
  readonly examples: readonly unknown[];
  readonly node: SpecNode;
  readonly schema: Schema;
}

export type ScalarType = 'string' | 'integer' | 'number' | 'boolean';
