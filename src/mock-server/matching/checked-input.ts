import * as z from 'zod';
import { invalidOption, type MockServerError, unknownName } from '../mock-server-error.ts';

/**
 * A schema with a description of its values: the mock's error has it after "expected", the admin API as the
 * description.
 */
export function expected<Schema extends z.ZodType>(
  words: string,
  make: (error: { readonly error: string }) => Schema,
): Schema {
  return make({ error: words }).describe(`${words[0]?.toUpperCase()}${words.slice(1)}.`);
}

/** An object of values by name. A parser drops the name `__proto__`; it is rejected, so that no condition is lost. */
export function recordOf<Value extends z.ZodType>(words: string, value: Value, name = z.string()) {
  return expected(words, (error) =>
    z.preprocess(
      (given: Readonly<Record<string, z.input<Value>>>, context) => {
        if (typeof given === 'object' && given !== null && Object.hasOwn(given, '__proto__')) {
          context.addIssue({ code: 'custom', message: 'names other than __proto__' });
        }
        return given;
      },
      z.record(name, value, error),
    ),
  );
}

interface FieldDescription {
  /** Begins the name of a field in messages, `filter.`; empty for none. */
  readonly place: string;
  /** `a field of the filter` */
  readonly what: string;
}

interface InputDescription extends FieldDescription {
  /** Fields that are objects, whose errors name the inner field. */
  readonly nested?: readonly string[];
}

/** Parses a value. Throws `MockServerError` with code `invalid_option`, which names the field. */
export function checkedInput<Schema extends z.ZodObject>(
  schema: Schema,
  given: unknown,
  description: InputDescription,
): z.output<Schema> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidOption(description.place.replace(/\.$/, '') || 'options', given, 'an object');
  }
  const { data, error } = schema.safeParse(given);
  if (error === undefined) return data;
  throw refused(error, given, { schema, ...description });
}

function refused(
  { issues }: z.ZodError,
  given: object,
  { schema, place, what, nested = [] }: InputDescription & { readonly schema: z.ZodObject },
): MockServerError {
  const isNested = ({ path }: z.core.$ZodIssue) => nested.includes(String(path[0]));
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined && (unknown.path.length === 0 || isNested(unknown))) {
    return unknownField(unknown, schema, { place, what });
  }
  const [issue] = issues;
  const path = issue === undefined ? [] : issue.path.map(String).slice(0, isNested(issue) ? 2 : 1);
  const value = path.reduce<unknown>((outer, name) => (outer as Record<string, unknown> | undefined)?.[name], given);
  return invalidOption(place + path.join('.'), value, issue?.message ?? 'another value');
}

/** The error for an unknown field of a value of `schema`, or of an object inside it. */
export function unknownField(
  { keys: [name = ''], path }: z.core.$ZodIssueUnrecognizedKeys,
  schema: z.ZodType,
  { place, what }: FieldDescription,
): MockServerError {
  const outer = path.join('.');
  const isInner = path.length > 0;
  const description = { what: isInner ? `a field of ${outer}` : what, known: fieldsAt(schema, path.map(String)) };
  return unknownName(name, description, isInner ? `${place}${outer}.` : place);
}

/** The names of the fields of an object inside a schema, except `kind`, which selects the schema. */
function fieldsAt(schema: z.ZodType, path: readonly string[]): readonly string[] {
  const inner = path.reduce<z.ZodType | undefined>((outer, name) => shapeOf(outer)[name], schema);
  return Object.keys(shapeOf(inner)).filter((name) => name !== 'kind');
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  if (schema instanceof z.ZodOptional) return shapeOf(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodObject ? schema.shape : {};
}
