/** A Standard Schema (standardschema.dev, version 1), as far as the client uses it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The interface of the specification. `validate` returns `{ value }`, or `{ issues }` if the value does not match. */
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The result of `validate()`: the value, or the issues if it does not match. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One issue that a schema found. */
export interface SchemaIssue {
  /** Description of the issue. */
  readonly message: string;
  /** Path from the data to the value; empty or `undefined` for the data itself. */
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** The type of the data that a schema returns. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];
