import type { NetworkError } from '../../client/index.ts';
import type { Io } from '../io.ts';
import { isLoopback } from '../settings/base-url.ts';
import type { Explanation } from './explain-client-error.ts';
import { proxyFor } from './route.ts';

interface Context {
  readonly baseUrl: string;
  readonly env: Io['env'];
}

/** Words of the system, in words of people. */
const SYSTEM_CODES: Readonly<Record<string, string>> = {
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'the name cannot be looked up now',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  UND_ERR_SOCKET: 'the connection was closed',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate chain is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate cannot be verified',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
};

/** Where no response came from, why, and what one could do about it. */
export function explainNetworkError({ code = '', message }: NetworkError, context: Context): Explanation {
  const { host } = new URL(context.baseUrl);
  const words = SYSTEM_CODES[code];
  const why = words === undefined ? message : `${words} (${code})`;
  return { what: `cannot reach ${host}`, why, hints: hintsFor(code, context) };
}

function hintsFor(code: string, { baseUrl, env }: Context): readonly string[] {
  const url = new URL(baseUrl);
  if (code === 'ECONNREFUSED' && isLoopback(url)) return ['Is the mock server running?  fxrates mock'];
  if (/CERT|SIGNATURE/.test(code)) {
    return ['To trust a certificate of your own:  export NODE_EXTRA_CA_CERTS=/path/to/ca.pem'];
  }
  const proxy = proxyFor(env, baseUrl);
  return proxy === undefined ? [] : [`${proxy} is set. To go past that proxy:  export NO_PROXY=${url.hostname}`];
}
