import type { Dispatcher, Pool } from 'undici';

/** Environment variables by name. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that the environment names for a base URL. */
export interface EnvironmentProxy {
  /** The variable that names it, in upper case. */
  readonly variable: 'HTTPS_PROXY' | 'HTTP_PROXY' | 'ALL_PROXY';
  /** With user and password. */
  readonly url: string;
  /** Without them: for output. */
  readonly host: string;
  /** Why the value cannot be used, with the value, without its user and password. Follows the name of the variable. */
  readonly problem: string | undefined;
}

/**
 * The proxy for `baseUrl`; `undefined` for none, or if `NO_PROXY` lists the host. The lower-case variable takes precedence,
 * as in curl. Without `HTTPS_PROXY`, `HTTP_PROXY` is also for https, as in undici. A loopback address is never reached
 * through a proxy, so that a mock server works everywhere.
 */
export function environmentProxy(env: Environment, baseUrl: string): EnvironmentProxy | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  if (LOOPBACK_HOST.test(hostname) || isExempt(env, baseUrl)) return undefined;
  const given = (name: string) => valueIn(env, name);
  const httpsOnly = protocol === 'https:' ? (['HTTPS_PROXY'] as const) : [];
  const variable = [...httpsOnly, 'HTTP_PROXY' as const, 'ALL_PROXY' as const].find(given);
  const text = variable && given(variable);
  if (variable === undefined || text === undefined) return undefined;
  // `host:port` means http, as in curl.
  const url = /^([^/@\s]+@)?([\w.-]+|\[[\da-f:.]+\]):\d+\/?$/i.test(text) ? `http://${text}` : text;
  const problem = problemOf(url);
  return {
    variable,
    url,
    host: problem === undefined ? new URL(url).host : '',
    problem: problem && `'${withoutCredentials(text)}' ${problem}`,
  };
}

/** Whether `NO_PROXY` lists the host of `baseUrl`. The list has the form that undici and curl read: `*`, or hosts. */
export function isExempt(env: Environment, baseUrl: string): boolean {
  const { protocol, hostname, port } = new URL(baseUrl);
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  const entries = (valueIn(env, 'NO_PROXY') ?? '').toLowerCase().split(/[,\s]+/);
  return entries.some((entry) => {
    if (entry === '*') return true;
    const [, host = '', entryPort] = /^(?:\*?\.)?(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    const isListed = host !== '' && (hostname === host || hostname.endsWith(`.${host}`));
    return isListed && (entryPort ?? ownPort) === ownPort;
  });
}

/** The lower-case variable takes precedence. */
function valueIn(env: Environment, name: string): string | undefined {
  return env[name.toLowerCase()] || env[name] || undefined;
}

/** A host of this machine, as a URL has it. */
export const LOOPBACK_HOST = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** An address to listen on that only this machine can reach. */
export const LOOPBACK_ADDRESS = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

function problemOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.host === '') return 'is not the URL of a proxy';
  if (!/^https?:$/.test(url.protocol))
    return `names a ${url.protocol.slice(0, -1)} proxy; http and https are supported`;
  try {
    decodeURIComponent(url.username + url.password);
    return undefined;
  } catch {
    return 'has a % in its user or password; write it %25';
  }
}

/** Up to the last `@`: a password that is not percent-encoded can have one, or a slash. */
function withoutCredentials(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1***@');
}

/** The parts of undici that are used here. It is passed in, because loading it takes time that most programs save. */
type Undici = Pick<typeof import('undici'), 'Pool' | 'ProxyAgent'>;

/** A dispatcher that sends through `proxy`. */
export function proxyDispatcher({ Pool, ProxyAgent }: Undici, proxy: EnvironmentProxy): Dispatcher {
  const factory = (origin: string | URL, options: Pool.Options) =>
    new Pool(origin, { ...options, ...connectThrough(proxy, options) });
  return new ProxyAgent({ uri: proxy.url, factory });
}

/** Reports a failure of the proxy as such. */
function connectThrough(proxy: EnvironmentProxy, { connect }: Pool.Options): Pick<Pool.Options, 'connect'> {
  if (typeof connect !== 'function') return {};
  const through: typeof connect = (options, callback) =>
    connect(options, (...[error, socket]) =>
      error === null ? callback(null, socket) : callback(failureOf(error, proxy), null),
    );
  return { connect: through };
}

/** The proxy cannot be reached, or does not connect to the service. The message names the proxy and the next step. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /** The code of the system, or `PROXY_REFUSED` for a 4xx and `PROXY_FAILED` for another response. */
  readonly code: string;

  constructor(message: string, { code, cause }: { readonly code: string; readonly cause: unknown }) {
    super(message, { cause });
    this.code = code;
  }
}

/** Codes of the connection to the proxy: nothing else is connected to from this machine. */
const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];

function failureOf(error: Error & { readonly code?: string }, { variable, host, url }: EnvironmentProxy): Error {
  const { code = '', message } = error;
  // If a proxy closes the connection, undici connects again and again without a pause, unless the code is another.
  if (code === 'UND_ERR_SOCKET') return Object.assign(new Error(message, { cause: error }), { code: 'ECONNRESET' });
  const proxy = `the proxy ${host} (${variable})`;
  if (UNREACHABLE.includes(code)) {
    return new ProxyFailure(`${proxy} cannot be reached (${code}); check ${variable}`, { code, cause: error });
  }
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (status === undefined) return error;
  const refusal = { code: /^4/.test(status) ? 'PROXY_REFUSED' : 'PROXY_FAILED', cause: error };
  if (status !== '407') return new ProxyFailure(`${proxy} did not connect to the service (HTTP ${status})`, refusal);
  return new ProxyFailure(
    new URL(url).username === ''
      ? `${proxy} requires a user and a password (HTTP 407); set ${variable}=http://user:password@${host}`
      : `${proxy} refused the user and the password (HTTP 407); check ${variable}`,
    refusal,
  );
}
