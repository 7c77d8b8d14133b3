import { quotaSwitches, rateSwitches } from './limit-switches.ts';
import { documented, enumSwitch, numberSwitch, textSwitch } from './switch.ts';

const OF_DASHBOARD = 'it is visible only in the dashboard';

const REFUSALS = ['401 unauthorized', '403 forbidden', '401 invalid_api_key', '403 invalid_api_key'] as const;

/** Undocumented behaviour of authentication. */
const authenticationSwitches = {
  /** Status and error code for a request without a key. Default: '401 unauthorized'. */
  missingKey: enumSwitch([...REFUSALS, '401 missing_api_key'], {
    lenient: '401 missing_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for missing credentials.',
  }),
  /** Status and error code for a credential that does not look like an API key. Default: '401 unauthorized'. */
  malformedKey: enumSwitch([...REFUSALS, '400 invalid_api_key'], {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for invalid credentials.',
  }),
  /** Status and error code for a key that was never created. Default: '401 unauthorized'. */
  unknownKey: enumSwitch(REFUSALS, {
    lenient: '401 invalid_api_key',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    why: 'RFC 9110 §15.5.2 defines 401 for invalid credentials; the response does not reveal which keys exist.',
  }),
  /** Status and error code for a revoked key. Default: '401 unauthorized'. */
  revokedKey: enumSwitch([...REFUSALS, '401 key_revoked', '403 key_revoked'], {
    lenient: '401 key_revoked',
    hostile: '403 forbidden',
    notShown: 'authentication-failure',
    notObserved: 'this needs a revoked key',
    why: 'The documentation says that a revoked key fails; 401 is the usual status for an invalid credential.',
  }),
  /** Which credential applies if a request has one in the header and one in the query. Default: 'header'. */
  severalCredentials: enumSwitch(['header', 'query', 'refused'], {
    lenient: 'header',
    hostile: 'refused',
    notShown: 'several-credentials',
    why: 'The Authorization header is the documented preferred form.',
  }),
  /** Whether a 401 has the header WWW-Authenticate. Default: 'bearer'. */
  wwwAuthenticate: enumSwitch(['bearer', 'absent'], {
    lenient: 'bearer',
    hostile: 'absent',
    notShown: 'authentication-failure',
    notObserved: 'no response was a 401',
    why: 'RFC 9110 §11.6.1 requires the header with every 401; not every service sends it.',
  }),
  /**
   * Milliseconds during which a revoked key still works. Documented to be 0; other values need `unsafe: true`.
   * Default: 0.
   */
  revocationDelayMs: documented(
    numberSwitch([0, 60_000], {
      min: 0,
      lenient: 0,
      hostile: 0,
      notShown: 'authentication-failure',
      notObserved: 'this needs a revoked key',
      why: 'The documentation says that the next request with a revoked key fails. A delay emulates a cache in the service.',
    }),
  ),
} as const;

/** Undocumented behaviour of accounts, keys and plans. */
const accountSwitches = {
  /** Number of active keys that the Free plan allows; `null` for no limit. Default: 1. */
  freeMaxActiveKeys: numberSwitch<number | null>([1, 2, 3, null], {
    min: 1,
    lenient: null,
    hostile: 1,
    notShown: 'free-key-cap',
    notObserved: OF_DASHBOARD,
    why: 'One is the lowest cap with which the plan is usable.',
  }),
  /** Status and error code if the plan allows no more active keys. Default: '409 key_limit_reached'. */
  keyLimitReached: enumSwitch(['409 key_limit_reached', '403 key_limit_reached', '422 key_limit_reached'], {
    lenient: '409 key_limit_reached',
    hostile: '422 key_limit_reached',
    notShown: 'key-cap-response',
    notObserved: OF_DASHBOARD,
    why: '409 is the usual status for a conflict with the current state.',
  }),
  /**
   * Status and error code if an account creates a key before it confirmed its e-mail address.
   * Default: '403 email_not_confirmed'.
   */
  unconfirmedEmail: enumSwitch(['403 email_not_confirmed', '409 email_not_confirmed', '422 email_not_confirmed'], {
    lenient: '409 email_not_confirmed',
    hostile: '422 email_not_confirmed',
    notShown: 'key-cap-response',
    notObserved: OF_DASHBOARD,
    why: '403 is the usual status for an account that is not yet allowed to do something.',
  }),
  /** Whether a plan change resets the usage of the month. Default: 'keep'. */
  planChange: enumSwitch(['keep', 'reset'], {
    lenient: 'reset',
    hostile: 'keep',
    notShown: 'plan-change',
    notObserved: OF_DASHBOARD,
    why: 'If usage is kept, a client cannot rely on a plan change to free quota.',
  }),
  /** Effect of a plan change on the keys above the new cap. Default: 'keep'. */
  overCapKeys: enumSwitch(['keep', 'revoke-newest', 'block'], {
    lenient: 'keep',
    hostile: 'revoke-newest',
    notShown: 'plan-change',
    notObserved: OF_DASHBOARD,
    why: 'The documentation does not say that a plan change revokes keys.',
  }),
  /** Prefix of new keys. It ends in `_live_`. Default: 'fx_live_'. */
  keyPrefix: textSwitch(['fx_live_', 'rates_live_'], {
    pattern: /^[A-Za-z0-9]+_live_$/,
    lenient: 'fx_live_',
    hostile: 'rates_live_',
    notShown: 'key-prefix',
    notObserved: 'the key does not have the documented form',
    why: 'The documentation shows only that the prefix ends with _live_.',
  }),
} as const;

