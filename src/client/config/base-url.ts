import { ConfigError } from '../errors/errors.ts';
import { refuse } from './checks.ts';

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The base URL without a slash at its end. @throws ConfigError when the key must not or cannot be sent there. */
export function checkBaseUrl(value: unknown, { allowInsecureHttp }: { readonly allowInsecureHttp: boolean }): string {
  if (value === undefined || value === '') {
    throw new ConfigError(
      'baseUrl: none given; pass baseUrl or set FXRATES_BASE_URL (the service does not publish its host)',
    );
  }
  const url = parse(value);
  if (url.username !== '' || url.password !== '') {
    throw new ConfigError('baseUrl: has a user name or password in it; the key alone authenticates');
  }
  if (url.search !== '' || url.hash !== '')
    throw new ConfigError(`baseUrl: has a query or fragment: ${url.origin}${url.pathname}`);
  if (/\/api\/v\d+\/?$/.test(url.pathname)) {
    throw new ConfigError(`baseUrl: leave out '${url.pathname}', the client adds /api/v1; got ${url.href}`);
  }
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !allowInsecureHttp) {
    throw new ConfigError(
      `baseUrl: ${url.origin} is plain http, so everybody on the way could read the key; use https (or allowInsecureHttp: true)`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function parse(value: unknown): URL {
  const expected = "an http or https URL such as 'https://api.example.com'";
  if (typeof value !== 'string' && !(value instanceof URL)) return refuse('baseUrl', value, expected);
  const url = URL.canParse(String(value)) ? new URL(value) : refuse('baseUrl', value, expected);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : refuse('baseUrl', value, expected);
}
