/** A schema of the spec, reduced to what the generator implements. Types and zod schemas are both written from it. */
export type Schema = (
  | { readonly kind: 'unknown' | 'boolean' | 'null' }
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'literals'; readonly values: readonly Scalar[] }
  | StringSchema
  | NumberSchema
  | { readonly kind: 'array'; readonly items: Schema; readonly minItems?: number; readonly maxItems?: number }
  /** `rest` is absent when nothing may follow. */
  | { readonly kind: 'tuple'; readonly items: readonly Schema[]; readonly rest?: Schema }
  | ObjectSchema
  /** `any`: `anyOf`, or a list of types. `one`: `oneOf`, exactly one. `all`: `allOf`. */
  | { readonly kind: 'any' | 'one' | 'all'; readonly members: readonly Schema[] }
) & {
  readonly description?: string;
};

export type Scalar = string | number | boolean | null;

export interface StringSchema {
  readonly kind: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: StringFormat;
  /** Values known today of an open enumeration; others are taken too. */
  readonly knownValues?: readonly string[];
}

export const STRING_FORMATS = ['date', 'date-time'] as const;
type StringFormat = (typeof STRING_FORMATS)[number];

export interface NumberSchema {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

export interface ObjectSchema {
  readonly kind: 'object';
  readonly properties: readonly Property[];
  /** Schema of the fields that are not named; absent when there may be none. */
  readonly rest?: Schema;
}

export interface Property {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}
