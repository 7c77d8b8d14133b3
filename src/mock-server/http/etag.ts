import { createHash } from 'node:crypto';
import type { Behaviour } from '../behaviour/behaviour.ts';
import type { MockRequest } from './mock-message.ts';
import type { ServiceResponse } from './service-response.ts';

/**
 * The answer with an ETag, or 304 if the request has it already (RFC 9110 §13.1.2), as the switch says. A 304 counts in
 * the minute like every answer, and in the month like other answers that are no success.
 */
export function withEtag(answer: ServiceResponse, { headers }: MockRequest, behaviour: Behaviour): ServiceResponse {
  const known = headers['if-none-match'];
  // Without a condition and without the switch nothing depends on it.
  if (answer.status !== 200 || (known === undefined && behaviour.values.etag === 'absent')) return answer;
  const form = behaviour.use('etag');
  if (form === 'absent') return answer;
  const etag = answer.headers['etag'] ?? `${form === 'weak' ? 'W/' : ''}"${digestOf(answer.body)}"`;
  if (known === undefined || !includesTag(known, etag)) return { ...answer, headers: { ...answer.headers, etag } };
  return { ...answer, status: 304, headers: { ...answer.headers, etag }, body: '', why: 'not modified' };
}

function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}

/** Weak comparison (RFC 9110 §8.8.3.2): the same text is the same tag, with `W/` or without. */
function includesTag(condition: string, etag: string): boolean {
  if (condition.trim() === '*') return true;
  const tags: readonly string[] = condition.match(/"[^"]*"/g) ?? [];
  return tags.includes(etag.replace(/^W\//, ''));
}
