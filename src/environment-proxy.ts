import net, { isIP } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { withoutCredentials } from './text.ts';

/** Environment variables by name. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The proxy that the environment names for a base URL. */
export interface EnvironmentProxy {
  /** The variable that names it, in the spelling that was read: `https_proxy` takes precedence over `HTTPS_PROXY`. */
  readonly variable: string;
  /** With user and password. */
  readonly url: string;
  /** Without them: for output. */
  readonly host: string;
  /** Why the value cannot be used, with the value, without its user and password. Follows the name of the variable. */
  readonly problem: string | undefined;
}

/**
 * The proxy for `baseUrl`; `undefined` for none, or if `NO_PROXY` lists the host. A loopback address is never reached
 * through a proxy, so that a mock server works everywhere.
 */
export function environmentProxy(env: Environment, baseUrl: string): EnvironmentProxy | undefined {
  return isLoopback(new URL(baseUrl)) ? undefined : namedProxy(env, baseUrl);
}

/**
 * As `environmentProxy`, also for a loopback address. The lower-case variable takes precedence, as in curl. Without
 * `HTTPS_PROXY`, `HTTP_PROXY` is also for https, as in undici.
 */
function namedProxy(env: Environment, baseUrl: string): EnvironmentProxy | undefined {
  if (isExempt(env, baseUrl)) return undefined;
  const { protocol } = new URL(baseUrl);
  const names = [...(protocol === 'https:' ? ['HTTPS_PROXY'] : []), 'HTTP_PROXY', 'ALL_PROXY'];
  const variable = names.map((name) => spelledIn(env, name)).find((name) => env[name]);
  const text = variable && env[variable];
  if (!variable || !text) return undefined;
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

/**
 * Whether `NO_PROXY` lists the host of `baseUrl`. The list has the form that curl reads: `*`, or hosts, or ranges of
 * addresses, such as `10.0.0.0/8`.
 */
export function isExempt(env: Environment, baseUrl: string): boolean {
  const url = new URL(baseUrl);
  const entries = (env[spelledIn(env, 'NO_PROXY')] ?? '').toLowerCase().split(/[,\s]+/);
  // A loopback address needs no range, and the `fetch` of Bun reads none.
  return entries.some((entry) => entry === '*' || isListed(url, entry) || (!isLoopback(url) && isInRange(url, entry)));
}

function isListed({ protocol, hostname, port }: URL, entry: string): boolean {
  const ownHost = plainHost(hostname);
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  const [, text = '', entryPort] = isIP(entry) === 6 ? ['', entry] : (NO_PROXY_ENTRY.exec(entry) ?? []);
  const host = plainHost(text);
  // An address has no subdomains.
  const isPart = isIP(ownHost) === 0 && ownHost.endsWith(`.${host}`);
  return host !== '' && (ownHost === host || isPart) && (entryPort ?? ownPort) === ownPort;
}

/** `host`, `.host` or `*.host`, with or without a port. */
const NO_PROXY_ENTRY = /^(?:\*?\.)?(.+?)(?::(\d+))?$/;

function isInRange({ hostname }: URL, range: string): boolean {
  const host = plainHost(hostname);
  const [network = '', prefix = ''] = range.split('/');
  const version = isIP(network);
  const longest = version === 6 ? 128 : 32;
  if (version === 0 || isIP(host) !== version || !/^\d{1,3}$/.test(prefix) || Number(prefix) > longest) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const addresses = new net.BlockList();
  addresses.addSubnet(network, Number(prefix), family);
  return addresses.check(host, family);
}

/** Without the brackets of an IPv6 address, which then has its shortest form, and without the dot of an absolute name. */
function plainHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  // A URL has no zone, which is after the `%`.
  return isIP(host) === 6 ? new URL(`http://[${host.replace(/%.*/, '')}]`).hostname.slice(1, -1) : host;
}

/** The spelling of a variable that is read: the lower-case one takes precedence if it has a value. */
export function spelledIn(env: Environment, name: string): string {
  return env[name.toLowerCase()] ? name.toLowerCase() : name;
}

/** The assignment that adds a host to those without a proxy. */
export function exemption(env: Environment, { hostname }: URL): string {
  const name = spelledIn(env, 'NO_PROXY');
  return env[name] ? `${name}="$${name},${hostname}"` : `${name}=${hostname}`;
}

