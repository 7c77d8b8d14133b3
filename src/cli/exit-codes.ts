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
