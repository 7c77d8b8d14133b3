import type { NetworkError } from '../../client/index.ts';
import type { Io } from '../io.ts';
import { isLoopback } from '../settings/base-url.ts';
import { proxyFor } from './connection.ts';
import type { Explanation } from './explain-client-error.ts';

interface Context {
  readonly baseUrl: string;
  /** The option, variable or profile that the base URL came from. */
  readonly source: string;
  readonly env: Io['env'];
}

type NextStep = (context: Context) => string;

const checkBaseUrl: NextStep = ({ baseUrl, source }) => `Is ${baseUrl} the right base URL? It comes from ${source}.`;
const trust: NextStep = () => 'To trust a certificate of your own:  export NODE_EXTRA_CA_CERTS=/path/to/ca.pem';
const checkClock: NextStep = () =>
  "Is this machine's clock right? If so, the certificate of the service has to be renewed.";

/** Words of the system, in words of people, with the next step where there is one. */
const SYSTEM_CODES: Readonly<Record<string, readonly [words: string, nextStep?: NextStep]>> = {
  ENOTFOUND: ['name not found', checkBaseUrl],
  EAI_AGAIN: ['the name cannot be looked up now'],
  ECONNREFUSED: ['connection refused'],
  ECONNRESET: ['the connection was closed'],
  ETIMEDOUT: ['the connection timed out'],
  EHOSTUNREACH: ['no route to the host'],
  ENETUNREACH: ['the network is unreachable'],
  UND_ERR_SOCKET: ['the connection was closed'],
  UND_ERR_CONNECT_TIMEOUT: ['the connection timed out'],
  CERT_HAS_EXPIRED: ['the certificate has expired', checkClock],
  CERT_NOT_YET_VALID: ['the certificate is not valid yet', checkClock],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['the certificate is self-signed', trust],
  SELF_SIGNED_CERT_IN_CHAIN: ['the certificate chain is self-signed', trust],
  UNABLE_TO_GET_ISSUER_CERT: ['nobody known has signed the certificate', trust],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ['nobody known has signed the certificate', trust],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['the certificate cannot be verified', trust],
  CERT_UNTRUSTED: ['nobody trusted has signed the certificate', trust],
  ERR_TLS_CERT_ALTNAME_INVALID: ['the certificate is for another name', checkBaseUrl],
  HOSTNAME_MISMATCH: ['the certificate is for another name', checkBaseUrl],
};

/** Where no response came from, why, and what one could do about it. */
export function explainNetworkError({ code = '', message }: NetworkError, context: Context): Explanation {
  const { host } = new URL(context.baseUrl);
  const [words, nextStep] = SYSTEM_CODES[code] ?? [];
  const why = words === undefined ? message : `${words} (${code})`;
  // Behind a proxy the name that nobody knows is the proxy's.
  const isOfProxy = code === 'ENOTFOUND' && proxyFor(context.env, context.baseUrl) !== undefined;
  const hints = [...(nextStep === undefined || isOfProxy ? [] : [nextStep(context)]), ...hintsFor(code, context)];
  return { what: `cannot reach ${host}`, why, hints };
}

/** What the machine's own settings suggest. A certificate is shown by whoever answers, behind a proxy as well. */
function hintsFor(code: string, { baseUrl, env }: Context): readonly string[] {
  const url = new URL(baseUrl);
  if (code === 'ECONNREFUSED' && isLoopback(url)) return ['Is the mock server running?  fxrates mock'];
  if (/CERT|SIGNATURE|HOSTNAME/.test(code)) return [];
  const proxy = proxyFor(env, baseUrl);
  return proxy === undefined ? [] : [`${proxy} is set. To go past that proxy:  export NO_PROXY=${url.hostname}`];
}
