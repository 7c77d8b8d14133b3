import type { Contract } from './contract.ts';
import { readOperation } from './read-operation.ts';
import { readSchema } from './read-schema.ts';
import { SpecNode } from './spec-node.ts';

/** Reads a parsed OpenAPI 3.1 document; throws, naming the place, on whatever it does not implement. */
export function readContract(document: unknown): Contract {
  const spec = new SpecNode(document).only(
    'key',
    ...['openapi', 'info', 'servers', 'security', 'tags', 'paths', 'components', 'x-plans', 'x-api-key', 'x-not-shown'],
  );
  const components = spec
    .get('components')
    .only('kind of component', 'securitySchemes', 'headers', 'parameters', 'responses', 'schemas');
  const schemas = components.get('schemas').entries();
  return {
    schemas: new Map(schemas.map(([name, node]) => [name, readSchema(node)])),
    operations: spec.get('paths').entries().flatMap(readPath),
    plans: spec.get('x-plans').value,
    apiKeyPattern: spec.get('x-api-key').only('key', 'pattern', 'description').get('pattern').string(),
    notShown: spec.get('x-not-shown').value,
  };
}

function readPath([path, node]: [string, SpecNode]) {
  return node
    .only('method or key of a path', 'get')
    .entries()
    .map(([, operation]) => readOperation(path, operation));
}
