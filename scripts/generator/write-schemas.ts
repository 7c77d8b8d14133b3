import { compileFunction } from 'node:vm';
import * as z from 'zod/mini';
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

/** The check of a schema. It has no references, except inside of fields and items. */
export function checkOf(schema: Schema): z.ZodMiniType {
  return compileFunction(`${INTEGER}return ${new ZodWriter().zod(schema)};`, ['z'])(z);
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
    return `z.check(({ value, issues }) => {
      const wrong = Object.keys(value).find((name) => !${this.zod(names)}.safeParse(name).success);
      if (wrong !== undefined) issues.push({ code: 'custom', message: 'Unexpected field', path: [wrong], input: value });
    })`;
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
  const expected = `Expected length ${comparison} ${length}`;
  return length === undefined ? undefined : refine('text', `[...text].length ${comparison} ${length}`, expected);
}

function fieldCount(comparison: '>=' | '<=', count: number | undefined): Check {
  const expected = `Expected ${comparison} ${count} fields`;
  return count === undefined
    ? undefined
    : refine('value', `Object.keys(value).length ${comparison} ${count}`, expected);
}

function refine(name: string, condition: string, expected: string): Check {
  return `z.refine((${name}) => ${condition}, '${expected}')`;
}

function arrayChecks({ minItems, maxItems, hasUniqueItems }: ArraySchema): readonly Check[] {
  const distinct = 'new Set(list.map((item) => JSON.stringify(item))).size === list.length';
  const unique = refine('list', distinct, 'Expected no item twice');
  return [check('minLength', minItems), check('maxLength', maxItems), hasUniqueItems ? unique : undefined];
}

const LIMITS = [
  ['minimum', 'gte', '>='],
  ['maximum', 'lte', '<='],
  ['exclusiveMinimum', 'gt', '>'],
  ['exclusiveMaximum', 'lt', '<'],
] as const;

function numberSchema(schema: NumberSchema, first?: Check): string {
  return withChecks(schema.isInteger ? 'integer' : 'z.number()', [
    first,
    ...LIMITS.map(([keyword, name]) => check(name, schema[keyword])),
    Number.isInteger(schema.multipleOf)
      ? refine('number', `number % ${schema.multipleOf} === 0`, `Expected a multiple of ${schema.multipleOf}`)
      : check('multipleOf', schema.multipleOf), // of any size, with a tolerance that is too large for integers
  ]);
}

/** A number within ±2^53, or digits. */
function digitsSchema(schema: NumberSchema): string {
  const hint = literal('Expected an integer; write one beyond ±2^53 as text, such as "9007199254740993"');
  const limits = LIMITS.filter(([keyword]) => schema[keyword] !== undefined).map(([keyword, , comparison]) => {
    const rest = `${comparison} ${schema[keyword]}`;
    return refine('text', `Number(text) ${rest}`, `Expected ${rest}`);
  });
  const { multipleOf } = schema;
  const multiple =
    multipleOf !== undefined && Number.isInteger(multipleOf)
      ? refine('text', `BigInt(text) % ${BigInt(multipleOf)}n === 0n`, `Expected a multiple of ${multipleOf}`)
      : undefined;
  const digits = `z.string().check(z.regex(/^-?\\d+$/, { error: ${hint}, abort: true }))`;
  const number = numberSchema(schema, `z.refine(Number.isSafeInteger, { error: ${hint}, abort: true })`);
  return `z.union([${number}, ${withChecks(digits, [...limits, multiple])}], ${hint})`;
}

function check(name: string, limit: number | undefined): Check {
  return limit === undefined ? undefined : `z.${name}(${literal(limit)})`;
}
