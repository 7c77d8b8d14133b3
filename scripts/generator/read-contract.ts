import type { Contract, Operation, Schema, Schemas } from './contract.ts';
import { typeName } from './names.ts';
import { type Reading, readOperation } from './read-operation.ts';
import { readOnce, readPattern, UNREADABLE } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Reads an OpenAPI document. Reports everything that the generator does not implement, with its place. */
export function readContract(spec: SpecNode): Contract {
  readVersion(spec);
  spec.attempt(() => checkServers(spec));
  spec.attempt(() => checkSecurity(spec));
  // Without components, the other problems are reported, too.
  const components = spec.attempt(() => spec.get('components').entriesAt('schemas')) ?? [];
  const schemas = readSchemas(components);
  refuseCircles(schemas, components);
  const operations = spec.attempt(() => readPaths(spec.get('paths'), { schemas, ids: new Set() })) ?? [];
  return {
    schemas,
    operations,
    examples: spec.document.examples,
    notes: spec.document.notes,
    plans: spec.attempt(() => readPlans(spec.get('x-plans'))),
    apiKeyPattern: spec.attempt(() => readKeyPattern(spec)) ?? '',
    notShown: spec.attempt(() => readTexts(spec.get('x-not-shown'))),
  };
}

type Entries = ReturnType<SpecNode['entries']>;

const PLAN_KEYS = ['title', 'rateLimitPerMinute', 'monthlyLimit', 'maxActiveKeys'];

function readPlans(plans: SpecNode): unknown {
  for (const [, plan] of plans.entries()) {
    const others = plan.keys().filter((key) => !PLAN_KEYS.includes(key));
    for (const key of others) plan.refuse(`unknown key of a plan '${key}'; known here: ${PLAN_KEYS.join(', ')}`, key);
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
  return readPattern(spec.get('x-api-key').get('pattern'));
}

function readVersion(spec: SpecNode): void {
  const version = spec.find('openapi') ?? spec.fail("this is not an OpenAPI document: 'openapi' is missing");
  if (!/^3\.[01]\.\d+/.test(version.string())) version.refuse(`OpenAPI 3.1 or 3.0 is expected, not '${version.value}'`);
}

/** The client appends paths to the base URL of its user, so a path or a variable of a server would be lost. */
function checkServers(spec: SpecNode): void {
  for (const server of spec.itemsAt('servers')) {
    const url = server.get('url');
    if (/^https?:\/\/[^/?#{}\s]+\/?$/.test(url.string())) continue;
    url.refuse(`a URL without path and variables is expected, not '${url.value}'; a path belongs to each of 'paths'`);
  }
}

/** The ways in which the client sends a key (its option `auth`) and the mock server accepts one. */
const CREDENTIALS = ['http bearer', 'apiKey header Authorization', 'apiKey query api_key'];

function checkSecurity(spec: SpecNode): void {
  const operations = spec.entriesAt('paths').flatMap(([, path]) => path.resolved().find('get') ?? []);
  for (const owner of [spec, ...operations]) {
    const security = owner.find('security');
    if (security === undefined && owner !== spec) continue;
    if (!security?.items().length)
      (security ?? owner).refuse('the client sends its key with every request: name a scheme in security');
    checkRequirements(security?.items() ?? [], spec);
  }
}

/** The requirements are alternatives: the client needs one that it can meet. */
function checkRequirements(requirements: readonly SpecNode[], spec: SpecNode): void {
  const problems = requirements.map((requirement) => requirementProblem(requirement, spec));
  if (problems.includes(undefined)) return;
  for (const [index, problem = ''] of problems.entries()) requirements[index]?.refuse(problem);
}

/** `undefined` if the client can meet it. */
function requirementProblem(requirement: SpecNode, spec: SpecNode): string | undefined {
  const [name, ...others] = requirement.keys();
  if (name === undefined || others.length > 0) return 'exactly one scheme is expected';
  const scheme = spec.find('components')?.find('securitySchemes')?.find(name)?.resolved();
  if (scheme === undefined) return `'${name}' is not one of the securitySchemes of the components`;
  const parts = ['type', ...(scheme.find('type')?.value === 'http' ? ['scheme'] : ['in', 'name'])];
  const form = parts.map((part) => scheme.find(part)?.value ?? '').join(' ');
  if (isCredential(form)) return undefined;
  return `the client does not send its key as '${form.trim()}'; it sends: ${CREDENTIALS.join(', ')}`;
}

/** Names of schemes and of headers are the same in any case, a parameter of the query is not. */
function isCredential(form: string): boolean {
  const [known] = CREDENTIALS.filter((credential) => credential.toLowerCase() === form.toLowerCase());
  return known !== undefined && (known === form || !known.includes('query'));
}

function readSchemas(components: Entries): Map<string, Schema> {
  const schemas = new Map<string, Schema>();
  for (const [component, node] of components) {
    const name = typeName(component);
    if (name === undefined) node.refuse(`'${component}' cannot be the name of a type`);
    else if (schemas.has(name)) node.refuse(`two components have the type name '${name}'`);
    else schemas.set(name, node.attempt(() => readOnce(node)) ?? UNREADABLE);
  }
  return schemas;
}

function readPaths(paths: SpecNode, reading: Reading): Operation[] {
  return paths.entries().flatMap(([path, node]) => {
    if (path.startsWith('x-')) return [];
    const plain = path.replaceAll(/\{[^{}/]+\}/g, 'x');
    if (!/^(\/[\w.~!$&'()*+,;=:@-]*)+$/.test(plain) || /\/\/|\/\.{1,2}(\/|$)|\}\{/.test(path)) {
      node.refuse("a path begins with '/' and has letters, digits, {name} and -._~!$&'()*+,;=:@ only");
    }
    return node.attempt(() => readPath(path, node, reading)) ?? [];
  });
}

const OTHER_METHODS = ['delete', 'head', 'options', 'patch', 'post', 'put', 'trace'];

function readPath(path: string, node: SpecNode, reading: Reading): Operation[] {
  const item = node.resolved();
  item.refuseKeys(OTHER_METHODS, 'only GET is, because the client repeats and shares requests');
  item.refuseKeys(['servers'], 'the client sends all requests to the base URL of its user');
  if (!item.has('get')) return [];
  return [readOperation(path, item, reading)].filter((operation) => operation !== undefined);
}

/** A type that contains only itself has no values. Reports it, because later steps follow references to their end. */
function refuseCircles(schemas: Map<string, Schema>, components: Entries): void {
  const circles = components.filter(([component]) => {
    const name = typeName(component) ?? '';
    return directReferences(schemas.get(name), schemas).has(name);
  });
  for (const [component, node] of circles) {
    node.refuse(`'${component}' refers to itself`);
    schemas.set(typeName(component) ?? '', UNREADABLE);
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
