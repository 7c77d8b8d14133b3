import type { HeadersOption } from '../api-call.ts';
import { ConfigError } from '../errors/errors.ts';
import type { AppInfo } from '../options.ts';
import { namesOf, refuse, requireKnownNames } from './checks.ts';

/** Headers by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Headers that the client or the transport sets. */
const RESERVED = [
  ...['authorization', 'host', 'connection', 'keep-alive'],
  ...['content-length', 'transfer-encoding', 'upgrade', 'expect'],
];
/** RFC 9110 §5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * Validates headers. `option` is the name of the option in the error.
 *
 * @throws ConfigError that names the header; its value may be a secret and is not shown
 */
export function resolveHeaders(headers: HeadersOption | undefined, option = 'headers'): RequestHeaders {
  if (headers === undefined) return {};
  const isRecord = Object.prototype.toString.call(headers) === '[object Object]';
  if (!isRecord && !(headers instanceof Headers)) refuse(option, headers, 'an object of names and values, or Headers');
  const entries: [string, unknown][] = headers instanceof Headers ? [...headers] : Object.entries(headers);
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

const APP_INFO_NAMES = namesOf<keyof AppInfo>({ name: true, version: true, url: true });

/** The option `appInfo` as the end of a user agent. @throws ConfigError */
export function resolveAppInfo(option: AppInfo | undefined): string | undefined {
  if (option === undefined) return undefined;
  requireKnownNames(option, APP_INFO_NAMES, 'appInfo');
  const { name, version, url } = option;
  const product = [requireToken('name', name), ...(version === undefined ? [] : [requireToken('version', version)])];
  return [product.join('/'), ...(url === undefined ? [] : [`(${requireUrl(url)})`])].join(' ');
}

function requireToken(part: string, value: unknown): string {
  if (typeof value === 'string' && TOKEN.test(value)) return value;
  return refuse(`appInfo.${part}`, value, 'letters, digits and -._, without spaces');
}

function requireUrl(value: unknown): string {
  if (typeof value === 'string' && URL.canParse(value) && /^[!-'*-~]+$/.test(value)) return value;
  return refuse('appInfo.url', value, 'a URL');
}
