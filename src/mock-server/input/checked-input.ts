import * as z from 'zod';
import { isPromise } from '../../foreign-values.ts';
import { holdsKey } from '../../redactor.ts';
import { invalidOption, type MockServerError, unknownName, within } from './mock-server-error.ts';

/**
 * A schema with a description of its values: the mock's error has it after "expected", the admin API as the
 * description.
 */
export function expected<Schema extends z.ZodType>(words: string, schema: Schema): Schema {
  const described = schema.clone({ ...schema.def, error: () => words });
  return described.describe(`${words[0]?.toUpperCase()}${words.slice(1)}.`);
}

/** `of` names what is counted. */
export function wholeFrom(least: number, of = '') {
  return expected(`a whole number ${of}${of === '' ? '' : ' '}from ${least}`, z.int().min(least));
}

export const trueOrFalse = expected('true or false', z.boolean());

/** The status of a response that a test defines. */
export const responseStatus = expected('an HTTP status from 200 to 599', z.int().min(200).max(599));

/** For a text that the mock shows again, in URLs, responses and messages. */
export function isNoKey(text: string): boolean {
  return !holdsKey(text);
}

/**
 * An object of values by name. A parser drops the name `__proto__`, and JSON an undefined value, such as that of a misspelt
 * variable; both are rejected, so that no condition is lost.
 */
export function recordOf<Value extends z.ZodType>(words: string, value: Value, name = z.string()) {
  return expected(
    words,
    z.preprocess(
      (given: Readonly<Record<string, z.input<Value>>>, context) => {
        const message = recordProblem(Object.entries(Object(given)));
        if (message !== undefined) context.addIssue({ code: 'custom', message });
        return isPromise(given) ? null : given; // zod would wait for a promise
      },
      z.record(name, value, words),
    ),
  );
}

/** What is expected instead; `undefined` if the names can be used. */
function recordProblem(entries: readonly (readonly [string, unknown])[]): string | undefined {
  if (entries.length > MOST_NAMES) return `at most ${MOST_NAMES} names`;
  const [long] = entries.find(([, one]) => Array.isArray(one) && one.length > MOST_VALUES) ?? [];
  if (long !== undefined) return `at most ${MOST_VALUES} values of ${long}`;
  const [lost] = entries.find(([name, one]) => name === '__proto__' || one === undefined) ?? [];
  if (lost === undefined) return undefined;
  return lost === '__proto__' ? 'names other than __proto__' : `a value for ${lost}, not undefined`;
}

/** Each request is compared with each of them. */
const MOST_NAMES = 100;
const MOST_VALUES = 1_000;

/** These belong to the connection: a wrong one would be a failure of another kind. */
const HEADER_NAME = /^(?!content-length$|transfer-encoding$|trailer$)[\w!#$%&'*+.^`|~-]+$/i;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const headerText = expected(
  'text of printable ASCII characters',
  z.string().refine((value) => HEADER_VALUE.test(value)),
);
/** A header that a test defines. A number is sent as its digits. */
export const headerValue = z.union([headerText, wholeFrom(0)]);

const headersSchema = <Value extends z.ZodType>(value: Value, numbers: string) => {
  const words = `an object of headers such as { "x-trace": "abc" }, with values of printable ASCII characters${numbers}, without content-length, transfer-encoding and trailer`;
  const name = z.string().refine((text) => HEADER_NAME.test(text));
  return recordOf(words, expected(words, z.union([value, z.array(value).min(1, 'at least one value')])), name);
};
/** Headers of a response that a test defines. */
export const headerInput = headersSchema(headerValue, ' or whole numbers from 0');
/** Headers of a response, as they are sent. */
export const headerRecord = headersSchema(headerText, '');

/** Makes all nested fields of a value read-only. */
export type Immutable<Value> = Value extends RegExp | Date | ((...given: never[]) => unknown)
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]: Immutable<Value[Name]> }
    : Value;

/**
 * The value that a schema describes, read-only, with the doc comments of its fields, which `z.input` loses. The schema is
 * made by `strictObject()` or `plainObject()`, and a comment is above its field.
 */
export type ValueOf<Schema> =
  Schema extends z.ZodObject<infer Fields>
    ? { readonly [Name in keyof Omit<Fields, OptionalName<Fields>>]: ValueOf<Fields[Name]> } & {
        readonly [Name in keyof Pick<Fields, OptionalName<Fields>>]?: ValueOf<Fields[Name]>;
      } extends infer Value
      ? { [Name in keyof Value]: Value[Name] }
      : never
    : Schema extends z.ZodOptional<infer Inner> | z.ZodDefault<infer Inner>
      ? ValueOf<Inner> | undefined
      : Schema extends z.ZodArray<infer Element>
        ? readonly ValueOf<Element>[]
        : Schema extends z.ZodCustom
          ? z.input<Schema>
          : Immutable<z.input<Schema>>;

