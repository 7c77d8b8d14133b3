/** The part of JSON Schema that zod writes and that the reference shows. */
export interface JsonSchema {
  readonly $schema?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

export function propertiesOf({ properties = {}, required = [] }: JsonSchema): Property[] {
  return Object.entries(properties).map(([name, schema]) => ({ name, schema, isRequired: required.includes(name) }));
}

/** The name of a schema that another section explains. */
type NameOf = (schema: JsonSchema) => string | undefined;

/** A schema in TypeScript notation; a named schema appears as its name. */
export function typeOf(schema: JsonSchema, nameOf: NameOf = () => undefined): string {
  return nameOf(schema) ?? choiceOf(schema, nameOf) ?? structureOf(schema, nameOf);
}

/** The values of an enumeration or a union; `undefined` for other schemas. */
function choiceOf(schema: JsonSchema, nameOf: NameOf): string | undefined {
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return union(variants.map((part) => typeOf(part, nameOf)));
  if (schema.enum) return union(schema.enum.map(quoted));
  return 'const' in schema ? quoted(schema.const) : undefined;
}

function structureOf(schema: JsonSchema, nameOf: NameOf): string {
  const { type = 'unknown', items = {}, additionalProperties: more } = schema;
  const properties = propertiesOf(schema);
  if (type === 'array') return listOf(typeOf(items, nameOf));
  if (properties.length > 0) return `{ ${properties.map((property) => fieldOf(property, nameOf)).join(', ')} }`;
  if (type === 'object' && typeof more === 'object') return `{ [name]: ${typeOf(more, nameOf)} }`;
  return typeof type === 'string' ? type : union(type);
}

/** `name: type`, or `name?: type` if the field is optional. */
export function fieldOf({ name, schema, isRequired }: Property, nameOf?: NameOf): string {
  return `${name}${isRequired ? '' : '?'}: ${typeOf(schema, nameOf)}`;
}

function union(types: readonly string[]): string {
  return Array.from(new Set(types)).join(' | ');
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function listOf(item: string): string {
  return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
}
