import { isSettableHeader } from '../../src/client/options/checks.ts';
import { definedOf } from '../../src/json.ts';
import type { ScalarType } from '../../src/operation.ts';
import type { Parameter, Scalar, Schema, Schemas } from './contract.ts';
import { Contradiction, intersect, SENT_NUMBER } from './intersect.ts';
import { INHERITED_NAMES } from './names.ts';
import { ANY_VALUE, givenValues, readSchema } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

/** The parameters of an operation, and those of its path that it does not replace. */
export function readParameters(nodes: readonly SpecNode[], schemas: Schemas): Parameter[] {
  const parameters = nodes.filter((node) => !isSkipped(node)).flatMap((node) => readParameter(node, schemas) ?? []);
  for (const [index, { name, node }] of parameters.entries()) {
    const isTaken = parameters.findIndex((other) => other.name === name) !== index;
    if (isTaken) node.refuse(`the parameter '${name}' stands twice; path and query are one object for the caller`);
  }
  return parameters;
}

/** A parameter of an operation replaces the one of its path with the same place and name. */
export function parameterNodes(path: SpecNode, operation: SpecNode): readonly SpecNode[] {
  const [shared = [], own = []] = [path, operation].map((owner) =>
    owner.itemsAt('parameters').map((item) => item.replaced()),
  );
  const keyOf = (node: SpecNode) => `${node.at(['in']).value} ${node.at(['name']).value}`;
  return [...shared.filter((node) => !own.some((other) => keyOf(other) === keyOf(node))), ...own];
}

/** A caller can send optional headers with the option `headers` of the call, except those that the client sets. */
function isSkipped(node: SpecNode): boolean {
  const place = node.at(['in']).value;
  const name = String(node.at(['name']).value);
  const isOfOpenApi = place === 'header' && /^(accept|authorization|content-type)$/i.test(name);
  if (isOfOpenApi) return true;
  if ((place !== 'header' && place !== 'cookie') || node.at(['required']).value === true) return false;
  const header = place === 'cookie' ? 'Cookie' : name;
  const next = isSettableHeader(header)
    ? `a call can send it with its option headers: { '${header}': … }`
    : `a call cannot set the header '${header}'`;
  node.note(`the optional ${place} parameter is skipped; ${next}`);
  return true;
}

function readParameter(node: SpecNode, schemas: Schemas): Parameter | undefined {
  const place = node.get('in').oneOf('place of a required parameter', ['query', 'path']);
  if (place === undefined) return undefined;
  node.refuseKeys(['content'], "write 'schema'");
  const required = node.isTrue('required');
  if (place === 'path' && !required) node.refuse('a parameter of the path is required: true');
  const schemaNode = node.get('schema');
  const schema: Schema = sendable(readSchema(schemaNode), schemas) ?? schemaNode.refuse(UNWRITABLE) ?? SCALAR;
  const annotation = (key: string) => schemaNode.find(key) ?? schemaNode.resolved().find(key);
  const array = resolve(schema, schemas);
  const values = valuesOf(array.kind === 'array' ? array.items : schema, schemas);
  refuseAmbiguous(values.choices, schemaNode);
  return {
    name: readName(node.get('name')),
    in: place,
    description: (node.find('description') ?? annotation('description'))?.prose() ?? '',
    required,
    ...definedOf({ deprecated: node.isTrue('deprecated') || schema.isDeprecated || undefined }),
    ...values,
    ...definedOf({
      list: readStyle(node, place, array.kind === 'array'),
      default: annotation('default')?.value ?? undefined,
    }),
    examples: readExamples(node, schema),
    example: undefined, // `withExamples` finds one
    node,
    schema,
  };
}

/** The schema of one value of which nothing is known. */
export const SCALAR = {
  kind: 'any',
  members: [{ kind: 'string' }, SENT_NUMBER, { kind: 'boolean' }],
} as const satisfies Schema;

/** The schema of the values that a URL can contain; null is sent as no parameter. `undefined` if there are others. */
function sendable(schema: Schema, schemas: Schemas): Schema | undefined {
  const forms = formsOf(schema, schemas).filter(({ kind }) => kind !== 'null');
  const [list] = forms;
  const isList = list?.kind === 'array' && forms.length === 1;
  const single = isList ? formsOf(list.items, schemas) : forms;
  if (single.some(({ kind }) => kind === 'array' || kind === 'object')) return undefined;
  try {
    const form: Schema = isList ? { kind: 'array', items: SCALAR } : SCALAR;
    return intersect(schema, form, (name) => schemas.get(name) ?? ANY_VALUE);
  } catch (error) {
    if (error instanceof Contradiction) return undefined;
    throw error;
  }
}

