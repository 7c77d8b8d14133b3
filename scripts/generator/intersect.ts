import { isDeepStrictEqual } from 'node:util';
import { definedOf } from '../../src/json.ts';
import type { ObjectSchema, Property, Scalar, Schema } from './contract.ts';
import { checkOf } from './write-schemas.ts';

/** Two schemas have no value in common, or only values that the generator cannot describe. */
export class Contradiction extends Error {}

/** A number in a URL. Integers of 64 bits may be texts there: a double holds only those up to 2^53. */
export const SENT_NUMBER = { kind: 'number', isInteger: false } as const satisfies Schema;

/** Returns the schema of a component by the name of its type. */
type Lookup = (name: string) => Schema;

/** The schema of the values that match both. `followed`: pairs of references around it. @throws Contradiction */
export function intersect(one: Schema, other: Schema, lookup: Lookup, followed: readonly string[] = []): Schema {
  if (one.kind === 'unknown') return withNotes(one, other, other);
  if (other.kind === 'unknown') return withNotes(one, other, one);
  const both: Both = (first, second) => intersect(first, second, lookup, followed);
  if (one.kind !== 'reference' && other.kind !== 'reference')
    return withNotes(one, other, values(one, other, { lookup, both }));
  const [reference, part] = one.kind === 'reference' ? [one, other] : [other as Reference, one];
  const { name } = reference;
  const same: Reference = { kind: 'reference', name };
  if (part.kind === 'reference' && part.name === name) return withNotes(one, other, same);
  const target = withNotes(reference, lookup(name), lookup(name));
  const ordered = part === other ? ([target, part] as const) : ([part, target] as const);
  const combined = intersect(...ordered, lookup, following(name, part, followed));
  // The named type has its own notes.
  return isDeepStrictEqual(withoutNotes(combined), withoutNotes(target)) ? withNotes(one, other, same) : combined;
}

type Reference = Schema & { readonly kind: 'reference' };

/** Two references can lead to themselves, without end. @throws Contradiction */
function following(name: string, other: Schema, followed: readonly string[]): readonly string[] {
  if (other.kind !== 'reference') return followed;
  const pair = `${name}&${other.name}`;
  if (!followed.includes(pair)) return [...followed, pair];
  throw new Contradiction(`'${name}' contains itself; combining it is not implemented`);
}

function values(
  one: Schema,
  other: Schema,
  { lookup, both }: { readonly lookup: Lookup; readonly both: Both },
): Schema {
  if (one.kind === 'literals') return matching(one.values, other, lookup);
  if (other.kind === 'literals') return matching(other.values, one, lookup);
  if (one.kind === 'number' && other === SENT_NUMBER) return one.isLong ? { kind: 'digits', number: one } : one;
  if ('members' in one) return eachMember(one, (member) => both(member, other));
  if ('members' in other) return eachMember(other, (member) => both(one, member));
  return sameKind(one, other, both);
}

type Both = (one: Schema, other: Schema) => Schema;

function withNotes(one: Schema, other: Schema, combined: Schema): Schema {
  const notes = definedOf({
    description: one.description ?? other.description,
    isDeprecated: one.isDeprecated ?? other.isDeprecated,
    isWriteOnly: one.isWriteOnly ?? other.isWriteOnly,
    example: one.example ?? other.example,
  });
  return { ...combined, ...notes };
}

function withoutNotes({ description: _, isDeprecated: __, isWriteOnly: ___, example: ____, ...values }: Schema) {
  return values;
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
  const check = checkOf(withTargets(schema, lookup));
  const kept = literals.filter((value) => check.safeParse(value).success);
  if (kept.length > 0) return { kind: 'literals', values: kept };
  throw new Contradiction(`none of ${literals.map((value) => JSON.stringify(value)).join(', ')} is possible`);
}

/** With its references replaced, except those inside of fields and items, which do not matter to a scalar. */
function withTargets(schema: Schema, lookup: Lookup): Schema {
  if (schema.kind === 'reference') return withTargets(lookup(schema.name), lookup);
  if (!('members' in schema)) return schema;
  return { ...schema, members: schema.members.map((member) => withTargets(member, lookup)) };
}

function sameKind(one: Schema, other: Schema, both: Both): Schema {
  if (one.kind !== other.kind) {
    throw new Contradiction(`a value cannot be of type ${one.kind} and of type ${other.kind}`);
  }
  const own: Readonly<Record<string, unknown>> = { ...one };
  const keywords = Object.entries(other).map(([key, value]) => {
    return [key, own[key] === undefined ? value : keyword(key, [own[key], value], both)];
  });
  const combined = { ...one, ...Object.fromEntries(keywords) } as Schema;
  if (one.kind !== 'object' || other.kind !== 'object') return combined;
  const { rest: _, ...fields } = combined as ObjectSchema;
  return definedOf({
    ...fields,
    properties: propertiesOf(one, other, both),
    rest: one.rest && other.rest && both(one.rest, other.rest),
  });
}

const MORE = ['minLength', 'minItems', 'minProperties', 'minimum', 'exclusiveMinimum'];
const LESS = ['maxLength', 'maxItems', 'maxProperties', 'maximum', 'exclusiveMaximum'];

/** The value of a keyword that two schemas have: the stricter one, and all values that either knows. */
function keyword(key: string, pair: readonly [one: unknown, other: unknown], both: Both): unknown {
  const [one, other] = pair;
  if (MORE.includes(key)) return Math.max(...(pair as readonly number[]));
  if (LESS.includes(key)) return Math.min(...(pair as readonly number[]));
  if (key === 'isInteger') return one || other;
  if (key === 'knownValues') return [...new Set(pair.flat())];
  if (key === 'items' || key === 'names') return both(one as Schema, other as Schema);
  if (['pattern', 'format', 'multipleOf'].includes(key) && one !== other) {
    throw new Contradiction(`one value of '${key}' is implemented, not both ${String(one)} and ${String(other)}`);
  }
  return other;
}

function propertiesOf(one: ObjectSchema, other: ObjectSchema, both: Both): Property[] {
  const names = new Set([...one.properties, ...other.properties].map(({ name }) => name));
  return [...names].flatMap((name) => propertyOf(name, one, other, both) ?? []);
}

/** `undefined` if one of the schemas does not allow an optional field. */
function propertyOf(name: string, one: ObjectSchema, other: ObjectSchema, both: Both): Property | undefined {
  const [first, second] = [one, other].map(({ properties, rest }) => {
    return properties.find((property) => property.name === name) ?? (rest && { name, isRequired: false, schema: rest });
  });
  const isRequired = Boolean(first?.isRequired || second?.isRequired);
  if (first !== undefined && second !== undefined) {
    try {
      const schema = both(first.schema, second.schema);
      return { name, isRequired: isRequired && !schema.isWriteOnly, schema };
    } catch (error) {
      if (error instanceof Contradiction) throw new Contradiction(`'${name}': ${error.message}`);
      throw error;
    }
  }
  if (isRequired) throw new Contradiction(`'${name}' is required and not allowed`);
  return undefined;
}