/** Whether `url` stays on this machine. A `URL` writes `::ffff:127.0.0.1` as `::ffff:7f00:1`. */
export function isLoopback({ hostname }: URL): boolean {
  return /^((.*\.)?localhost\.?|127(\.\d{1,3}){3}|\[::(1|ffff:7f..:[^:]+)\])$/.test(hostname);
}

/** Where undici 6 and 7 have their global dispatcher, and undici 8. */
export const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const DISPATCHER_OF_UNDICI_8 = Symbol.for('undici.globalDispatcher.2');

interface GlobalDispatchers {
  readonly [GLOBAL_DISPATCHER]?: Dispatcher;
  readonly [DISPATCHER_OF_UNDICI_8]?: Dispatcher;
}

/**
 * Whether a request to `url` stays on this machine, but the dispatcher would send it through a proxy: Node creates such a one
 * if `NODE_USE_ENV_PROXY` is set.
 */
export function wouldUseProxy(dispatcher: Dispatcher, url: string): boolean {
  return unwrapped(dispatcher).constructor.name === 'EnvHttpProxyAgent' && isLoopback(new URL(url));
}

/** Node 26 wraps its own for earlier versions of undici. */
export function unwrapped(dispatcher: Dispatcher): Dispatcher {
  const isWrapper = dispatcher.constructor.name === 'Dispatcher1Wrapper';
  return (isWrapper && (globalThis as GlobalDispatchers)[DISPATCHER_OF_UNDICI_8]) || dispatcher;
}

/** By the dispatcher with the proxy. */
const directDispatchers = new WeakMap<Dispatcher, Dispatcher>();

/**
 * The option with which Node's `fetch`, or a function that passes it on to that, sends to this machine without a proxy, which
 * would see the key. The classes are those of the global dispatcher: another version of undici may not fit.
 */
export function withoutProxy(url: string): { readonly dispatcher?: Dispatcher } {
  const { [GLOBAL_DISPATCHER]: first, [DISPATCHER_OF_UNDICI_8]: second = first } = globalThis as GlobalDispatchers;
  if (!first || !second || ![first, second].every((one) => wouldUseProxy(one, url))) return {};
  const dispatcher = directDispatchers.get(first) ?? withoutProxyLike(first);
  directDispatchers.set(first, dispatcher);
  return { dispatcher };
}

export type DispatcherClass = new (options: object) => Dispatcher;

function withoutProxyLike(dispatcher: Dispatcher): Dispatcher {
  const inner = unwrapped(dispatcher);
  const Agent = inner.constructor as DispatcherClass;
  const Wrapper = dispatcher.constructor as DispatcherClass;
  const direct = new Agent({ httpProxy: '', httpsProxy: '', noProxy: '*' });
  return inner === dispatcher ? direct : new Wrapper(direct);
}

/** That of the runtime, unless an interceptor or a stub has replaced it before this module was loaded. */
const runtimeFetch: unknown = globalThis.fetch;

/** Why `fetch` must not send to `url`: that of Bun and Deno uses the proxy of the environment also on this machine. */
export function proxiedLoopbackProblem(fetch: unknown, url: string): string | undefined {
  const hasProxyFetch = 'Bun' in globalThis || 'Deno' in globalThis;
  if (!hasProxyFetch || fetch !== runtimeFetch || !isLoopback(new URL(url))) return undefined;
  const proxy = namedProxy(process.env, url);
  if (proxy === undefined) return undefined;
  const through = `the fetch of this runtime sends through the proxy ${proxy.host} (${proxy.variable})`;
  return `${new URL(url).hostname} is this machine, but ${through}; set ${exemption(process.env, new URL(url))}`;
}

/** An address to listen on that only this machine can reach. */
export const LOOPBACK_ADDRESS = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

function problemOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const escapes = text.includes('@') ? '; in a user or password, write / as %2F, ? as %3F, # as %23 and \\ as %5C' : '';
  if (url === undefined || url.host === '') return `is not the URL of a proxy${escapes}`;
  if (!/^https?:$/.test(url.protocol))
    return `names a ${url.protocol.slice(0, -1)} proxy; http and https are supported`;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    return `has a path, query or fragment${escapes}`;
  }
  try {
    decodeURIComponent(url.username + url.password);
    return undefined;
  } catch {
    return 'has a % in its user or password; write it %25';
  }
}

