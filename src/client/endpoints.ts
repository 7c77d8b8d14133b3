import { type Operation, type OperationId, operations } from '../generated/operations.ts';
import { querySchemas, responseSchemas } from '../generated/schemas.ts';
import { createOperationFinder } from '../operation-path.ts';
import { definedOf } from './config/checks.ts';
import { buildOperationTarget, buildTarget, refuseKeyParameters, requirePlainObject } from './config/target.ts';
import { ConfigError } from './errors/errors.ts';
import type { Endpoint, ParsedEnvelope } from './request.ts';

interface Envelope {
  readonly data: unknown;
}

/** The endpoint of an operation, with its parameters checked. @throws ConfigError that names the parameter. */
export function operationEndpoint(id: OperationId, parameters: object = {}): Endpoint {
  const operation: Operation = operations[id];
  requirePlainObject(parameters);
  const values: Readonly<Record<string, unknown>> = definedOf({ ...parameters });
  refuseKeyParameters(values);
  const checked = querySchemas[id].safeParse(values);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new ConfigError(`${id}: ${issue?.path.map((part) => `'${String(part)}': `).join('')}${issue?.message}`);
  }
  const target = buildOperationTarget(operation, values);
  return { name: id, target, consumesQuota: operation.consumesQuota, parse: (body) => parseWith(id, body) };
}

/** What the contract calls deprecated in a call. */
export function deprecations(id: OperationId, values: object = {}): readonly string[] {
  const { deprecated, parameters }: Operation = operations[id];
  const used = parameters.filter((parameter) => parameter.deprecated && Object.hasOwn(values, parameter.name));
  return [
    ...(deprecated ? [`${id}: the operation is deprecated; the service may remove it`] : []),
    ...used.map(({ name }) => `${id}: the parameter '${name}' is deprecated; the service may remove it`),
  ];
}

const findOperation = createOperationFinder(Object.values<Operation & { readonly id: OperationId }>(operations));

/** An endpoint that the contract does not have; only the envelope of its answers is checked. */
export function pathEndpoint(path: string, query: Readonly<Record<string, unknown>> | undefined): Endpoint {
  const target = buildTarget(path, query);
  const known = findOperation(path)?.operation;
  if (known === undefined) return { name: path, target, consumesQuota: true, parse: parseEnvelope };
  const { id, consumesQuota } = known;
  return { name: id, target, consumesQuota, parse: (body) => parseWith(id, body) };
}

function parseWith(id: OperationId, body: unknown): ParsedEnvelope {
  const parsed = responseSchemas[id].safeParse(body);
  return parsed.success ? { data: (parsed.data as Envelope).data } : { issues: parsed.error.issues };
}

function parseEnvelope(body: unknown): ParsedEnvelope {
  const isEnvelope =
    typeof body === 'object' && body !== null && 'success' in body && body.success === true && 'data' in body;
  if (isEnvelope) return { data: body.data };
  return { issues: [{ message: 'expected { "success": true, "data": … }', path: [] }] };
}
