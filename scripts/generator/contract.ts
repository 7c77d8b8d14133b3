import type { Sample, Operation as TableOperation, Parameter as TableParameter } from '../../src/operation.ts';
import type { Schema, Schemas } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

/** The input of all functions that write generated files. */
export interface Contract {
  /** Schemas of the components, then those inside operations. */
  readonly schemas: Schemas;
  readonly operations: readonly Operation[];
  /** Examples of the document, with the type that each must have. */
  readonly examples: readonly Example[];
  /** Copied unchanged: `x-plans`, `x-api-key`, `x-not-shown`. */
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
  /** Type of the whole response. */
  readonly response: string;
  /** Type of the response's `data`. */
  readonly data: string;
  /** The mock server makes responses from it if there is no example; `checkExamples` adds it. */
  readonly sample?: Sample | undefined;
  /** The success response in the document, for the errors of `checkExamples`. */
  readonly node: SpecNode;
}

/** The parameters that a caller passes: those of the path and of the query in one object. */
export type Query =
  | { readonly kind: 'none' }
  /** Any parameters, sent unchanged. */
  | { readonly kind: 'free-form'; readonly schema: string }
  | { readonly kind: 'named'; readonly schema: string; readonly parameters: readonly Parameter[] };

export interface Parameter extends Omit<TableParameter, 'example'> {
  /** All examples of the document; `checkExamples` keeps the valid ones. Help shows the first one. */
  readonly examples: readonly unknown[];
  readonly node: SpecNode;
  readonly schema: Schema;
}
