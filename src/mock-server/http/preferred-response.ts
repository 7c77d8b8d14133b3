import type { ErrorResponseSpec, Operation } from '../../generated/operations.ts';
import type { ServiceContext } from '../service/service-state.ts';
import type { MockRequest } from './mock-message.ts';
import { exampleEnvelope } from './responders.ts';
import { retryAfter } from './response-headers.ts';
import {
  codeOfStatus,
  envelopeResponse,
  errorResponse,
  reasonPhrase,
  type ServiceResponse,
} from './service-response.ts';

/**
 * The documented response that `Prefer: code=429` selects (RFC 7240, as in Prism); `undefined` without such a header.
 * For contract tests: the request needs no key and is not counted.
 */
export function preferredResponse(
  { headers }: MockRequest,
  operation: Operation,
  context: ServiceContext,
): ServiceResponse | undefined {
  const code = headers['prefer'] === undefined ? undefined : preferredCode(headers['prefer']);
  if (code === undefined) return undefined;
  const status = /^\d{3}$/.test(code) ? Number(code) : 0;
  const response = documentedResponse(status, operation, context);
  if (response === undefined) return unknownCode(code, operation);
  const why = `requested with Prefer: code=${code}; neither authenticated nor counted`;
  return { ...response, headers: { ...response.headers, 'preference-applied': `code=${code}` }, why };
}

/** The value of the preference `code`; of several, the first counts (RFC 7240 §2). */
function preferredCode(prefer: string): string | undefined {
  for (const preference of prefer.split(',')) {
    const [, code] = /^\s*code\s*=\s*"?([^";]*?)"?\s*(?:;|$)/i.exec(preference) ?? [];
    if (code !== undefined) return code;
  }
  return undefined;
}

function documentedResponse(
  status: number,
  operation: Operation,
  { state, behaviour }: ServiceContext,
): ServiceResponse | undefined {
  if (status === 200) {
    const success = exampleEnvelope(operation, state.seed);
    return success === undefined ? undefined : envelopeResponse(success);
  }
  const documented = operation.errors.find((error) => error.status === status);
  const spec = documented ?? operation.errors.find((error) => covers(error, status));
  if (spec === undefined) return undefined;
  const code = spec.code ?? codeOfStatus(status);
  const headers: Record<string, string> = spec.headers.some((name) => /^retry-after$/i.test(name))
    ? { 'retry-after': retryAfter(1000, behaviour) }
    : {};
  const response = errorResponse({ status, code, message: reasonPhrase(status) || 'Refused.', headers });
  // The example of a range of statuses has only one of them.
  return spec === documented && spec.example !== undefined
    ? { ...response, body: envelopeResponse(spec.example).body }
    : response;
}

/** `default` covers all failures. */
function covers(error: ErrorResponseSpec, status: number): boolean {
  if (status < 400 || status > 599) return false;
  return error.status === 'default' || error.status === `${String(status).slice(0, 1)}XX`;
}

function unknownCode(code: string, { id, errors }: Operation): ServiceResponse {
  // Other texts are not shown, because they could be a key.
  const asked = /^\d{1,5}$/.test(code) ? code : '(not a status)';
  const documented = [200, ...errors.map(({ status }) => (status === 'default' ? '400 to 599' : status))].join(', ');
  return errorResponse({
    status: 400,
    code: 'unknown_preference',
    message: `Prefer: code=${asked} selects no documented response of ${id}; documented: ${documented}.`,
  });
}
