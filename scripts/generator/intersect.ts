import type { ArraySchema, NumberSchema, ObjectSchema, Property, Scalar, Schema, StringSchema } from './contract.ts';

/** Two schemas have no value in common, or only values that the generator cannot describe. */
export class Contradiction extends Error {}

/** Returns the schema of a component by the name of its type. */
type Lookup = (name: string) => Schema;

/** The schema of the values that match both. @throws Contradiction */
export function intersect(one: Schema, other: Schema, lookup: Lookup, followed: readonly Followed[] = []): Schema {
  if (one.kind === 'unknown') return withNotes(one, other, other);
  if (other.kind === 'unknown') return withNotes(one, other, one);
  if (one.kind === 'reference' && other.kind === 'reference' && one.name === other.name) return one;
  if (one.kind === 'reference') return intersect(lookup(one.name), other, lookup, following(one, other, followed));
  if (other.kind === 'reference') return intersect(one, lookup(other.name), lookup, following(other, one, followed));
  const both: Both = (first, second) => intersect(first, second, lookup, followed);
  return withNotes(one, other, values(one, other, { lookup, both }));
}

/** A reference, and the schema that its target is combined with: that of another reference by its name. */
type Followed = readonly [name: string, beside: Schema | string];

/** The references followed so far. @throws Contradiction if the same one would be followed without end */
function following(reference: Reference, other: Schema, followed: readonly Followed[]): readonly Followed[] {
  const beside = other.kind === 'reference' ? other.name : other;
  if (followed.some(([name, schema]) => name === reference.name && schema === beside)) {
    throw new Contradiction(`'${reference.name}' contains itself; combining it is not implemented`);
  }
  return [...followed, [reference.name, beside]];
}

type Reference = Schema & { readonly kind: 'reference' };

function values(
  one: Schema,
  other: Schema,
  { lookup, both }: { readonly lookup: Lookup; readonly both: Both },
): Schema {
  if (one.kind === 'literals') return matching(one.values, other, lookup);
  if (other.kind === 'literals') return matching(other.values, one, lookup);
  if ('members' in one) return eachMember(one, (member) => both(member, other));
  if ('members' in other) return eachMember(other, (member) => both(one, member));
  return sameKind(one, other, both);
}

type Both = (one: Schema, other: Schema) => Schema;

function withNotes(one: Schema, other: Schema, combined: Schema): Schema {
  const description = one.description ?? other.description;
  const example = one.example ?? other.example;
  return {
    ...combined,
    ...(description === undefined ? {} : { description }),
    ...(one.isDeprecated || other.isDeprecated ? { isDeprecated: true } : {}),
    ...(example === undefined ? {} : { example }),
  };
}

/** The members that remain possible. */
function eachMember(schema: Schema & { kind: 'any' | 'one' }, combine: (member: Schema) => Schema): Schema {
  const problems: Contradiction[] = [];
  const members = schema.members.flatMap((member) => {
    try {
      return [combine(member)];
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error;
      problems.push(error);
      return [];
    }
  });
  const [first] = members;
  if (first === undefined) throw problems[0] ?? new Contradiction('none of the alternatives is possible');
  return members.length === 1 ? first : { ...schema, members };
}

function matching(literals: readonly Scalar[], schema: Schema, lookup: Lookup): Schema {
  const kept = literals.filter((value) => accepts(schema, value, lookup));
  if (kept.length > 0) return { kind: 'literals', values: kept };
  throw new Contradiction(`none of ${literals.map((value) => JSON.stringify(value)).join(', ')} is possible`);
}

function accepts(schema: Schema, value: Scalar, lookup: Lookup, within: readonly string[] = []): boolean {
  const isAccepted = (member: Schema) => accepts(member, value, lookup, within);
  switch (schema.kind) {
    case 'unknown':
      return true;
    case 'reference':
      // A type that contains only itself is refused later.
      return !within.includes(schema.name) && accepts(lookup(schema.name), value, lookup, [...within, schema.name]);
    case 'any':
      return schema.members.some(isAccepted);
    case 'one':
      return schema.members.filter(isAccepted).length === 1;
    case 'literals':
      return schema.values.includes(value);
    case 'null':
      return value === null;
    case 'string':
      return typeof value === 'string' && hasForm(schema, value);
    case 'number':
      return typeof value === 'number' && isWithin(schema, value);
    default:
      return schema.kind === typeof value;
  }
}

