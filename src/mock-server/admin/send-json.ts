import type { ServerResponse } from 'node:http';
import { PAGE_HEADERS } from '../web/page-security.ts';
import type { Problem } from './problem.ts';

export interface JsonReply {
  readonly status: number;
  /** `undefined` for an answer without a body. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendJson(outgoing: ServerResponse, { status, body, headers = {} }: JsonReply): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  outgoing.writeHead(status, { ...type, 'content-length': Buffer.byteLength(text), ...PAGE_HEADERS, ...headers });
  outgoing.end(text);
}

export function sendProblem(outgoing: ServerResponse, problem: Problem): void {
  const { status, code, message, field, headers } = problem;
  // The rest of a body that is too long is not read; the connection cannot be used again.
  if (status === 413) outgoing.shouldKeepAlive = false;
  sendJson(outgoing, { status, body: { error: { code, message, field } }, headers });
}
