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
  /** Hosts that are reached without the proxy, as `NO_PROXY` lists them. undici reads the list. */
  readonly noProxy: string;
  /** Why the value cannot be used, with the value, without its user and password. Follows the name of the variable. */
  readonly problem: string | undefined;
}

/**
 * The proxy for `baseUrl`; `undefined` for none. The lower-case variable goes before the upper-case one, as in curl, and
 * `HTTP_PROXY` is also for https if there is no `HTTPS_PROXY`, as in undici. A loopback address is never reached through a
 * proxy, so that a mock server works everywhere.
 */
export function environmentProxy(env: Environment, baseUrl: string): EnvironmentProxy | undefined {
  const { protocol, hostname } = new URL(baseUrl);
  if (LOOPBACK_HOST.test(hostname)) return undefined;
  const given = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
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
    noProxy: given('NO_PROXY') ?? '',
    problem: problem && `'${withoutCredentials(text)}' ${problem}`,
  };
}

/** A host of this machine, as a URL has it. */
export const LOOPBACK_HOST = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

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
type Undici = Pick<typeof import('undici'), 'EnvHttpProxyAgent' | 'Pool'>;

/** A dispatcher that sends through `proxy`, except to the hosts of `NO_PROXY`. */
export function proxyDispatcher({ EnvHttpProxyAgent, Pool }: Undici, { url, noProxy }: EnvironmentProxy): Dispatcher {
  const factory = (origin: string | URL, options: Pool.Options) =>
    new Pool(origin, { ...options, ...connectOnce(options) });
  return new EnvHttpProxyAgent({ httpProxy: url, httpsProxy: url, noProxy, factory });
}

/** If a proxy closes the connection, undici connects again and again without a pause. This makes it a failure. */
function connectOnce({ connect }: Pool.Options): Pick<Pool.Options, 'connect'> {
  if (typeof connect !== 'function') return {};
  const once: typeof connect = (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) return callback(null, socket);
      const isHangUp = 'code' in error && error.code === 'UND_ERR_SOCKET';
      const failure = isHangUp
        ? Object.assign(new Error(error.message, { cause: error }), { code: 'ECONNRESET' })
        : error;
      return callback(failure, null);
    });
  return { connect: once };
}
