import type { Contract, Operation, Schema, Schemas } from './contract.ts';
import { typeName } from './names.ts';
import { type Reading, readOperation } from './read-operation.ts';
import { readPattern, readSchema } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

const KEYS = [
  ...['openapi', 'jsonSchemaDialect', 'info', 'servers', 'security', 'tags', 'externalDocs', 'paths', 'components'],
  ...['x-plans', 'x-api-key', 'x-not-shown'],
];
const COMPONENTS = ['securitySchemes', 'headers', 'parameters', 'responses', 'schemas', 'examples', 'links'];

/** Reads an OpenAPI document. Reports everything that the generator does not implement, with its place. */
export function readContract(spec: SpecNode): Contract {
  readVersion(spec);
  spec.only('key', ...KEYS);
  spec.attempt(() => checkServers(spec));
  spec.attempt(() => checkSecurity(spec));
  // Without components, the other problems are reported, too.
  const components = spec.attempt(() => readComponents(spec.get('components'))) ?? [];
  const schemas = readSchemas(components);
  refuseCircles(schemas, components);
  const reading = { schemas, examples: [], ids: new Set<string>() };
  const operations = readPaths(spec.get('paths'), reading);
  return {
    schemas,
    operations,
    examples: reading.examples,
    plans: spec.attempt(() => readPlans(spec.get('x-plans'))),
    apiKeyPattern: spec.attempt(() => readKeyPattern(spec)) ?? '',
    notShown: spec.attempt(() => readTexts(spec.get('x-not-shown'))),
  };
}

function readComponents(components: SpecNode): Entries {
  return components.only('kind of component', ...COMPONENTS).entriesAt('schemas');
}

type Entries = ReturnType<SpecNode['entries']>;

function readPlans(plans: SpecNode): unknown {
  for (const [, plan] of plans.entries()) {
    plan.only('key of a plan', 'title', 'rateLimitPerMinute', 'monthlyLimit', 'maxActiveKeys');
    plan.get('title').string();
    plan.get('rateLimitPerMinute').number();
    for (const limit of [plan.get('monthlyLimit'), plan.get('maxActiveKeys')]) if (limit.value !== null) limit.number();
  }
  return plans.value;
}

function readTexts(texts: SpecNode): unknown {
  for (const [, text] of texts.entries()) text.string();
  return texts.value;
}

function readKeyPattern(spec: SpecNode): string | undefined {
  return readPattern(spec.get('x-api-key').only('key', 'pattern', 'description').get('pattern'));
}

function readVersion(spec: SpecNode): void {
  const version = spec.find('openapi') ?? spec.fail("this is not an OpenAPI document: 'openapi' is missing");
  if (!/^3\.1\.\d+/.test(version.string())) version.fail(`OpenAPI 3.1 is expected, not '${version.value}'`);
}

/** The client appends paths to the base URL of its user, so a path or a variable of a server would be lost. */
function checkServers(spec: SpecNode): void {
  for (const server of spec.itemsAt('servers')) {
    const url = server.only('key of a server', 'url', 'description').get('url');
    if (/^https?:\/\/[^/?#{}\s]+\/?$/.test(url.string())) continue;
    url.refuse(`a URL without path and variables is expected, not '${url.value}'; a path belongs to each of 'paths'`);
  }
}

/** The ways in which the client sends a key (its option `auth`) and the mock server accepts one. */
const CREDENTIALS = ['http bearer', 'apiKey header Authorization', 'apiKey query api_key'];

function checkSecurity(spec: SpecNode): void {
  const operations = spec.entriesAt('paths').flatMap(([, path]) => path.find('get') ?? []);
  for (const owner of [spec, ...operations]) {
    const security = owner.find('security');
    if (security === undefined && owner !== spec) continue;
    if (!security?.items().length)
      (security ?? owner).refuse('the client sends its key with every request: name a scheme in security');
    for (const requirement of security?.items() ?? []) checkRequirement(requirement, spec);
  }
}

function checkRequirement(requirement: SpecNode, spec: SpecNode): void {
  const [name, ...others] = requirement.keys();
  if (name === undefined || others.length > 0) return requirement.refuse('exactly one scheme is expected');
  const scheme = spec.find('components')?.find('securitySchemes')?.find(name)?.resolved();
  if (scheme === undefined) return requirement.refuse(`'${name}' is not one of the securitySchemes of the components`);
  const parts = ['type', ...(scheme.find('type')?.value === 'http' ? ['scheme'] : ['in', 'name'])];
  const form = parts.map((part) => scheme.find(part)?.value ?? '').join(' ');
  if (CREDENTIALS.includes(form)) return;
  requirement.refuse(`the client does not send its key as '${form}'; it sends: ${CREDENTIALS.join(', ')}`);
}

function readSchemas(components: Entries): Map<string, Schema> {
  const schemas = new Map<string, Schema>();
  for (const [component, node] of components) {
    const name = typeName(component);
    if (name === undefined) node.refuse(`'${component}' cannot be the name of a type`);
    else if (schemas.has(name)) node.refuse(`two components have the type name '${name}'`);
    else schemas.set(name, node.attempt(() => readSchema(node)) ?? { kind: 'unknown' });
  }
  return schemas;
}

function readPaths(paths: SpecNode, reading: Reading): Operation[] {
  const shapes = new Set<string>();
  return paths.entries().flatMap(([path, node]) => {
    if (path.startsWith('x-')) return [];
    const plain = path.replaceAll(/\{[^{}/]+\}/g, 'x');
    if (!/^(\/[\w.~!$&'()*+,;=:@-]*)+$/.test(plain) || /\/\/|\/\.{1,2}(\/|$)|\}\{/.test(path)) {
      node.refuse("a path begins with '/' and has letters, digits, {name} and -._~!$&'()*+,;=:@ only");
    }
    const shape = path.replaceAll(/\{[^}]*\}/g, '{}');
    if (shapes.has(shape)) node.refuse('another path differs from this one by the names of its parameters alone');
    shapes.add(shape);
    return node.attempt(() => readPath(node, reading)) ?? [];
  });
}

function readPath(node: SpecNode, reading: Reading): Operation[] {
  node.only('method or key of a path', 'get', 'summary', 'description', 'parameters');
  if (!node.has('get')) return [];
  return [readOperation(node, reading)].filter((operation) => operation !== undefined);
}

/** A type that contains only itself has no values. Reports it, because later steps follow references to their end. */
function refuseCircles(schemas: Map<string, Schema>, components: Entries): void {
  const circles = components.filter(([component]) => {
    const name = typeName(component) ?? '';
    return directReferences(schemas.get(name), schemas).has(name);
  });
  for (const [component, node] of circles) {
    node.refuse(`'${component}' refers to itself`);
    schemas.set(typeName(component) ?? '', { kind: 'unknown' });
  }
}

/** Names of the schemas that check the value itself, not its fields or items. */
function directReferences(
  schema: Schema | undefined,
  schemas: Schemas,
  found = new Set<string>(),
): ReadonlySet<string> {
  if (schema !== undefined && 'members' in schema) {
    for (const member of schema.members) directReferences(member, schemas, found);
  }
  if (schema?.kind === 'reference' && !found.has(schema.name)) {
    found.add(schema.name);
    directReferences(schemas.get(schema.name), schemas, found);
  }
  return found;
}
