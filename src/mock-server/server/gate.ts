import { isUtf8 } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import * as z from 'zod';
import { jsonErrorPlace, parseJson } from '../../json.ts';
import { utf8Text } from '../../text.ts';
import type { HandleOwnPages } from '../adapters/node-server.ts';
import { ADMIN_ROOT, hasBody, isAdminPath, parseRequest, parseTarget, readBody } from '../http/parse-request.ts';
import { PAGE_HEADERS } from '../http/responses.ts';
import { MockServerError, type MockServerErrorDetail } from '../input/mock-server-error.ts';
import { acceptsPage, redirectToPanel, sendReadiness } from '../panel/serve-panel.ts';

/** The names under which a server may be reached. */
interface OwnNames {
  /** The option `host` of the server. */
  readonly host: string | undefined;
  /** Whether other machines may reach the server, by the names of a private network. */
  readonly allowRemote: boolean | undefined;
  /** Of the server's own pages. */
  readonly scheme: 'http' | 'https';
}

interface GateOptions extends OwnNames {
  readonly token: string;
  /** Loads the control panel and the admin API, at the first request for them. */
  readonly load: () => Promise<HandleAdmin>;
}

/** Handles a request for the path below `/__fxrates`. */
export type HandleAdmin = (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => Promise<void>;

/** Handles the requests for the mock's own pages, by their path and their headers. Others are for the emulated service. */
export function createGate({ token, load, ...names }: GateOptions): HandleOwnPages {
  let loaded: Promise<HandleAdmin> | undefined;
  const refusalOf = (headers: IncomingHttpHeaders, path: string) => {
    // No page of another site knows the token. Behind a proxy, Host and Origin can differ.
    if (hasToken(headers, token)) return undefined;
    // Health contains nothing secret.
    return (path === HEALTH ? undefined : refuseForeignHost(headers, names)) ?? refuseForeignPage(headers, names);
  };
  const answerRoot = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!isReading(incoming)) return false;
    const isForPage = acceptsPage(incoming);
    if (!isForPage && sendsKey(incoming)) return false;
    if (!isForPage) sendReadiness(outgoing);
    else if (!sendIfRefused(outgoing, refuseForeignHost(incoming.headers, names))) redirectToPanel(outgoing);
    return true;
  };
  return (incoming, outgoing) => {
    const { url = '', headers } = incoming;
    const { path } = parseTarget(url);
    if (path === '/' || path === '') return answerRoot(incoming, outgoing);
    if (!isAdminPath(path)) return false;
    if (sendIfRefused(outgoing, refusalOf(headers, path))) return true;
    loaded ??= load().catch((cause) => {
      // Such as of a bundle without the files that are loaded on demand.
      const problem = new Problem(`The admin API cannot be loaded: ${cause}`, { status: 500, code: 'internal_error' });
      return async (_, response) => sendProblem(response, problem);
    });
    loaded.then((handle) => handle(incoming, outgoing, path.slice(ADMIN_ROOT.length))).catch(() => outgoing.destroy());
    return true;
  };
}

/** Programs that wait for the mock send no key. A client does: its request is for the rules and the journal. */
function sendsKey({ url = '', headers: { authorization = '' } }: IncomingMessage): boolean {
  const { credentials, recorded } = parseRequest({ method: 'GET', target: url, headers: { authorization } });
  return credentials.length > 0 || recorded.hasKeyInUrl;
}

/** The service has no response for `/`. */
function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

const HEALTH = `${ADMIN_ROOT}/health`;

/** Returns whether there was a refusal. */
function sendIfRefused(outgoing: ServerResponse, refusal: Problem | undefined): boolean {
  if (refusal !== undefined) sendProblem(outgoing, refusal);
  return refusal !== undefined;
}

/**
 * Refuses a request with a foreign Host header, for pages and for routes without a token. With DNS rebinding, a page of
 * another site reaches this server by the name of that site, but not by an IP address, by `localhost`, or by a name
 * that no public domain can have.
 */
export function refuseForeignHost({ host = '' }: IncomingHttpHeaders, names: OwnNames): Problem | undefined {
  if (isOwnHost(host, names)) return undefined;
  const text =
    'The Host header is neither an IP address nor a name of this server; use one of these, or send the admin token.';
  return new Problem(text, { status: 403, code: 'foreign_host', field: 'Host' });
}

/** Refuses requests without the token that a page of another site can cause in a browser. */
function refuseForeignPage({ host = '', origin }: IncomingHttpHeaders, { scheme }: OwnNames): Problem | undefined {
  if (origin === undefined || origin === `${scheme}://${host}`) return undefined;
  const text =
    'The Origin header is not that of this server; send the admin token, which the mock prints when it starts.';
  return new Problem(text, { status: 403, code: 'foreign_origin', field: 'Origin' });
}

