import { ConfigError } from '../errors/errors.ts';
import { refuse } from './checks.ts';

/** Headers by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Headers that the client or the transport sets. */
const RESERVED = [
  ...['authorization', 'host', 'connection', 'keep-alive'],
  ...['content-length', 'transfer-encoding', 'upgrade', 'expect'],
];
/** RFC 9110 §5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/** @throws ConfigError that names the option and the header; its value may be a secret and is not shown */
export function resolveHeaders(option: string, headers: unknown): RequestHeaders {
  const isRecord = Object.prototype.toString.call(headers) === '[object Object]';
  if (!isRecord && !(headers instanceof Headers)) refuse(option, headers, 'an object of names and values, or Headers');
  const entries: [string, unknown][] = headers instanceof Headers ? [...headers] : Object.entries(Object(headers));
  const given = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map((entry) => requireHeader(entry, option)));
}

function requireHeader([name, value]: [string, unknown], option: string): readonly [string, string] {
  const lower = name.toLowerCase();
  if (RESERVED.includes(lower)) {
    const next = lower === 'authorization' ? '; the client sends the key (options apiKey and auth)' : '';
    throw new ConfigError(`${option}: '${name}' cannot be set${next}`);
  }
  if (!TOKEN.test(name)) refuse(option, name, 'a valid header name');
  const isText = typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
  if (isText) return [lower, value];
  throw new ConfigError(
    `${option}: the value of '${name}' must be a string of Latin-1 characters without line breaks, got a ${typeof value}`,
  );
}

/** `option`: the name in the error. @throws ConfigError */
export function refuseKeyParameters(query: object, option = 'query'): void {
  if (!Object.keys(query).some((name) => name.toLowerCase() === 'api_key')) return;
  throw new ConfigError(
    `${option}: 'api_key' cannot be set, because the client sends the key; to send it in the URL, set auth: 'query'`,
  );
}