/** The examples of a parameter and of its schema. Those of the schema are checked with it. */
function readExamples(node: SpecNode, schema: Schema): readonly SpecNode[] {
  const own = examplesOf(node);
  for (const example of own) node.document.examples.push({ schema, node: example });
  const [schemaNode, target] = [node.get('schema'), node.get('schema').resolved()];
  return [...own, ...givenValues(schemaNode), ...(schemaNode.has('$ref') ? givenValues(target) : [])];
}

/** The named examples and the single one of a parameter or a media type. */
export function examplesOf(node: SpecNode): readonly SpecNode[] {
  const named = node.entriesAt('examples').map(([, example]) => {
    return example.resolved().get('value');
  });
  return [...named, node.find('example')].filter((example) => example !== undefined);
}

const RESERVED_ENCODED =
  "'allowReserved' is not implemented; the client sends / as %2F; leave it out if the service decodes that";

const UNWRITABLE =
  'a parameter is text, a number, true or false, or a list of those; for any parameters, the operation has x-free-form-query';

function readName(node: SpecNode): string {
  const name = node.string();
  if (name === '' || /[\p{Cc}\p{Cs}=]|^[?\s]|\s$/u.test(name))
    node.refuse("a name without control characters, '=', leading '?' and outer white space is expected");
  if (INHERITED_NAMES.includes(name)) node.refuse(`every object has '${name}'; a parameter cannot have this name`);
  if (/^api[-_ ]?key$/i.test(name)) node.refuse(`'${name}' is the API key, which belongs to securitySchemes`);
  return name;
}

/** How values are written, a list as `a=1&a=2` or `a=1,2`. */
function readStyle(node: SpecNode, place: 'path' | 'query', isList: boolean): 'comma' | 'repeated' | undefined {
  if (node.isTrue('allowReserved')) node.refuse(RESERVED_ENCODED, 'allowReserved');
  if (node.isTrue('allowEmptyValue')) node.noteKeys(['allowEmptyValue'], 'the client sends the values of the schema');
  const style = place === 'query' ? 'form' : 'simple';
  node.find('style')?.oneOf(`style of a parameter in the ${place}`, [style]);
  const isExploded = node.find('explode')?.boolean() ?? place === 'query';
  if (!isList) return undefined;
  return place === 'query' && isExploded ? 'repeated' : 'comma';
}

/** What help, client and mock say and check of one value. `choices` is absent if there are too many to list. */
function valuesOf(schema: Schema, schemas: Schemas): Pick<Parameter, 'type' | 'types' | 'choices'> {
  const forms = formsOf(schema, schemas);
  const types = [...new Set(forms.flatMap(typesOf))];
  const literals = forms.flatMap((form) => (form.kind === 'literals' ? form.values : []));
  const choices = [...new Set(literals.filter((value) => value !== null))];
  if (forms.every(({ kind }) => kind === 'literals')) return { type: choices.join('|'), types, choices };
  const [form] = forms;
  const format = forms.length === 1 && form?.kind === 'string' ? form.format : undefined;
  return { type: format ?? types.join('|'), types };
}

/** `1` and `"1"` are identical in a URL. */
function refuseAmbiguous(choices: readonly Scalar[] = [], node: SpecNode): void {
  const texts = choices.map(String);
  if (new Set(texts).size < texts.length) node.refuse('two values of the enum are written alike in a URL');
}

/** The alternatives of a schema. */
function formsOf(schema: Schema, schemas: Schemas): readonly Schema[] {
  const target = resolve(schema, schemas);
  return 'members' in target ? target.members.flatMap((member) => formsOf(member, schemas)) : [target];
}

function typesOf(schema: Schema): readonly ScalarType[] {
  if (schema.kind === 'literals') return schema.values.map(typeOf);
  if (schema.kind === 'number') return [schema.isInteger ? 'integer' : 'number'];
  return [schema.kind === 'digits' ? 'int64' : schema.kind === 'boolean' ? 'boolean' : 'string'];
}

function typeOf(value: Scalar): ScalarType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

/** Follows references to a schema; returns `unknown` if that schema was rejected. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  return schema.kind === 'reference' ? resolve(schemas.get(schema.name) ?? ANY_VALUE, schemas) : schema;
}
