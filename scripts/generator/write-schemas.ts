import type {
  ArraySchema,
  Contract,
  NumberSchema,
  ObjectSchema,
  Operation,
  Query,
  Schema,
  StringSchema,
} from './contract.ts';
import { literal, propertyKey } from './source.ts';

/** `schemas.ts`: a zod schema for each component, and which of them an operation uses; `more` are added as a list. */
export function writeSchemas({ schemas, operations }: Contract, more: readonly Schema[] = []): string {
  const writer = new ZodWriter();
  const declarations = [
    ...[...schemas].map(([name, schema]) => writer.declaration(name, schema)),
    ...operations.flatMap(({ query }) => querySchema(writer, query)),
    ...(more.length > 0 ? [`export const more = [${more.map((schema) => writer.zod(schema)).join(', ')}];`] : []),
  ];
  return [
    "import * as z from 'zod/mini';\nimport type * as types from './types.ts';\n",
    ...(writer.needsInteger ? [INTEGER] : []),
    ...declarations,
    `/** The whole response of each operation. */\n${table('responseSchemas', operations, ({ response }) => response)}`,
    `/** What each operation takes: parameters of the path and of the query. */\n${table('querySchemas', operations, querySchemaName)}`,
  ].join('\n');
}

const INTEGER = `/** An integer of any size, as in JSON Schema; \`z.int()\` refuses those beyond ±2^53. */
const integer = z.number().check(z.refine(Number.isInteger, 'Expected an integer'));
`;

function table(name: string, operations: readonly Operation[], value: (operation: Operation) => string): string {
  return `export const ${name} = {\n${operations.map((operation) => `${operation.id}: ${value(operation)},\n`).join('')}};\n`;
}

function querySchemaName({ query }: Operation): string {
  return query.kind === 'none' ? 'z.strictObject({})' : query.schema;
}

/** Closed, unlike a response: an unknown field in a query is a mistake of the caller. */
function querySchema(writer: ZodWriter, query: Query): string[] {
  if (query.kind !== 'named') return [];
  const fields = query.parameters.map(
    ({ name, required, schema }) =>
      `${propertyKey(name)}: ${required ? writer.zod(schema) : `z.optional(${writer.zod(schema)})`},`,
  );
  return [
    `export const ${query.schema}: z.ZodMiniType<types.${query.schema}> = z.strictObject({\n${fields.join('\n')}\n});\n`,
  ];
}

class ZodWriter {
  readonly #declared = new Set<string>();
  needsInteger = false;

  /** The annotation makes the compiler check that schema and type agree. */
  declaration(name: string, schema: Schema): string {
    const text = `export const ${name}: z.ZodMiniType<types.${name}> = ${this.zod(schema)};\n`;
    this.#declared.add(name);
    return text;
  }

  zod(schema: Schema): string {
    switch (schema.kind) {
      case 'reference':
        return this.#declared.has(schema.name) ? schema.name : `z.lazy(() => ${schema.name})`;
      case 'literals':
        return `z.literal(${literal(schema.values.length === 1 ? schema.values[0] : schema.values)})`;
      case 'string':
        return stringSchema(schema);
      case 'digits':
        this.needsInteger = true;
        return digitsSchema(schema.number);
      case 'number':
        this.needsInteger ||= schema.isInteger;
        return numberSchema(schema);
      case 'array':
        return withChecks(`z.array(${this.zod(schema.items)})`, arrayChecks(schema));
      case 'object':
        return this.#object(schema);
      case 'any':
        return `z.union([${this.#list(schema.members)}])`;
      case 'one':
        return `z.xor([${this.#list(schema.members)}])`;
      default:
        return `z.${schema.kind}()`;
    }
  }