type OptionalName<Fields> = {
  [Name in keyof Fields]: undefined extends z.input<Fields[Name]> ? Name : never;
}[keyof Fields];

/** `z.strictObject()` and `z.object()`: their declarations keep the doc comments of the fields. */
export const strictObject: <Fields extends z.core.$ZodLooseShape>(
  fields: Fields,
) => z.ZodObject<Fields, z.core.$strict> = z.strictObject;
export const plainObject: <Fields extends z.core.$ZodLooseShape>(fields: Fields) => z.ZodObject<Fields, z.core.$strip> =
  z.object;

/** The id of a rule, or the name of a space. A URL cannot have `.` and `..` as a segment. */
export const idSchema = expected(
  'up to 64 letters, digits, _ . and -, not an API key',
  z
    .string()
    .regex(/^(?!\.{1,2}$)[\w.-]{1,64}$/)
    .refine(isNoKey),
);

/** A field that the mock adds. It is ignored in an input, so that a value that was read can be added again. */
export const ADDED_FIELD = z.unknown().optional().describe('Ignored.').meta({ readOnly: true });

/** Work on a list of any length in many steps, between which a server can handle other requests. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Checks the entries of a list. The error names the entry: `keys[2].plan`. */
export function eachOf<Entry, Result>(
  field: string,
  entries: readonly Entry[],
  check: (entry: Entry, index: number) => Result,
): readonly Result[] {
  return entries.map((entry, index) => within(`${field}[${index}]`, () => check(entry, index)));
}

/** The result of all steps at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

interface InputDescription {
  /** `a field of the filter` */
  readonly what: string;
  /** The name of the value itself. Default: `options`. */
  readonly whole?: string;
}

/** Parses a value. Throws `MockServerError` with code `invalid_option`, which names the field. */
export function checkedInput<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  description: InputDescription,
): z.output<Schema> {
  const { data, error } = schema.safeParse(given, { error: typeInWords });
  if (error === undefined) return data;
  throw inputError(error, given, { schema, ...description });
}

/** For schemas without words of their own. */
function typeInWords({ expected, values }: z.core.$ZodRawIssue): string | undefined {
  if (Array.isArray(values)) return `one of ${values.join(', ')}`;
  return typeof expected === 'string' ? `${/^[aeiou]/.test(expected) ? 'an' : 'a'} ${expected}` : undefined;
}

type UncheckedInput = InputDescription & { readonly schema: z.ZodType };

function inputError({ issues }: z.ZodError, given: unknown, input: UncheckedInput): MockServerError {
  const { what, whole = 'options' } = input;
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  const { path, message } = unknown ?? issues[0] ?? { path: [], message: 'another value' };
  const { schema, path: known } = schemaAt(input.schema, path);
  const field = z.core.toDotPath(known); // `responses[1].status`
  if (unknown === undefined || !(schema instanceof z.ZodObject)) {
    const value = known.reduce((outer: unknown, name) => Object(outer)[name], given);
    return invalidOption(field === '' ? whole : field, value, message);
  }
  const names = Object.keys(schema.shape);
  const [name = ''] = unknown.keys;
  const { schema: filter } = schemaAt(schema, ['filter']);
  const meant = filter instanceof z.ZodObject && Object.hasOwn(filter.shape, name) ? `filter.${name}` : undefined;
  return field === ''
    ? unknownName(name, { what, known: names, meant })
    : unknownName(name, { what: `a field of ${field}`, known: names }, `${field}.`);
}

/** The schema at `path`, through objects and arrays, with its path. Stops at any other schema. */
function schemaAt(outer: z.ZodType, path: readonly PropertyKey[]) {
  let schema = unwrapped(outer);
  for (const [depth, name] of path.entries()) {
    const fields: Readonly<Record<PropertyKey, z.ZodType>> = schema instanceof z.ZodObject ? schema.shape : {};
    const inner = schema instanceof z.ZodArray ? schema.element : fields[name];
    if (inner === undefined) return { schema, path: path.slice(0, depth) };
    schema = unwrapped(inner as z.ZodType);
  }
  return { schema, path };
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const isOptional = schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;
  return isOptional ? (schema.unwrap() as z.ZodType) : schema;
}