function isOwnHost(host: string, { host: ownName, allowRemote = false }: OwnNames): boolean {
  const [, bracketed, plain = ''] = /^(?:\[([\da-f:.]+)\]|([^:/@\s]+))(?::\d+)?$/i.exec(host) ?? [];
  const name = bracketed ?? plain.toLowerCase();
  if (name === 'localhost' || isIP(name) !== 0) return true;
  return name !== '' && (name === ownName?.toLowerCase() || (allowRemote && PRIVATE_NAME.test(name)));
}

/** A single word, such as the name of a container, or a name below a reserved top-level domain. Public DNS has neither. */
const PRIVATE_NAME = /^(?:[a-z0-9_-]+|.+\.(?:internal|test|localhost|cluster\.local))$/;

/** Whether the request has the admin token, which no page of another site knows. */
export function hasToken({ authorization = '' }: IncomingHttpHeaders, token: string): boolean {
  const given = tokenIn(authorization);
  // The time does not depend on their lengths or on where they differ.
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

function tokenIn(authorization: string): string | undefined {
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** The refusal of a request without the admin token. */
export function tokenProblem({ authorization = '' }: IncomingHttpHeaders): Problem {
  const message = tokenIn(authorization) === undefined ? 'The admin token is missing.' : 'This is not the admin token.';
  return new Problem(`${message} Send it as "Authorization: Bearer …"; the mock prints it when it starts.`, {
    status: 401,
    code: 'admin_token_required',
    field: 'Authorization',
    headers: { 'www-authenticate': 'Bearer realm="fxrates mock admin"' },
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

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
  /** Empty for a 204. */
  readonly json: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendJson(outgoing: ServerResponse, { status, json, headers = {} }: JsonReply): void {
  const length = Buffer.byteLength(json);
  // RFC 9110 §8.6: a 204 has no Content-Length.
  const content = length === 0 ? {} : { 'content-type': 'application/json; charset=utf-8', 'content-length': length };
  outgoing.writeHead(status, { ...content, ...PAGE_HEADERS, ...headers });
  if (status !== 413) return void outgoing.end(json);
  outgoing.write(json);
  // The connection stays open for the rest of the body: most clients read no response before they have sent everything.
  outgoing.req.resume().once('end', () => outgoing.end());
}

/** The body of a response with an error. */
export const problem = z.object({
  error: z.object({ code: z.string(), message: z.string(), field: z.string().optional() }),
});

/** Sends `{ error: { code, message, field } }`. An error of the mock without a status is about an invalid argument. */
export function sendProblem(outgoing: ServerResponse, problem: MockServerError): void {
  const { status = 400, code, message, field } = problem;
  const headers = problem instanceof Problem ? problem.headers : {};
  sendJson(outgoing, { status, json: JSON.stringify({ error: { code, message, field } }), headers });
}

/**
 * The JSON body of a request; `undefined` without a body. Refuses any other body, a larger one before it is parsed. With
 * `isText`, the route itself parses the text.
 */
export async function readJsonBody(
  incoming: IncomingMessage,
  { isText }: { readonly isText: boolean },
): Promise<unknown> {
  const text = hasBody(incoming) ? decoded(await readBytes(incoming)) : '';
  if (text === '') return undefined;
  // A form of another site cannot have this type, and a script of another site cannot set it.
  if (!/^application\/json\b/i.test(incoming.headers['content-type'] ?? '')) {
    const text = 'The body must be JSON, with content-type: application/json.';
    throw new Problem(text, { status: 415, code: 'json_required', field: 'Content-Type' });
  }
  if (isText) return text;
  const value = parseJson(text);
  // The message of the parser can contain text of the body.
  if (value === undefined) {
    const place = jsonErrorPlace(text);
    const problem = `The body is not JSON${place && `; it is wrong at ${place}`}.`;
    throw new Problem(problem, { status: 400, code: 'invalid_json' });
  }
  return value;
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const isTooLong = Number(incoming.headers['content-length'] ?? 0) > MOST_BYTES;
  const bytes = isTooLong ? undefined : await readBody(incoming, MOST_BYTES);
  if (bytes !== undefined && bytes.length <= MOST_BYTES) return bytes;
  const text = `The body is larger than ${MOST_BYTES} bytes; send less, or start the server with it: fxrates mock with --setup, --replay or --state.`;
  throw new Problem(text, { status: 413, code: 'content_too_large' });
}

/** As many are checked in about 100 ms, in which the mock handles no other request. */
const MOST_BYTES = 256 * 1024;

function decoded(bytes: Buffer): string {
  const text = utf8Text(bytes);
  if (text === undefined) {
    throw new Problem('The body is UTF-16; send it as UTF-8.', { status: 400, code: 'invalid_json' });
  }
  if (!isUtf8(bytes)) throw new Problem('The body is not valid UTF-8.', { status: 400, code: 'invalid_json' });
  return text;
}
