import * as z from 'zod';
import { invalidOption, type MockServerError, unknownName } from '../mock-server-error.ts';

/**
 * What a value must be, in words: the error of the mock says them after "expected", the admin API as a description.
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

interface InputDescription {
  /** Begins the name of a field in messages, `filter.`; empty for none. */
  readonly place: string;
  /** `a field of the filter` */
  readonly what: string;
  /** Fields that are objects with fields of their own, and their schemas. */
  readonly nested?: Readonly<Record<string, z.ZodObject>>;
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
  { schema, place, what, nested = {} }: InputDescription & { readonly schema: z.ZodObject },
): MockServerError {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    const [name = ''] = unknown.keys;
    const outer = String(unknown.path[0] ?? '');
    const inner = nested[outer];
    if (inner !== undefined) {
      return unknownName(name, { what: `a field of ${outer}`, known: Object.keys(inner.shape) }, `${outer}.`);
    }
    if (outer === '')
      return unknownName(name, { what, known: Object.keys(schema.shape).filter((known) => known !== 'kind') }, place);
  }
  const [issue] = issues;
  const whole = issue?.path.map(String) ?? [];
  const path = whole.slice(0, Object.hasOwn(nested, whole[0] ?? '') ? 2 : 1);
  const value = path.reduce<unknown>((outer, name) => (outer as Record<string, unknown> | undefined)?.[name], given);
  return invalidOption(place + path.join('.'), value, issue?.message ?? 'another value');
}
