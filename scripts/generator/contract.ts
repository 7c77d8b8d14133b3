import type { Operation as TableOperation, Parameter as TableParameter } from '../../src/operation.ts';

/** One problem of a document, or one part that the generator does not implement. */
export interface Refusal {
  /** Keys from the root of the document to the part that is the problem, or that is missing. */
  readonly path: readonly string[];
  readonly problem: string;
}

/** The input of all functions that write generated files. */
export interface Contract {
  /** Schemas of the components, then those inside operations. */
  readonly schemas: Schemas;
  readonly operations: readonly Operation[];
  /** What has no effect, for the person who runs the generator. */
  readonly notes: readonly Refusal[];
  /** Copied unchanged: `x-plans`, `x-api-key`, `x-not-shown`. */
  readonly plans: unknown;
  readonly apiKeyPattern: string;
  readonly notShown: unknown;
}

export interface Example {
  readonly schema: Schema;
  readonly node: Place;
}

/** A value of the document whose problems are reported with its place. */
export interface Place {
  readonly value: unknown;
  readonly path: readonly string[];
  refuse(problem: string): void;
  note(problem: string): void;
  at(keys: readonly PropertyKey[]): Place;
}

export interface Operation extends Omit<TableOperation, 'method' | 'deprecated' | 'query' | 'parameters'> {
  readonly isDeprecated: boolean;
  readonly query: Query;
  /** Type of the whole response. */
  readonly response: string;
  /** Type of the response's `data`. */
  readonly data: string;
  /** The success response in the document, for the errors of `withExamples`. */
  readonly node: Place;
}

/** The parameters that a caller passes: those of the path and of the query in one object. */
export type Query =
  | { readonly kind: 'none' }
  /** Any parameters, sent unchanged. */
  | { readonly kind: 'free-form'; readonly schema: string }
  | { readonly kind: 'named'; readonly schema: string; readonly parameters: readonly Parameter[] };

export interface Parameter extends TableParameter {
  /** The examples and defaults in the document. */
  readonly examples: readonly Place[];
  readonly node: Place;
  readonly schema: Schema;
}

/**
 * A schema of the document, reduced to what the generator implements. Types, zod schemas and examples are made from it.
 */
export type Schema = (
  | { readonly kind: 'unknown' | 'boolean' | 'null' }
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'literals'; readonly values: readonly Scalar[] }
  | StringSchema
  | NumberSchema
  | ArraySchema
  | ObjectSchema
  /** `any`: `anyOf`, or a list of types. `one`: `oneOf`. */
  | { readonly kind: 'any' | 'one'; readonly members: readonly Schema[] }
  /** An integer of a parameter that a double may not hold: a number, or its digits as text. */
  | { readonly kind: 'digits'; readonly number: NumberSchema }
) & {
  readonly description?: string;
  readonly isDeprecated?: boolean;
  /** A field that only requests have: no response needs it. */
  readonly isWriteOnly?: boolean;
  /** A value of the document: an example, or the default. */
  readonly example?: unknown;
};

export type Scalar = string | number | boolean | null;

export interface StringSchema {
  readonly kind: 'string';
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: StringFormat;
  /** Known values of an open enumeration; others are valid, too. */
  readonly knownValues?: readonly string[];
}

/** Formats that are checked. As in JSON Schema, every other format is only a note. */
export const STRING_FORMATS = ['date', 'date-time'] as const;
export type StringFormat = (typeof STRING_FORMATS)[number];

export interface NumberSchema {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  /** 64 bits. */
  readonly isLong?: boolean;
}

export interface ArraySchema {
  readonly kind: 'array';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly hasUniqueItems?: boolean;
}

export interface ObjectSchema {
  readonly kind: 'object';
  readonly properties: readonly Property[];
  /** Schema of unnamed fields; absent if none are allowed. */
  readonly rest?: Schema;
  /** Schema that the names of all fields must match. */
  readonly names?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

export interface Property {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: Schema;
}

/** Schemas by the names of their types. */
export type Schemas = ReadonlyMap<string, Schema>;
