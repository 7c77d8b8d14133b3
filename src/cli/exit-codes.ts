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

/** The exit code that shells give for a process that a signal ended: 128 and the number of the signal. */
export const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** The text of each code in `fxrates help exit-codes`. */
const MEANINGS = {
  ok: 'success; help; the reader closed the pipe; mock stopped by a signal',
  failure: 'any other failure, or a bug',
  usage: 'an invalid command, option, argument or value; nothing was sent',
  config: 'no base URL, or a key, proxy or stored file that cannot be used',
  authentication: 'no key, or the service refuses it (401, 403)',
  server: 'a server error (5xx) that persisted after the retries',
  network: 'no response: host name, connection, TLS, proxy or timeout',
  rateLimited: 'the per-minute limit, and the wait is longer than --max-wait',
  quota: 'the monthly quota is exhausted, has reached --fail-at, or would be exhausted by --watch',
  rejected: 'any other 4xx: a wrong parameter, not found',
  response: 'not JSON, not the envelope, or a --get path that does not exist',
} satisfies Record<keyof typeof exitCodes, string>;

/** Every exit code in the order of its number, those of signals last. */
export const exitCodeMeanings: readonly (readonly [code: number, name: string, meaning: string])[] = [
  ...Object.entries(MEANINGS).map(([name, meaning]) => {
    const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return [exitCodes[name as keyof typeof exitCodes], words, meaning] as const; // a key of MEANINGS
  }),
  [signalExitCodes.SIGHUP, 'hung up', 'the terminal was closed (SIGHUP)'],
  [signalExitCodes.SIGINT, 'interrupted', 'Ctrl-C (SIGINT)'],
  [signalExitCodes.SIGTERM, 'terminated', 'SIGTERM'],
];
