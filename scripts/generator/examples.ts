import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';
import { transformSync } from 'esbuild';
import { en as english } from 'zod/locales';
import type * as z from 'zod/mini';
import { definedOf } from '../../src/json.ts';
import type {
  ArraySchema,
  Contract,
  Example,
  NumberSchema,
  ObjectSchema,
  Operation,
  Place,
  Property,
  Query,
  Schema,
  Schemas,
  StringSchema,
} from './contract.ts';
import type { SpecNode } from './spec-node.ts';
import { writeSchemas } from './write-schemas.ts';

/**
 * Returns the contract with an example for each parameter and each response. Rejects examples and defaults that the
 * generated schemas reject: the client would reject them, too.
 */
export function withExamples(contract: Contract, spec: SpecNode): Contract {
  const { examples } = spec.document;
  const schemas = loadSchemas(writeSchemas(contract, [...new Set(examples.map(({ schema }) => schema))]));
  refuseWrongExamples(examples, schemas);
  if (!spec.isClean) return contract;
  const operations = contract.operations.map((operation) => ({
    ...operation,
    query: withParameterExamples(operation.query, contract.schemas, schemas),
    example: operation.example ?? responseExample(operation, contract.schemas, schemas),
  }));
  return { ...contract, operations };
}

function refuseWrongExamples(examples: readonly Example[], { more }: GeneratedSchemas): void {
  const places = new Map([...new Set(examples.map(({ schema }) => schema))].map((schema, index) => [schema, index]));
  for (const { schema, node } of examples) {
    const check = more[places.get(schema) ?? -1];
    const issue = issueOf(check, node.value);
    if (issue === undefined || isListOfItems(node, check)) continue;
    const place = node.at(issue.path);
    // A field that is missing has no place of its own.
    const missing = issue.path.slice(place.path.length - node.path.length).map((key) => `'${String(key)}': `);
    const what = node.path.at(-1) === 'default' ? 'default' : 'example';
    place.refuse(`${shortJson(place.value)} is not a valid ${what}: ${missing.join('')}${issue.message}`);
  }
}

/** Many documents have the example of a list in the schema of its items. */
function isListOfItems({ path, value }: Place, check: z.ZodMiniType | undefined): boolean {
  return path.at(-2) === 'items' && Array.isArray(value) && value.every((item) => issueOf(check, item) === undefined);
}

/** The mock server sends it if the document has no example of the response. */
function responseExample({ response, node }: Operation, types: Schemas, schemas: GeneratedSchemas): unknown {
  const examples = examplesOf({ kind: 'reference', name: response }, types);
  const problems = examples.map((example) =>
    example === undefined ? UNENDING : problemOf(schemas.named[response], example),
  );
  const valid = problems.indexOf(undefined);
  if (valid < 0) node.refuse(`no response can be generated from the schema (${problems[0]}); give an example`);
  return examples[valid];
}

const UNENDING = 'a value would contain itself, or have too many parts';

function withParameterExamples(query: Query, types: Schemas, schemas: GeneratedSchemas): Query {
  if (query.kind !== 'named') return query;
  const { shape } = schemas.named[query.schema] as z.ZodMiniObject; // `querySchema` writes it
  const parameters = query.parameters.map((parameter) => {
    const { name, schema, node, required, examples } = parameter;
    const problem = (value: unknown) => problemOf(shape[name] as z.ZodMiniType, value);
    const values = [...examples.map(({ value }) => value), ...examplesOf(schema, types)];
    const example = values.find((value) => isWritable(value) && problem(value) === undefined);
    if (example === undefined) node[required ? 'refuse' : 'note'](NO_VALUE);
    return { ...parameter, example };
  });
  return { ...query, parameters };
}

const NO_VALUE = 'no valid value can be made from the schema; give an example';

/** A URL cannot contain an empty list or an empty part of a path. */
function isWritable(value: unknown): boolean {
  return [value].flat().length > 0 && value !== '' && value !== undefined;
}

function problemOf(schema: z.ZodMiniType | undefined, value: unknown): string | undefined {
  const issue = issueOf(schema, value);
  return issue && [issue.path.join('.'), issue.message].filter((text) => text !== '').join(': ');
}

