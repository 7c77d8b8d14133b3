import { hasKeyInUrl, redactKeys } from '../redact-keys.ts';
import type { MockRequest } from './mock-message.ts';
import type { Target } from './router.ts';

/** A request as the journal shows it and as patterns match it. API keys are masked. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Parameters by name; a parameter that is repeated has an array of values. */
  readonly query: RecordedQuery;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Text; only the first 16,384 characters of a longer one. `undefined` for a request without a body. */
  readonly body: string | undefined;
  /** Whether the URL held a key, where logs would show it. */
  readonly hasKeyInUrl: boolean;
}

export type RecordedQuery = Readonly<Record<string, string | readonly string[]>>;

/** Describes a request without the secrets in it: what this returns may be shown, logged and saved. */
export function recordRequest({ method, target, headers, body }: MockRequest, { path, query }: Target) {
  return {
    method,
    path: redactKeys(path),
    query: query === '' ? NO_QUERY : recordedQuery(query),
    headers: recordedHeaders(headers),
    body: body === undefined || body.byteLength === 0 ? undefined : recordedBody(body),
    hasKeyInUrl: hasKeyInUrl(target),
  } satisfies RecordedRequest;
}

const NO_QUERY: RecordedQuery = {};

function recordedQuery(query: string): RecordedQuery {
  const values = new Map<string, string | readonly string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    const shown = SECRET_PARAMETER.test(name) ? maskedKey(value) : redactKeys(value);
    const shownName = redactKeys(name);
    const earlier = values.get(shownName);
    values.set(shownName, earlier === undefined ? shown : [earlier, shown].flat());
  }
  return Object.fromEntries(values);
}

function recordedHeaders(headers: MockRequest['headers']): RecordedRequest['headers'] {
  const recorded: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    // A name such as `__proto__` is no header that any client sends.
    if (value !== undefined) recorded[name] = SECRET_HEADER.test(name) ? maskedCredential(value) : redactKeys(value);
  }
  return recorded;
}

function recordedBody(body: Uint8Array): string {
  return redactKeys(Buffer.from(body).toString()).slice(0, MOST_BODY_CHARACTERS);
}

const MOST_BODY_CHARACTERS = 16_384;

const SECRET_PARAMETER = /^(?:api[_-]?key|access_token)$/i;
const SECRET_HEADER = /^(?:(?:proxy-)?authorization|cookie|(?:x-)?api-?key)$/;

/** Keeps the scheme: `Bearer fx_live_…`. */
function maskedCredential(value: string): string {
  const scheme = /^(?:bearer|basic|digest) +/i.exec(value)?.[0] ?? '';
  return scheme + maskedKey(value.slice(scheme.length));
}

/** The prefix of a key stays, so that one sees which kind of key was sent. */
function maskedKey(value: string): string {
  return /^[A-Za-z0-9]{1,16}_live_(?=[0-9a-f]+$)/i.exec(value)?.[0].concat('…') ?? '…';
}
