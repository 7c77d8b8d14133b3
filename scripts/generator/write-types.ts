import type { Contract, ObjectSchema, Parameter, Schema } from './contract.ts';
import { jsdoc, literal, propertyKey } from './source.ts';

/** `types.ts`: an interface for each object schema, an alias for each other one. */
export function writeTypes({ schemas, operations }: Contract): string {
  const freeQueries = operations.flatMap(({ query }) => (query.kind === 'free-form' ? [query.schema] : []));
  const components = [...schemas].map(([name, schema]) =>
    declaration(name, schema, freeQueries.includes(name) ? ' | undefined' : ''),
  );
  const queries = operations.flatMap(({ id, query }) =>
    query.kind === 'named' ? [queryInterface(id, query.schema, query.parameters)] : [],
  );
  return [...components, ...queries].join('\n');
}

/** `absent`: a field of a query may be `undefined`; it is then not sent. */
function declaration(name: string, schema: Schema, absent: '' | ' | undefined'): string {
  const isInterface = schema.kind === 'object' && (schema.properties.length > 0 || schema.rest !== undefined);
  const body = isInterface ? `interface ${name} ${objectType(schema, absent)}` : `type ${name} = ${type(schema)};`;
  return `${comment(schema)}export ${body}\n`;
}

function queryInterface(id: string, name: string, parameters: readonly Parameter[]): string {
  const fields = parameters.map(({ name, required, schema, ...rest }) => {
    const notes = rest.default === undefined ? [] : [`@default ${JSON.stringify(rest.default)}`];
    const text = jsdoc([rest.description, ...notes, ...deprecation(rest.deprecated)].join('\n\n'));
    return required
      ? `${text}readonly ${propertyKey(name)}: ${type(schema)};`
      : `${text}readonly ${propertyKey(name)}?: ${type(schema)} | undefined;`;
  });
  return `${jsdoc(`Parameters of \`${id}\`.`)}export interface ${name} {\n${fields.join('\n')}\n}\n`;
}

function comment({ description = '', isDeprecated }: Schema): string {
  return jsdoc([description, ...deprecation(isDeprecated)].join('\n\n'));
}

function deprecation(isDeprecated = false): readonly string[] {
  return isDeprecated ? ['@deprecated'] : [];
}

function type(schema: Schema): string {
  switch (schema.kind) {
    case 'reference':
      return schema.name;
    case 'literals':
      return unique(schema.values.map(literal)).join(' | ');
    case 'digits':
      return 'number | string';
    case 'string':
      return [...(schema.knownValues ?? []).map(literal), schema.knownValues ? '(string & {})' : 'string'].join(' | ');
    case 'array':
      return `readonly ${grouped(schema.items)}[]`;
    case 'object':
      return objectType(schema);
    case 'any':
    case 'one':
      return unique(schema.members.map(type)).join(' | ');
    default:
      return schema.kind;
  }
}

function objectType({ properties, rest }: ObjectSchema, absent = ''): string {
  if (properties.length === 0 && rest === undefined) return '{ readonly [field: string]: never }';
  const fields = properties.map(({ name, isRequired, schema }) => {
    const [mark, none] = isRequired ? ['', ''] : ['?', absent];
    return `${comment(schema)}readonly ${propertyKey(name)}${mark}: ${type(schema)}${none};`;
  });
  const others = indexSignature(properties, rest).map((line) => line.replace(/;$/, `${absent};`));
  return `{\n${[...fields, ...others].join('\n')}\n}`;
}

/** TypeScript requires the index signature to match the named fields, too. */
function indexSignature(properties: ObjectSchema['properties'], rest: Schema | undefined): string[] {
  if (rest === undefined) return [];
  const named = properties.flatMap(({ isRequired, schema }) => [type(schema), ...(isRequired ? [] : ['undefined'])]);
  const value = rest.kind === 'unknown' ? 'unknown' : unique([type(rest), ...named]).join(' | ');
  return [`readonly [field: string]: ${value};`];
}

/** A type that can be followed by `[]`. */
function grouped(schema: Schema): string {
  const text = type(schema);
  return /^[\w]+$/.test(text) ? text : `(${text})`;
}

function unique(types: readonly string[]): string[] {
  return [...new Set(types)];
}
