import fc from 'fast-check';
import type { Sample } from '../../src/operation.ts';
import type { ArraySchema, NumberSchema, ObjectSchema, Schema, Schemas, StringSchema } from './schema.ts';

/** The sample of responses with this schema; `undefined` if none of finite size is found. */
export function sampleOf(schema: Schema, schemas: Schemas, within: readonly string[] = []): Sample | undefined {
  if (schema.example !== undefined) return values(schema.example.value);
  const inner = (member: Schema) => sampleOf(member, schemas, within);
  switch (schema.kind) {
    case 'unknown':
      return values({});
    case 'boolean':
      return values(true, false);
    case 'null':
      return values(null);
    case 'literals':
      return values(...schema.values);
    case 'string':
      return stringSample(schema);
    case 'number':
      return numberSample(schema);
    case 'array':
      return arraySample(schema, inner);
    case 'tuple':
      return list(schema.items.map(inner));
    case 'object':
      return objectSample(schema, inner);
    case 'any':
    case 'one':
      return schema.members.map(inner).find((sample) => sample !== undefined);
    case 'all':
      return merged(schema.members.map(inner));
    case 'reference': {
      const target = within.includes(schema.name) ? undefined : schemas.get(schema.name);
      return target && sampleOf(target, schemas, [...within, schema.name]);
    }
  }
}

type SampleSchema = (schema: Schema) => Sample | undefined;

function values(...all: readonly unknown[]): Sample {
  return { kind: 'values', values: all };
}

function list(items: readonly (Sample | undefined)[]): Sample | undefined {
  const known = items.filter((item) => item !== undefined);
  return known.length < items.length ? undefined : { kind: 'list', items: known };
}

const FORMAT_TEXTS = {
  date: ['2026-01-21', '2026-01-22', '2026-01-23'],
  'date-time': ['2026-01-21T14:20:00.000Z', '2026-01-21T14:25:00.000Z', '2026-01-21T14:30:00.000Z'],
};

/** A longer text or list would make a response that no test can use. */
const LONGEST_SAMPLE = 10_000;

function stringSample(schema: StringSchema): Sample | undefined {
  const { format, knownValues, pattern, minLength = 0, maxLength = 1000 } = schema;
  if (format !== undefined) return values(...FORMAT_TEXTS[format]);
  if (knownValues !== undefined) return values(...knownValues);
  if (pattern !== undefined) return matchingTexts(schema, pattern);
  if (minLength > LONGEST_SAMPLE) return undefined;
  return values(...new Set(['text', 'other text'].map((text) => text.padEnd(minLength, '.').slice(0, maxLength))));
}

function matchingTexts({ minLength = 0, maxLength = 1000 }: StringSchema, pattern: string): Sample | undefined {
  const fits = (text: string) => [...text].length >= minLength && [...text].length <= maxLength;
  const found = new Set(
    textsMatching(pattern).filter((text) => fits(text) && text !== '' && /^[\x20-\x7e]*$/.test(text)),
  );
  return found.size === 0 ? undefined : values(...[...found].slice(0, 3));
}

/** Texts that match the pattern; none if it has a part for which fast-check makes no text, such as a lookahead. */
function textsMatching(pattern: string): readonly string[] {
  const expression = new RegExp(pattern, 'u');
  try {
    return fc.sample(fc.stringMatching(expression), { seed: 1, numRuns: 100 });
  } catch {
    return [];
  }
}

function numberSample(schema: NumberSchema): Sample | undefined {
  const { isInteger, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const step = schema.multipleOf ?? (isInteger ? 1 : 0.0001);
  const above = Math.max(minimum ?? Number.NEGATIVE_INFINITY, (exclusiveMinimum ?? Number.NEGATIVE_INFINITY) + step);
  const below = Math.min(maximum ?? Number.POSITIVE_INFINITY, (exclusiveMaximum ?? Number.POSITIVE_INFINITY) - step);
  const start = Number.isFinite(above) ? above : Math.min(step, below);
  const from = Math.ceil(start / step - 1e-9) * step;
  const to = Math.min(below, from + 100 * (isInteger ? step : 100 * step));
  return from > below ? undefined : { kind: 'number', from, to, step };
}

function arraySample({ items, minItems = 0, maxItems = 2 }: ArraySchema, inner: SampleSchema): Sample | undefined {
  const sample = inner(items);
  if (sample === undefined || minItems > LONGEST_SAMPLE) return minItems === 0 ? list([]) : undefined;
  return list(Array.from({ length: Math.max(minItems, Math.min(1, maxItems)) }, () => sample));
}

function objectSample(schema: ObjectSchema, inner: SampleSchema): Sample | undefined {
  const { properties, rest } = schema;
  const samples = properties.map(({ name, isRequired, schema }) => ({ name, isRequired, sample: inner(schema) }));
  if (samples.some(({ isRequired, sample }) => isRequired && sample === undefined)) return undefined;
  const named = samples.flatMap(({ name, sample }) => (sample === undefined ? [] : [[name, sample] as const]));
  const others = rest && inner(rest);
  const free = fieldNames(schema, inner).filter((name) => properties.every((property) => property.name !== name));
  const more = others === undefined ? [] : free.slice(0, missingFields(schema, named.length));
  return {
    kind: 'object',
    fields: Object.fromEntries([...named, ...more.map((name) => [name, others as Sample] as const)]),
  };
}

/** Number of fields to add to the named ones. */
function missingFields(schema: ObjectSchema, named: number): number {
  const wanted = Math.max(schema.minProperties ?? 0, isOpenMap(schema) ? 3 : 0);
  return Math.max(0, Math.min(wanted, schema.maxProperties ?? wanted) - named);
}

/** A map such as rates by currency gets entries, because an empty map would be a poor example. */
function isOpenMap({ properties, rest }: ObjectSchema): boolean {
  return properties.length === 0 && rest !== undefined && rest.kind !== 'unknown';
}

function fieldNames({ names }: ObjectSchema, inner: SampleSchema): readonly string[] {
  const sample = names && inner(names);
  return sample?.kind === 'values' ? sample.values.map(String) : ['EUR', 'GBP', 'USD', 'JPY', 'CHF'];
}

/** Merges the fields of all members of an `allOf`. */
function merged(members: readonly (Sample | undefined)[]): Sample | undefined {
  const known = members.filter((member) => member !== undefined);
  if (known.length < members.length) return undefined;
  const objects = known.filter((member) => member.kind === 'object');
  if (objects.length < known.length) return known.find(({ kind }) => kind === 'values') ?? known[0];
  const fields: Record<string, Sample> = {};
  for (const [name, sample] of objects.flatMap((object) => Object.entries(object.fields))) {
    fields[name] = both(fields[name], sample);
  }
  return { kind: 'object', fields };
}

function both(earlier: Sample | undefined, later: Sample): Sample {
  if (earlier?.kind === 'object' && later.kind === 'object') return merged([earlier, later]) ?? later;
  return earlier !== undefined && saysNothing(later) ? earlier : later;
}

/** Whether the sample is that of a schema that allows any value. */
function saysNothing(sample: Sample): boolean {
  return sample.kind === 'values' && JSON.stringify(sample.values) === '[{}]';
}
