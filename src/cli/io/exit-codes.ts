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

/** The words for programs that say what failed, with their exit codes. Those of the client's errors are their kinds. */
export const errorCodes = {
  aborted: exitCodes.failure,
  authentication: exitCodes.authentication,
  cannot_listen: exitCodes.failure,
  command: exitCodes.failure,
  config: exitCodes.usage,
  fail_at: exitCodes.quota,
  file: exitCodes.failure,
  internal: exitCodes.failure,
  missing_value: exitCodes.response,
  network: exitCodes.network,
  no_base_url: exitCodes.config,
  no_key: exitCodes.authentication,
  not_set: exitCodes.failure,
  other_origin: exitCodes.authentication,
  output: exitCodes.failure,
  quota_exhausted: exitCodes.quota,
  rate_limited: exitCodes.rateLimited,
  request: exitCodes.rejected,
  response: exitCodes.response,
  server: exitCodes.server,
  storage: exitCodes.config,
  timeout: exitCodes.network,
  unknown_profile: exitCodes.config,
  unusable_key: exitCodes.config,
  unusable_proxy: exitCodes.config,
  usage: exitCodes.usage,
  watch_unsafe: exitCodes.quota,
} as const satisfies Readonly<Record<string, ExitCode>>;

export type ErrorCode = keyof typeof errorCodes;

/** The exit code that shells give for a process that a signal ended: 128 and the number of the signal. */
export const signalExitCodes = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;
