import { ResponseError } from './errors/errors.ts';
import type { SchemaIssue, StandardSchema } from './standard-schema.ts';

interface PayloadContext {
  readonly endpoint: string;
  readonly status: number;
}

/** The output of the caller's own schema for `data`. @throws ResponseError with the schema's issues. */
export async function checkPayload(
  schema: StandardSchema,
  data: unknown,
  { endpoint, status }: PayloadContext,
): Promise<unknown> {
  const result = await schema['~standard'].validate(data);
  if (result.issues === undefined) return result.value;
  const [first] = result.issues;
  throw new ResponseError(`The data of ${endpoint} does not match the schema: ${first && describe(first)}`, {
    status,
    issues: result.issues,
  });
}

function describe({ path = [], message }: SchemaIssue): string {
  const where = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
  return where === '' ? message : `${where}: ${message}`;
}