/** Undocumented behaviour of requests other than the two documented ones. */
const httpSwitches = {
  /** Whether an unknown path gets a 404 before or after the key is checked. Default: '404 before authentication'. */
  unknownRoute: enumSwitch(['404 before authentication', '404 after authentication'], {
    lenient: '404 before authentication',
    hostile: '404 after authentication',
    notShown: 'other-endpoints',
    why: 'The response is then the same with and without a key. An unknown path never uses quota.',
  }),
  /** Status and error code for methods other than GET. Default: '405 method_not_allowed'. */
  methodNotAllowed: enumSwitch(['405 method_not_allowed', '404 not_found'], {
    lenient: '405 method_not_allowed',
    hostile: '404 not_found',
    notShown: 'error-codes',
    why: 'Only GET is documented; RFC 9110 §15.5.6 defines 405 for other methods.',
  }),
  /** Response to HEAD requests. Default: 'like-get'. */
  headRequests: enumSwitch(['like-get', 'refused'], {
    lenient: 'like-get',
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'RFC 9110 §9.1 requires HEAD wherever GET is supported.',
  }),
  /** Response to OPTIONS requests. Default: 'refused'. */
  optionsRequests: enumSwitch(['refused', 'allow-header'], {
    lenient: 'allow-header',
    hostile: 'refused',
    notShown: 'other-endpoints',
    why: 'OPTIONS is not documented, and the service is not meant for browsers.',
  }),
  /** Status and error code for an invalid parameter; `'ignored'` ignores it. Default: '400 invalid_parameter'. */
  badParameter: enumSwitch(['400 invalid_parameter', '422 invalid_parameter', 'ignored'], {
    lenient: 'ignored',
    hostile: '422 invalid_parameter',
    notShown: 'latest-parameters',
    why: '400 is the usual status for an invalid parameter.',
  }),
  /** Response to `latest` with a parameter that the invented rates do not know. Default: 'served'. */
  unknownParameters: enumSwitch(['served', '400'], {
    lenient: 'served',
    hostile: '400',
    notShown: 'latest-parameters',
    notObserved: 'the documentation names no parameter of latest',
    why: 'The parameters of latest are not documented. The journal names those that the mock does not know.',
  }),
  /** Whether web pages of other origins can read responses. Default: 'absent'. */
  cors: enumSwitch(['absent', 'any-origin'], {
    lenient: 'any-origin',
    hostile: 'absent',
    notShown: 'cross-origin',
    why: 'The API key must stay on a server, so the service needs no CORS headers. Swagger UI needs them.',
  }),
  /** Whether successful responses have an ETag, and of which kind. Default: 'absent'. */
  etag: enumSwitch(['absent', 'strong', 'weak'], {
    lenient: 'strong',
    hostile: 'absent',
    notShown: 'entity-tags',
    why: 'No ETag is documented. A 304 counts toward the month as quotaChargesOn defines.',
  }),
} as const;

/** Switches by topic, as the control panel and docs/switches.md group them. */
export const SWITCH_GROUPS = {
  'Per-minute limit': rateSwitches,
  'Monthly quota': quotaSwitches,
  Authentication: authenticationSwitches,
  'Accounts and keys': accountSwitches,
  HTTP: httpSwitches,
} as const;

/** All switches by name. */
export const switches = {
  ...rateSwitches,
  ...quotaSwitches,
  ...authenticationSwitches,
  ...accountSwitches,
  ...httpSwitches,
} as const;

/** Name of a switch. */
export type SwitchName = keyof typeof switches;

/** The value of every switch. */
export type BehaviourValues = { readonly [Name in keyof typeof switches]: (typeof switches)[Name]['default'] };

export const SWITCH_NAMES = Object.keys(switches) as readonly SwitchName[];