  #list(schemas: readonly Schema[]): string {
    return schemas.map((schema) => this.zod(schema)).join(', ');
  }

  #object(schema: ObjectSchema): string {
    return withChecks(this.#fields(schema), [
      this.#names(schema),
      fieldCount('>=', schema.minProperties),
      fieldCount('<=', schema.maxProperties),
    ]);
  }

  #names({ names }: ObjectSchema): Check {
    if (names === undefined) return undefined;
    return `z.refine((value) => Object.keys(value).every((name) => ${this.zod(names)}.safeParse(name).success), 'Unexpected name of a field')`;
  }

  #fields({ properties, rest }: ObjectSchema): string {
    const fields = properties.map(
      ({ name, isRequired, schema }) =>
        `${propertyKey(name)}: ${isRequired ? this.zod(schema) : `z.exactOptional(${this.zod(schema)})`},`,
    );
    const shape = fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`;
    if (rest === undefined) return `z.strictObject(${shape})`;
    return rest.kind === 'unknown' ? `z.looseObject(${shape})` : `z.catchall(z.object(${shape}), ${this.zod(rest)})`;
  }
}

const FORMATS = { date: 'z.iso.date()', 'date-time': 'z.iso.datetime({ offset: true })' };

/** The source of a check, `undefined` if the schema does not ask for it. */
type Check = string | undefined;

function withChecks(schema: string, checks: readonly Check[]): string {
  const wanted = checks.filter((check) => check !== undefined);
  return wanted.length === 0 ? schema : `${schema}.check(${wanted.join(', ')})`;
}

function stringSchema({ format, minLength, maxLength, pattern }: StringSchema): string {
  return withChecks(format === undefined ? 'z.string()' : FORMATS[format], [
    codePoints('>=', minLength),
    codePoints('<=', maxLength),
    pattern === undefined ? undefined : `z.regex(${new RegExp(pattern, 'u')})`,
  ]);
}

/** JSON Schema counts characters (code points); zod's own `minLength` and `maxLength` count UTF-16 units. */
function codePoints(comparison: '>=' | '<=', length: number | undefined): Check {
  if (length === undefined) return undefined;
  return `z.refine((text) => [...text].length ${comparison} ${length}, 'Expected length ${comparison} ${length}')`;
}

function fieldCount(comparison: '>=' | '<=', count: number | undefined): Check {
  if (count === undefined) return undefined;
  return `z.refine((value) => Object.keys(value).length ${comparison} ${count}, 'Expected ${comparison} ${count} fields')`;
}

function arrayChecks({ minItems, maxItems, hasUniqueItems }: ArraySchema): readonly Check[] {
  const unique =
    "z.refine((list) => new Set(list.map((item) => JSON.stringify(item))).size === list.length, 'Expected no item twice')";
  return [check('minLength', minItems), check('maxLength', maxItems), hasUniqueItems ? unique : undefined];
}

function numberSchema(schema: NumberSchema, first?: Check): string {
  return withChecks(schema.isInteger ? 'integer' : 'z.number()', [
    first,
    check('gte', schema.minimum),
    check('lte', schema.maximum),
    check('gt', schema.exclusiveMinimum),
    check('lt', schema.exclusiveMaximum),
    Number.isInteger(schema.multipleOf)
      ? `z.refine((number) => number % ${schema.multipleOf} === 0, 'Expected a multiple of ${schema.multipleOf}')`
      : check('multipleOf', schema.multipleOf), // of any size, with a tolerance that is too large for integers
  ]);
}

/** A number within ±2^53, or digits. */
function digitsSchema(schema: NumberSchema): string {
  const hint = literal('Expected an integer; write one beyond ±2^53 as text, such as "9007199254740993"');
  const limited = (comparison: string, limit: number | undefined) =>
    limit === undefined
      ? undefined
      : `z.refine((text) => Number(text) ${comparison} ${limit}, 'Expected ${comparison} ${limit}')`;
  const text = withChecks(`z.string().check(z.regex(/^-?\\d+$/, { error: ${hint}, abort: true }))`, [
    limited('>=', schema.minimum),
    limited('<=', schema.maximum),
    limited('>', schema.exclusiveMinimum),
    limited('<', schema.exclusiveMaximum),
    Number.isInteger(schema.multipleOf)
      ? `z.refine((text) => BigInt(text) % ${schema.multipleOf}n === 0n, 'Expected a multiple of ${schema.multipleOf}')`
      : undefined,
  ]);
  const number = numberSchema(schema, `z.refine(Number.isSafeInteger, { error: ${hint}, abort: true })`);
  return `z.union([${number}, ${text}], ${hint})`;
}

function check(name: string, limit: number | undefined): Check {
  return limit === undefined ? undefined : `z.${name}(${literal(limit)})`;
}
