import { isCertificateProblem } from './network-advice.ts';
import { NetworkError } from './network-error.ts';

/** Failures before a connection stands: the request cannot have reached the service, so nothing counted it. */
const BEFORE_SENDING: readonly (string | undefined)[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Whether the request behind an error certainly never reached the service. */
export function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof NetworkError)) return false;
  return BEFORE_SENDING.includes(error.code) || isCertificateProblem(error.code);
}
