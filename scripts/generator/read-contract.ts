import { isLoopback } from '../../src/environment-proxy.ts';
import type { Contract, Operation } from './contract.ts';
import { typeName } from './names.ts';
import { NOT_RECEIVED, readOperation } from './read-operation.ts';
import { ANY_VALUE, readOnce, readPattern } from './read-schema.ts';
import type { SpecNode } from './spec-node.ts';

/** Reads an OpenAPI document. Reports everything that the generator does not implement, with its place. */
export function readContract(spec: SpecNode): Contract {
  const version = spec.get('openapi');
  if (!/^3\.[01]\.\d+/.test(version.string())) version.refuse(`OpenAPI 3.1 or 3.0 is expected, not '${version.value}'`);
  spec.noteKeys(['webhooks'], NOT_RECEIVED);
  checkServers(spec);
  checkSecurity(spec);
  readSchemas(spec.get('components'));
  const { schemas, notes } = spec.document;
  return {
    schemas,
    operations: readPaths(spec.get('paths')),
    notes,
    plans: readPlans(spec.get('x-plans')),
    apiKeyPattern: readPattern(spec.get('x-api-key').get('pattern')) ?? '',
    notShown: Object.fromEntries(spec.entriesAt('x-not-shown').map(([name, text]) => [name, text.string()])),
  };
}

const PLAN_KEYS = ['title', 'rateLimitPerMinute', 'monthlyLimit', 'maxActiveKeys'];

function readPlans(plans: SpecNode): unknown {
  for (const [, plan] of plans.entries()) {
    const others = plan.keys().filter((key) => !PLAN_KEYS.includes(key));
    for (const key of others) plan.refuse(`unknown key of a plan '${key}'; known here: ${PLAN_KEYS.join(', ')}`, key);
    plan.get('title').string();
    requireCount(plan.get('rateLimitPerMinute'));
    for (const limit of [plan.get('monthlyLimit'), plan.get('maxActiveKeys')])
      if (limit.value !== null) requireCount(limit);
  }
  return plans.value;
}

function requireCount(limit: SpecNode): void {
  const isCount = Number.isInteger(limit.value) && Number(limit.value) > 0;
  if (!isCount) limit.refuse('a whole number above 0 is expected');
}

/** The client appends paths to the base URL of its user, so a path or a variable of a server would be lost. */
function checkServers(spec: SpecNode): void {
  for (const server of spec.itemsAt('servers')) {
    const url = server.get('url');
    const isOrigin = /^https?:\/\/[^/?#{}\s]+\/?$/.test(url.string()) && URL.canParse(url.string());
    if (isOrigin && !isLoopback(new URL(url.string()))) url.note('a server has no effect: users set the base URL');
    if (!isOrigin)
      url.refuse(`a URL without path and variables is expected, not '${url.value}'; a path belongs to each of 'paths'`);
  }
}

function checkSecurity(spec: SpecNode): void {
  checkRequirements(spec, spec);
  const operations = spec.entriesAt('paths').flatMap(([, path]) => path.resolved().find('get') ?? []);
  for (const operation of operations) if (operation.has('security')) checkRequirements(operation, spec);
}

/** They are alternatives: the client needs one that it can meet. */
function checkRequirements(owner: SpecNode, spec: SpecNode): void {
  const requirements = owner.itemsAt('security');
  if (requirements.length === 0)
    (owner.find('security') ?? owner).refuse('the client sends its key with every request: name a scheme in security');
  const problems = requirements.map((requirement) => requirementProblem(requirement, spec));
  const isBearer = (one: SpecNode, index: number) =>
    problems[index] === undefined && schemeOf(one, spec)?.find('scheme') !== undefined;
  if (!problems.includes(undefined)) requirements.map((one, index) => one.refuse(problems[index] ?? ''));
  else if (!requirements.some(isBearer)) owner.note(BEARER_BY_DEFAULT, 'security');
}

const BEARER_BY_DEFAULT =
  "the client sends 'Authorization: Bearer' without its option auth, and the command line always: change that by hand";

/** `undefined` if the client can meet it, with its option `auth`. */
function requirementProblem(requirement: SpecNode, spec: SpecNode): string | undefined {
  const [name, ...others] = requirement.keys();
  if (name === undefined || others.length > 0) return 'exactly one scheme is expected';
  const scheme = schemeOf(requirement, spec);
  if (scheme === undefined) return `'${name}' is not one of the securitySchemes of the components`;
  const parts = ['type', ...(scheme.find('type')?.value === 'http' ? ['scheme'] : ['in', 'name'])];
  const form = parts.map((part) => scheme.find(part)?.value ?? '').join(' ');
  // Names of schemes and of headers are the same in any case, a parameter of the query is not.
  if (/^(http bearer|apiKey header authorization)$/i.test(form) || form === 'apiKey query api_key') return undefined;
  return `the client does not send its key as '${form.trim()}'; it sends: http bearer, apiKey header Authorization, apiKey query api_key`;
}

function schemeOf(requirement: SpecNode, spec: SpecNode): SpecNode | undefined {
  const [name = ''] = requirement.keys();
  return spec.find('components')?.find('securitySchemes')?.find(name)?.resolved();
}

function readSchemas(components: SpecNode): void {
  const { components: known, places, schemas } = components.document;
  for (const [component, node] of components.entriesAt('schemas')) {
    const name = typeName(component);
    if (name === undefined)
      node.refuse(`'${component}' cannot be the name of a type, which has letters and digits of ASCII`);
    else if (known.has(name)) node.refuse(`two components have the type name '${name}'`);
    else known.set(name, node);
  }
  // A type that contains only itself has no values.
  for (const node of [...known.values()].filter((one) => leadsTo(one, one))) {
    node.refuse(`'${node.path.at(-1)}' refers to itself`);
    places.set(node.id, ANY_VALUE);
  }
  for (const [name, node] of known) schemas.set(name, readOnce(node));
}

/** Whether each value of the schema has to match the other one itself, not only in a field or an item. */
function leadsTo(schema: SpecNode, other: SpecNode, seen = new Set<string>()): boolean {
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => schema.itemsAt(key));
  return [schema.target() ?? [], parts].flat().some((part) => {
    if (part.id === other.id) return true;
    return !seen.has(part.id) && leadsTo(part, other, seen.add(part.id));
  });
}

function readPaths(paths: SpecNode): Operation[] {
  return paths.entries().flatMap(([path, node]) => {
    if (path.startsWith('x-')) return [];
    const plain = path.replaceAll(/\{[^{}/]+\}/g, 'x');
    if (!/^(\/[\w.~!$&'()*+,;=:@-]*)+$/.test(plain) || /\/\/|\/\.{1,2}(\/|$)|\}\{/.test(path)) {
      node.refuse("a path begins with '/' and has letters, digits, {name} and -._~!$&'()*+,;=:@ only");
    }
    const item = node.replaced();
    item.refuseKeys(OTHER_METHODS, 'only GET is, because the client repeats and shares requests');
    item.refuseKeys(['servers'], 'the client sends all requests to the base URL of its user');
    return item.has('get') ? [readOperation(path, item)] : [];
  });
}

const OTHER_METHODS = ['delete', 'head', 'options', 'patch', 'post', 'put', 'trace'];
