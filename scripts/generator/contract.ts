import type { Sample, Operation as TableOperation, Parameter as TableParameter } from '../../src/operation.ts';
import type { Schema, Schemas } from './schema.ts';
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

export interface Operation extends Omit<TableOperation, 'method' | 'deprecated' | 'query' | 'parameters' | 'sample'> {
  readonly isDeprecated: boolean;
  readonly query: Query;
  /** Type of the whole answer. */
  readonly response: string;
  /** Type of the answer's `data`. */
  readonly data: string;
  /** From which the mock server makes answers if there is no example; added by `checkExamples`. */
  readonly sample?: Sample | undefined;
  /** The place of the success response, for refusals of `checkExamples`. */
  readonly node: SpecNode;
}

/** What the caller passes: parameters of the path and of the query in one object. */
export type Query =
  | { readonly kind: 'none' }
  /** Any parameters, sent as they are. */
  | { readonly kind: 'free-form'; readonly schema: string }
  | { readonly kind: 'named'; readonly schema: string; readonly parameters: readonly Parameter[] };

export interface Parameter extends Omit<TableParameter, 'example'> {
  /** The examples of the document, valid or not; `checkExamples` keeps the valid ones. Help shows the first. */
  readonly examples: readonly unknown[];
  readonly node: SpecNode;
  readonly schema: Schema;
}
