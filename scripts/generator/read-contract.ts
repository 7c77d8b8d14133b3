import type { Contract, Operation } from './contract.ts';
import { readOperation } from './read-operation.ts';
import { readSchema } from './read-schema.ts';
import { SpecError, SpecNode } from './spec-node.ts';

/** Reads a parsed OpenAPI 3.1 document; throws, naming the place, on whatever it does not implement. */
export function readContract(document: unknown): Contract {
  const spec = new SpecNode(document).only(
    'key',
    ...['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components', 'x-plans', 'x-api-key', 'x-not-shown'],
  );
  const components = spec
    .get('components')
    .only('kind of component', 'securitySchemes', 'headers', 'parameters', 'responses', 'schemas');
  const schemas = components.get('schemas');
  const operations = spec.get('paths').entries().flatMap(readPath);
  refuseTakenNames(operations, schemas);
  return {
    schemas: new Map(schemas.entries().map(([name, node]) => [componentName(name, node), readSchema(node)])),
    operations,
    plans: spec.get('x-plans').value,
    apiKeyPattern: spec.get('x-api-key').only('key', 'pattern', 'description').get('pattern').string(),
    notShown: spec.get('x-not-shown').value,
  };
}

function readPath([path, node]: [string, SpecNode]): Operation[] {
  if (path.includes('{')) node.fail('parameters in a path are not implemented');
  node.only('method or key of a path', 'get');
  return [readOperation(path, node.get('get'))];
}

function componentName(name: string, node: SpecNode): string {
  return /^[A-Z]\w*$/.test(name) ? name : node.fail(`'${name}' cannot be the name of a type`);
}

function refuseTakenNames(operations: readonly Operation[], schemas: SpecNode): void {
  const ids = new Set(['request', 'constructor']);
  for (const { id, path, query } of operations) {
    if (ids.has(id)) throw new SpecError(`${path}: the operationId '${id}' is taken`);
    ids.add(id);
    if (query.kind === 'named') schemas.find(query.schema)?.fail(`the query of ${id} has this name`);
  }
}