function hasForm({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern = '' }: StringSchema, text: string) {
  const { length } = [...text];
  return length >= minLength && length <= maxLength && new RegExp(pattern, 'u').test(text);
}

function isWithin(schema: NumberSchema, value: number): boolean {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  if (schema.isInteger && !Number.isInteger(value)) return false;
  return value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum;
}

function sameKind(one: Schema, other: Schema, both: Both): Schema {
  if (one.kind === 'string' && other.kind === 'string') return stringOf(one, other);
  if (one.kind === 'number' && other.kind === 'number') return numberOf(one, other);
  if (one.kind === 'array' && other.kind === 'array') return arrayOf(one, other, both);
  if (one.kind === 'object' && other.kind === 'object') return objectOf(one, other, both);
  if (one.kind === other.kind) return one;
  throw new Contradiction(`a value cannot be of type ${one.kind} and of type ${other.kind}`);
}

function stringOf(one: StringSchema, other: StringSchema): Schema {
  refuseTwo(one, other, ['pattern', 'format']);
  return {
    ...one,
    ...other,
    ...limits(one, other, { most: ['minLength'], least: ['maxLength'] }),
  };
}

function numberOf(one: NumberSchema, other: NumberSchema): Schema {
  refuseTwo(one, other, ['multipleOf']);
  return {
    ...one,
    ...other,
    ...limits(one, other, { most: ['minimum', 'exclusiveMinimum'], least: ['maximum', 'exclusiveMaximum'] }),
    isInteger: one.isInteger || other.isInteger,
  };
}

function arrayOf(one: ArraySchema, other: ArraySchema, both: Both): Schema {
  return {
    ...one,
    ...other,
    ...limits(one, other, { most: ['minItems'], least: ['maxItems'] }),
    ...(one.hasUniqueItems || other.hasUniqueItems ? { hasUniqueItems: true } : {}),
    items: both(one.items, other.items),
  };
}

function objectOf(one: ObjectSchema, other: ObjectSchema, both: Both): Schema {
  const known = new Set([...one.properties, ...other.properties].map(({ name }) => name));
  const properties = [...known].flatMap((name) => propertyOf(name, one, other, both) ?? []);
  const { rest: _, ...kept } = { ...one, ...other };
  return {
    ...kept,
    ...limits(one, other, { most: ['minProperties'], least: ['maxProperties'] }),
    ...(one.names && other.names ? { names: both(one.names, other.names) } : {}),
    properties,
    ...(one.rest && other.rest ? { rest: both(one.rest, other.rest) } : {}),
  };
}

/** `undefined` if one of the schemas does not allow an optional field. */
function propertyOf(name: string, one: ObjectSchema, other: ObjectSchema, both: Both): Property | undefined {
  const [first, second] = [one, other].map(({ properties, rest }) => {
    return properties.find((property) => property.name === name) ?? (rest && { name, isRequired: false, schema: rest });
  });
  const isRequired = Boolean(first?.isRequired || second?.isRequired);
  if (first !== undefined && second !== undefined) {
    try {
      return { name, isRequired, schema: both(first.schema, second.schema) };
    } catch (error) {
      if (error instanceof Contradiction) throw new Contradiction(`'${name}': ${error.message}`);
      throw error;
    }
  }
  if (isRequired) throw new Contradiction(`'${name}' is required and not allowed`);
  return undefined;
}

/** The stricter of each pair of limits. */
function limits<Key extends string, Limits extends { readonly [key in Key]?: number }>(
  one: Limits,
  other: Limits,
  { most, least }: { readonly most: readonly Key[]; readonly least: readonly Key[] },
): { [key in Key]?: number } {
  const strictest = (keys: readonly Key[], choose: (...numbers: number[]) => number) =>
    keys.flatMap((key) => {
      const given = [one[key], other[key]].filter((limit) => limit !== undefined);
      return given.length === 0 ? [] : [[key, choose(...given)] as const];
    });
  return Object.fromEntries([...strictest(most, Math.max), ...strictest(least, Math.min)]) as { [key in Key]?: number };
}

function refuseTwo<Type extends object>(one: Type, other: Type, keys: readonly (keyof Type & string)[]): void {
  for (const key of keys) {
    const [first, second] = [one[key], other[key]];
    if (first === undefined || second === undefined || first === second) continue;
    throw new Contradiction(`one value of '${key}' is implemented, not both ${String(first)} and ${String(second)}`);
  }
}
