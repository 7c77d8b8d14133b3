/** Frozen: scripts depend on them. A new cause gets a new number from 11 on. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  usage: 2,
  config: 3,
  authentication: 4,
  server: 5,
  network: 6,
  rateLimited: 7,
  quota: 8,
  rejected: 9,
  response: 10,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What `fxrates help exit-codes` prints. */
export const exitCodeMeanings: readonly (readonly [code: string, name: string, meaning: string])[] = [
  ['0', 'ok', 'success; help; the reader closed the pipe; mock stopped by Ctrl-C'],
  ['1', 'failure', 'anything else, also a bug'],
  ['2', 'usage', 'a wrong command, option, argument or value; nothing was sent'],
  ['3', 'config', 'no base URL, or a key or stored file that cannot be used'],
  ['4', 'authentication', 'no key, or the service refuses it (401, 403)'],
  ['5', 'server', 'a server error (5xx) that stayed after the retries'],
  ['6', 'network', 'no response: name, connection, TLS, proxy or timeout'],
  ['7', 'rate limited', 'the per-minute limit, and the wait is longer than --max-wait'],
  ['8', 'quota', 'the monthly quota is used up, or as far as --fail-at says; a --watch would use it up'],
  ['9', 'rejected', 'any other 4xx: a wrong parameter, not found'],
  ['10', 'response', 'not JSON, not the envelope, or a --get path that is not there'],
  ['130', 'interrupted', 'Ctrl-C (SIGINT)'],
  ['143', 'terminated', 'SIGTERM'],
];