/** The parts of undici that are used here. It is passed in, because loading it takes time that most programs save. */
type ProxyParts = Pick<typeof import('undici'), 'Pool' | 'ProxyAgent'>;

/** Half of the default `timeoutMs`. With a shorter `timeoutMs`, a proxy that does not respond looks like a slow service. */
const TUNNEL_TIMEOUT_MS = 5_000;

interface ProxyDispatcherOptions {
  readonly tunnelTimeoutMs?: number;
  /** With 0, each request opens a tunnel. */
  readonly pipelining?: number;
}

/** A dispatcher that sends through a tunnel of `proxy`, also to a base URL with http. */
export function proxyDispatcher(
  { Pool, ProxyAgent }: ProxyParts,
  proxy: EnvironmentProxy,
  { tunnelTimeoutMs = TUNNEL_TIMEOUT_MS, pipelining = 1 }: ProxyDispatcherOptions = {},
): Dispatcher {
  const clientFactory = (url: URL, { connect }: { readonly connect: Connect }) => {
    const pool = new Pool(url, { connect: withoutIpName(connect), headersTimeout: tunnelTimeoutMs });
    const open = pool.connect.bind(pool) as (options: ConnectOptions) => Promise<ConnectData>;
    return Object.assign(pool, { connect: (options: ConnectOptions) => openTunnel(open(options), proxy) });
  };
  return new ProxyAgent({ uri: proxy.url, clientFactory, pipelining });
}

type Connect = buildConnector.connector;
type ConnectOptions = Dispatcher.ConnectOptions;
type ConnectData = Dispatcher.ConnectData;

/** Node.js warns if a TLS server name is an IP address, on stderr. */
function withoutIpName(connect: Connect): Connect {
  return ({ servername = '', ...options }, callback) =>
    connect({ ...options, servername: isIP(servername) === 0 ? servername : '' }, callback);
}

/** @throws ProxyFailure if the proxy does not open the tunnel */
async function openTunnel(opening: Promise<ConnectData>, proxy: EnvironmentProxy): Promise<ConnectData> {
  const opened = await opening.catch((error: Error & { readonly code?: string }) => {
    throw connectionFailure(error, proxy);
  });
  if (opened.statusCode === 200) return opened;
  opened.socket.on('error', () => undefined).destroy();
  throw refusal(opened.statusCode, proxy);
}

/** The proxy cannot be reached, or does not connect to the service. The message names the proxy and the next step. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure';
  /**
   * The code of the system if there was no connection to the proxy, `PROXY_REFUSED` for a 4xx, and `PROXY_FAILED` for
   * another response, or none.
   */
  readonly code: string;

  constructor(
    { host, variable }: EnvironmentProxy,
    what: string,
    details: { readonly code: string; readonly cause?: unknown },
  ) {
    super(`the proxy ${host} (${variable}) ${what}`, details);
    this.code = details.code;
  }
}

const UNREACHABLE = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];

/** What the proxy did instead of a response, by the code of undici or the system. */
const INSTEAD_OF_RESPONSE: Readonly<Record<string, string>> = {
  ECONNRESET: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  UND_ERR_HEADERS_TIMEOUT: 'did not respond',
};

function connectionFailure(error: Error & { readonly code?: string }, proxy: EnvironmentProxy): ProxyFailure {
  const { code = '', message } = error;
  const isUnreachable = UNREACHABLE.includes(code);
  const instead = INSTEAD_OF_RESPONSE[code] ?? `did not respond as a proxy (${message})`;
  const what = isUnreachable ? `cannot be reached (${code})` : instead;
  const details = { code: isUnreachable ? code : 'PROXY_FAILED', cause: error };
  return new ProxyFailure(proxy, `${what}; check ${proxy.variable}`, details);
}

function refusal(status: number, proxy: EnvironmentProxy): ProxyFailure {
  const { variable, host, url } = proxy;
  const code = status >= 400 && status < 500 ? 'PROXY_REFUSED' : 'PROXY_FAILED';
  if (status !== 407) return new ProxyFailure(proxy, `did not connect to the service (HTTP ${status})`, { code });
  const what =
    new URL(url).username === ''
      ? `requires a user and a password (HTTP 407); set ${variable}=http://user:password@${host}`
      : `refused the user and the password (HTTP 407); check ${variable}`;
  return new ProxyFailure(proxy, what, { code });
}
