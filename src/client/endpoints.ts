import { type OperationId, operations } from '../generated/operations.ts';
import { querySchemas, responseSchemas } from '../generated/schemas.ts';
import { buildTarget } from './config/target.ts';
import { ConfigError } from './errors/errors.ts';
import type { Endpoint, ParsedEnvelope } from './request.ts';

interface Envelope {
  readonly data: unknown;
}

/** The endpoint of an operation, with its query checked. @throws ConfigError that names the parameter. */
export function operationEndpoint(id: OperationId, query: object | undefined): Endpoint {
  const { path, consumesQuota } = operations[id];
  const target = buildTarget(path, query as Record<string, unknown> | undefined);
  const checked = querySchemas[id].safeParse(withoutUndefined(query ?? {}));
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new ConfigError(`${id}: ${issue?.path.map((part) => `'${String(part)}': `).join('')}${issue?.message}`);
  }
  return { name: id, target, consumesQuota, parse: (body) => parseWith(id, body) };
}

/** An endpoint that the contract does not have; only the envelope of its answers is checked. */
export function pathEndpoint(path: string, query: Readonly<Record<string, unknown>> | undefined): Endpoint {
  const known = (Object.keys(operations) as OperationId[]).find((id) => operations[id].path === path);
  if (known !== undefined) return { ...operationEndpoint(known, undefined), target: buildTarget(path, query) };
  return { name: path, target: buildTarget(path, query), consumesQuota: true, parse: parseEnvelope };
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

function withoutUndefined(query: object): object {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
}
