import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { jsonDocuments, parseJson } from '../../json.ts';
import { utf8Text } from '../../text.ts';
import { PAGE_HEADERS } from '../http/own-paths.ts';
import { readBody } from '../http/read-body.ts';
import { MockServerError, type MockServerErrorDetail } from '../input/mock-server-error.ts';

/** An error of the admin API itself, with headers for its response. `field` is the part of the request that is wrong. */
export class Problem extends MockServerError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(message: string, { headers = {}, ...detail }: ProblemDetail) {
    super(message, detail);
    this.headers = headers;
  }
}

interface ProblemDetail extends MockServerErrorDetail {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface JsonReply {
  readonly status: number;
  /** `undefined` for a response without a body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendJson(outgoing: ServerResponse, { status, body, headers = {} }: JsonReply): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  outgoing.writeHead(status, { ...type, 'content-length': Buffer.byteLength(text), ...PAGE_HEADERS, ...headers });
  outgoing.end(text);
}

/** The body of a response with an error. */
export const problem = z.object({
  error: z.object({ code: z.string(), message: z.string(), field: z.string().optional() }),
});

/** Sends `{ error: { code, message, field } }`. An error of the mock without a status is about an invalid argument. */
export function sendProblem(outgoing: ServerResponse, problem: MockServerError): void {
  const { status = 400, code, message, field } = problem;
  const headers = problem instanceof Problem ? problem.headers : {};
  // The body is not read to its end; the connection cannot be used again.
  if (status === 413) outgoing.shouldKeepAlive = false;
  sendJson(outgoing, { status, body: { error: { code, message, field } }, headers });
}

/** A state can have a million keys. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** The JSON body of a request, or its lines of JSON, and its text; `{}` without a body. Refuses any other body. */
export async function readJsonBody(
  incoming: IncomingMessage,
): Promise<{ readonly value: unknown; readonly text: string }> {
  const isTooLong = Number(incoming.headers['content-length'] ?? 0) > MAX_BODY_BYTES;
  const bytes = isTooLong ? undefined : await readBody(incoming, MAX_BODY_BYTES);
  if (bytes === undefined || bytes.length > MAX_BODY_BYTES) {
    throw new Problem(`The body is larger than ${MAX_BODY_BYTES} bytes.`, { status: 413, code: 'content_too_large' });
  }
  const text = utf8Text(bytes);
  if (text === undefined) {
    throw new Problem('The body is UTF-16; send it as UTF-8.', { status: 400, code: 'invalid_json' });
  }
  if (!isUtf8(bytes)) throw new Problem('The body is not valid UTF-8.', { status: 400, code: 'invalid_json' });
  if (text === '') return { value: {}, text };
  // A form of another site cannot have this type, and a script of another site cannot set it.
  if (!/^application\/json\b/i.test(incoming.headers['content-type'] ?? '')) {
    const text = 'The body must be JSON, with content-type: application/json.';
    throw new Problem(text, { status: 415, code: 'json_required', field: 'Content-Type' });
  }
  const value = valueIn(text);
  // The message of the parser can contain text of the body.
  if (value === undefined) throw new Problem('The body is not JSON.', { status: 400, code: 'invalid_json' });
  return { value, text };
}

/** Recorded responses are lines of JSON. `undefined` for another text than JSON. */
function valueIn(text: string): unknown {
  const value = parseJson(text);
  const lines = value === undefined ? jsonDocuments(text) : [];
  return lines.length > 1 ? lines : value;
}
