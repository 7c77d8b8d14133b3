import type { Schema } from './schema.ts';

/** Everything the generated files are written from. */
export interface Contract {
  readonly schemas: ReadonlyMap<string, Schema>;
  readonly operations: readonly Operation[];
  /** Copied as they are: `x-plans`, `x-api-key`, `x-not-shown`. */
  readonly plans: unknown;
  readonly apiKeyPattern: string;
  readonly notShown: unknown;
}

export interface Operation {
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly query: Query;
  readonly consumesQuota: boolean;
  readonly worksWhenQuotaExhausted: boolean;
  /** Component schema of the whole answer. */
  readonly response: string;
  /** Component schema of the answer's `data`. */
  readonly data: string;
  readonly example: unknown;
  readonly errors: readonly ErrorResponse[];
}

export type Query =
  | { readonly kind: 'none' }
  /** One object parameter, whose own name is never sent. */
  | { readonly kind: 'free-form'; readonly schema: string }
  | { readonly kind: 'named'; readonly schema: string; readonly parameters: readonly Parameter[] };

export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** For help: 'string', 'date', 'integer', 'asc|desc', … */
  readonly type: string;
  readonly schema: Schema;
}

export interface ErrorResponse {
  readonly status: number | 'default';
  readonly code: string | undefined;
  readonly headers: readonly string[];
  readonly example: unknown;
}
