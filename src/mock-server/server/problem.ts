import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { jsonErrorPlace, parseJson } from '../../json.ts';
import { utf8Text } from '../../text.ts';
import { hasBody, readBody } from '../http/parse-request.ts';
import { PAGE_HEADERS } from '../http/responses.ts';
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
  if (status !== 413) return void outgoing.end(text);
  outgoing.write(text);
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
  sendJson(outgoing, { status, body: { error: { code, message, field } }, headers });
}

/** What a route accepts as a body. */
interface BodyBounds {
  readonly mostBytes: number;
  /** Whether the route itself parses the text. */
  readonly isText: boolean;
}

/** The JSON body of a request, or its text; `undefined` without a body. Refuses any other body, a larger one before it is parsed. */
export async function readJsonBody(incoming: IncomingMessage, { mostBytes, isText }: BodyBounds): Promise<unknown> {
  const text = hasBody(incoming) ? decoded(await readBytes(incoming, mostBytes)) : '';
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
    const place = text.length > 256 * 1024 ? '' : `; it is wrong at ${jsonErrorPlace(text)}`;
    throw new Problem(`The body is not JSON${place}.`, { status: 400, code: 'invalid_json' });
  }
  return value;
}

async function readBytes(incoming: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const values = new ValueCount();
  const isTooLong = Number(incoming.headers['content-length'] ?? 0) > mostBytes;
  const bytes = isTooLong ? undefined : await readBody(incoming, mostBytes, (chunk) => values.add(chunk));
  if (bytes !== undefined && bytes.length <= mostBytes) return bytes;
  throw tooLarge(`The body is larger than ${mostBytes} bytes, which is the most that this route accepts`);
}

function tooLarge(problem: string): Problem {
  const text = `${problem}; send less, or start the server with it: fxrates mock with --setup, --replay or --state.`;
  return new Problem(text, { status: 413, code: 'content_too_large' });
}

/**
 * Counts values before JSON is parsed, because time and memory depend on their number: 4 MiB can be one text, or a million
 * empty objects, which need thirty times the memory of their text. Counts while the body arrives, so that other requests
 * are handled meanwhile.
 */
class ValueCount {
  #values = 0;
  #isInText = false;
  #isEscaped = false;

  /** Throws if there are too many. */
  add(json: Buffer): void {
    for (let at = 0; at < json.length; at += 1) this.#count(json[at]);
    if (this.#values <= MOST_VALUES) return;
    throw tooLarge(`The body has more than ${MOST_VALUES} values, which is the most that this route accepts`);
  }

  #count(byte: number | undefined): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#isInText = !this.#isInText;
    else if (!this.#isInText && (byte === COMMA || byte === BRACKET || byte === BRACE)) this.#values += 1;
  }
}

/** As many are checked in about 100 ms. A year of daily rates of all currencies has 65,000. */
const MOST_VALUES = 100_000;

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = Buffer.from('"\\,[{');

function decoded(bytes: Buffer): string {
  const text = utf8Text(bytes);
  if (text === undefined) {
    throw new Problem('The body is UTF-16; send it as UTF-8.', { status: 400, code: 'invalid_json' });
  }
  if (!isUtf8(bytes)) throw new Problem('The body is not valid UTF-8.', { status: 400, code: 'invalid_json' });
  return text;
}