function issueOf(schema: z.ZodMiniType | undefined, value: unknown): z.core.$ZodIssue | undefined {
  return schema?.safeParse(value, { error: english().localeError }).error?.issues[0];
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

interface GeneratedSchemas {
  readonly named: Readonly<Record<string, z.ZodMiniType>>;
  /** Those of the examples. */
  readonly more: readonly z.ZodMiniType[];
}

/** Compiles the generated source and returns its schemas. */
function loadSchemas(source: string): GeneratedSchemas {
  const { code } = transformSync(source, { loader: 'ts', format: 'cjs' });
  const module = { exports: { more: [] } };
  compileFunction(code, ['module', 'require'])(module, createRequire(import.meta.url));
  return { named: module.exports as unknown as GeneratedSchemas['named'], more: module.exports.more };
}

/** With each of the first alternatives of a union, because some of the values may be invalid. */
function examplesOf(schema: Schema, schemas: Schemas): readonly unknown[] {
  return [0, 1, 2, 3].map((turn) => exampleOf(schema, schemas, turn));
}

/** An example with more parts than this is of no use. */
const MOST_PARTS = 10_000;

/**
 * A value made from the schema, which may still be invalid; `undefined` if it would contain itself. `turn`: index of the
 * alternative of a union that comes first; from 1 on, without objects and lists of the document, which can lack a field.
 */
export function exampleOf(schema: Schema, schemas: Schemas, turn = 0): unknown {
  let parts = 0;
  const used = new Set<string>();
  /** `within`: the types around it. */
  const made = (one: Schema, within: readonly string[]): unknown => {
    parts += 1;
    if (parts > MOST_PARTS) return undefined;
    const isUsed = one.example !== undefined && (turn === 0 || Object(one.example) !== one.example);
    return isUsed ? one.example : ofKind(one, within);
  };
  const ofKind = (one: Schema, within: readonly string[]): unknown => {
    const inner = (part: Schema) => made(part, within);
    switch (one.kind) {
      case 'any':
      case 'one': {
        const first = turn % one.members.length;
        const members = [...one.members.slice(first), ...one.members.slice(0, first)];
        return members.map(inner).find((value) => value !== undefined);
      }
      case 'object':
        return exampleObject({ ...one, properties: one.properties.filter((field) => isShown(field, within)) }, inner);
      case 'array':
        return exampleList(one, inner(one.items));
      case 'reference': {
        used.add(one.name);
        const target = within.includes(one.name) ? undefined : schemas.get(one.name);
        return target && made(target, [...within, one.name]);
      }
      default:
        return exampleScalar(one);
    }
  };
  /** Far inside, an optional field does not repeat a type: types that refer to each other would have endless examples. */
  const isShown = ({ isRequired, schema: type }: Property, within: readonly string[]) => {
    if (type.isWriteOnly) return false;
    const shown = type.kind === 'array' ? type.items : type;
    return isRequired || within.length <= 2 || shown.kind !== 'reference' || !used.has(shown.name);
  };
  return made(schema, []);
}

function exampleScalar(schema: Schema): unknown {
  switch (schema.kind) {
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'literals':
      return schema.values[0];
    case 'string':
      return exampleText(schema);
    case 'number':
      return exampleNumber(schema);
    case 'digits':
      return exampleNumber(schema.number);
    default:
      return {};
  }
}

function exampleText({ format, knownValues, pattern, minLength = 0, maxLength }: StringSchema): string | undefined {
  if (format !== undefined) return format === 'date' ? DATE : `${DATE}T14:20:00.000Z`;
  const plain = 'text'.padEnd(Math.min(minLength, LONGEST_EXAMPLE), '.').slice(0, maxLength);
  if (pattern === undefined) return knownValues?.[0] ?? plain;
  const form = new RegExp(pattern, 'u');
  return [...(knownValues ?? []), plain, ...USUAL_TEXTS].find((text) => form.test(text)) ?? plain;
}

const DATE = '2026-01-21';

/** Those that patterns of such services describe: codes, numbers, days, times and ids. */
const USUAL_TEXTS = [
  ...'EUR EURUSD EUR/USD EUR-USD eur EUR,USD EU 1 1.5 10 1d v1 a A A1 abc-1 2026-01-21 2026-01 2026 14:20'.split(' '),
  ...`14:20:00 ${DATE}T14:20:00Z 5min a@example.com https://example.com`.split(' '),
  ...['00000000-0000-4000-8000-000000000000', '0'.repeat(32), '0'.repeat(64), `0x${'0'.repeat(40)}`],
];

/** A longer text or list would make a response that no test can use. */
const LONGEST_EXAMPLE = 1_000;

function exampleNumber({ isInteger, ...limits }: NumberSchema): number {
  const step = isInteger ? 1 : 0.0001;
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf } = limits;
  if (multipleOf !== undefined) {
    const first = Math.ceil((minimum ?? exclusiveMinimum ?? multipleOf) / multipleOf) * multipleOf;
    return first === exclusiveMinimum ? first + multipleOf : first;
  }
  if (minimum !== undefined) return minimum;
  if (exclusiveMinimum !== undefined) return exclusiveMinimum + step;
  return Math.min(step, maximum ?? step, (exclusiveMaximum ?? Number.POSITIVE_INFINITY) - step);
}

function exampleList({ minItems = 0, maxItems = 1 }: ArraySchema, item: unknown): unknown {
  if (item === undefined) return minItems === 0 ? [] : undefined;
  return Array.from({ length: Math.min(LONGEST_EXAMPLE, Math.max(minItems, Math.min(1, maxItems))) }, () => item);
}

function exampleObject(
  { properties, rest, names, maxProperties }: ObjectSchema,
  inner: (schema: Schema) => unknown,
): unknown {
  const named = properties.map(({ name, isRequired, schema }) => ({ name, isRequired, value: inner(schema) }));
  if (named.some(({ value, isRequired }) => value === undefined && isRequired)) return undefined;
  const fields = Object.fromEntries(named.map(({ name, value }) => [name, value]));
  const other = rest && rest.kind !== 'unknown' ? inner(rest) : undefined;
  if (properties.length > 0 || other === undefined) return definedOf(fields);
  // A map such as rates by currency gets entries, because an empty map would be a poor example.
  const shown = names ? [String(inner(names))] : ['EUR', 'GBP', 'USD'];
  return Object.fromEntries(shown.slice(0, maxProperties).map((name) => [name, other]));
}
