import type { HeadersOption } from '../api-call.ts';
import { ConfigError } from '../errors/errors.ts';
import type { AppInfo } from '../options.ts';
import { namesOf, refuse, requireKnownNames } from './checks.ts';

/** Headers by their names in lower case. */
export type RequestHeaders = Readonly<Record<string, string>>;

/** Set by the client, which alone has the key, or by the transport. */
const RESERVED = ['authorization', 'host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'expect'];

/** The option `headers`, checked. @throws ConfigError that names the header; its value may be a secret and is not shown */
export function resolveHeaders(option: HeadersOption | undefined): RequestHeaders {
  if (option === undefined) return {};
  const isRecord = Object.prototype.toString.call(option) === '[object Object]';
  if (!isRecord && !(option instanceof Headers)) refuse('headers', option, 'an object of names and values, or Headers');
  const entries: [string, unknown][] = option instanceof Headers ? [...option] : Object.entries(option);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined).map(requireHeader));
}

function requireHeader([name, value]: [string, unknown]): readonly [string, string] {
  const lower = name.toLowerCase();
  if (RESERVED.includes(lower)) {
    const next = lower === 'authorization' ? '; the client sends the key itself (options apiKey and auth)' : '';
    throw new ConfigError(`headers: '${name}' cannot be set${next}`);
  }
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) refuse('headers', name, 'the name of a header');
  const isText = typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
  if (isText) return [lower, value];
  throw new ConfigError(`headers: the value of '${name}' must be text that a header can carry, got a ${typeof value}`);
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

/** RFC 9110 §5.6.2. */
function requireToken(part: string, value: unknown): string {
  if (typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value)) return value;
  return refuse(`appInfo.${part}`, value, 'letters, digits and -._, without spaces');
}

function requireUrl(value: unknown): string {
  if (typeof value === 'string' && URL.canParse(value) && /^[!-'*-~]+$/.test(value)) return value;
  return refuse('appInfo.url', value, 'a URL');
}
