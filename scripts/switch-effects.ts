import type { SwitchName } from '../src/mock-server/behaviour/switches.ts';

/** The effects of a switch, as docs/switches.md describes them. */
interface SwitchEffect {
  /** The behaviour of the mock for each value. */
  readonly mock: Readonly<Record<string, string>>;
  /** The effect on a program that uses the client. */
  readonly client: string;
}

const REFUSED = 'Sends this status and error code.';
const sent = (...values: readonly string[]) => Object.fromEntries(values.map((value) => [value, REFUSED]));
const KEY_REFUSALS = ['401 unauthorized', '403 forbidden', '401 invalid_api_key', '403 invalid_api_key'];
const IS_AUTHENTICATION_ERROR = 'Every 401 and 403 rejects with `AuthenticationError`; `code` has the error code.';
const NO_EFFECT = 'None: the client creates no keys.';

export const switchEffects: Readonly<Record<SwitchName, SwitchEffect>> = {
  rateWindow: {
    mock: {
      'sliding-log': 'Accepts at most the limit in any 60 seconds.',
      'fixed-epoch': 'Counts per UTC minute. Around a full minute, twice the limit can pass.',
      'fixed-first-request':
        'Counts for 60 seconds from the first request, then starts a new window with the next one.',
      'sliding-counter': 'Adds a share of the previous UTC minute to the count of the current one.',
      'token-bucket': 'Starts with a full bucket and refills it evenly over the minute.',
    },
    client: 'The limiter learns the kind of window from the responses. Wait times and the number of refusals differ.',
  },
  rejectedCountsTowardRate: {
    mock: {
      false: 'A refused request uses none of the per-minute limit.',
      true: 'A refused request counts like an accepted one, so that early retries prolong the wait in a sliding window or a bucket.',
    },
    client: 'The client waits for Retry-After before it retries. A client that retries early can stay refused.',
  },
  quotaEndpointBucket: {
    mock: {
      shared: '`quota` and `latest` share one per-minute limit.',
      separate: '`quota` has a per-minute limit of its own, of the same size.',
    },
    client: 'If shared, each `quota()` call takes one request of the minute from `latest()`.',
  },
  rateHeaders: {
    mock: {
      none: 'Sends no header about limits, except Retry-After.',
      'x-ratelimit': 'Sends `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds).',
      'ietf-draft': 'Sends `RateLimit` and `RateLimit-Policy`, as the IETF draft defines them.',
    },
    client: 'None: the client does not need these headers. They are in `meta.headers`.',
  },
  retryAfterUnit: {
    mock: { seconds: 'Writes Retry-After in seconds.', milliseconds: 'Writes Retry-After in milliseconds.' },
    client: "With `retryAfterUnit: 'auto'`, the client detects milliseconds from the responses.",
  },
  retryAfterFormat: {
    mock: { integer: 'Writes whole numbers: `7`.', decimal: 'Writes up to three decimals: `6.842`.' },
    client: 'The client accepts both.',
  },
  retryAfterRounding: {
    mock: {
      up: 'Rounds up: a client that waits exactly this long is served.',
      nearest: 'Rounds to the nearest step: the client may be refused once more.',
      down: 'Rounds down: a client that waits exactly this long is refused once more.',
    },
    client: 'If Retry-After was too short, the client retries once more.',
  },
  retryAfterMin: {
    mock: {
      1: 'Never sends 0: the shortest wait is one second, or one unit of the last digit that is sent.',
      0: 'Sends 0 if the wait is rounded down to 0.',
    },
    client: 'The client ignores a Retry-After of 0 and determines the wait itself.',
  },
  retryAfterValue: {
    mock: {
      'rest-of-wait': 'Sends the time until the next request is accepted.',
      'whole-minute': 'Always sends 60 seconds.',
    },
    client: 'With `whole-minute`, the client waits longer than necessary.',
  },
  checkOrder: {
    mock: {
      'rate-then-quota': 'Sends 429 `rate_limited` first; the quota refusal follows when the minute is over.',
      'quota-then-rate': 'Sends the quota refusal immediately.',
    },
    client: 'With `rate-then-quota`, a call can wait for the minute before it rejects with `QuotaExhaustedError`.',
  },
  quotaChargesOn: {
    mock: {
      accepted: 'Counts every request within both limits, with any response.',
      success: 'Counts successful responses only.',
      'non-5xx': 'Counts every response below status 500.',
    },
    client: '`quotaEstimate()` assumes the most expensive case, so that it never promises more than is left.',
  },
  quotaPeriod: {
    mock: {
      'calendar-month-utc': 'Resets on the first day of the month, 00:00 UTC.',
      'rolling-30d': 'Resets 30 days after the first counted request.',
      anniversary: 'Resets each month on the day and time at which the account was created.',
    },
    client: 'The client reads only `resets_at`.',
  },
  quotaExhausted: {
    mock: sent('429 quota_exceeded', '402 quota_exceeded', '403 quota_exceeded'),
    client: 'All reject with `QuotaExhaustedError`: the client confirms the refusal with one free `quota` request.',
  },
  quotaRetryAfter: {
    mock: {
      absent: 'Sends no Retry-After.',
      'until-reset':
        'Sends the time until the quota resets, which can be weeks; `retryAfterValue` applies to it as well.',
    },
    client: 'The client does not wait for the reset: the call rejects with `QuotaExhaustedError`.',
  },
  unlimitedFairUse: {
    mock: {
      null: 'Never refuses the Unlimited plan for its quota.',
      1000000: 'Refuses after this number of requests per month, as for a quota. Any whole number is allowed.',
    },
    client: 'Beyond the threshold, calls reject as `quotaExhausted` defines.',
  },
  unlimitedAs: {
    mock: {
      null: 'Sends `null`.',
      '-1': 'Sends `-1`.',
      0: 'Sends `0`.',
      unlimited: 'Sends the text `"unlimited"`.',
      omitted: 'Omits the field.',
    },
    client: 'The client accepts all of them.',
  },
  snapshotGranularity: {
    mock: {
      '5min': 'Invented rates change every 5 minutes.',
      '1min': 'Invented rates change every minute.',
      '60min': 'Invented rates change every hour. Other texts of digits and a unit are allowed.',
    },
    client:
      "It sets the age of cached responses with `maxAgeMs: 'snapshot'` and the interval of `poll({ every: 'snapshot' })`.",
  },
  missingKey: { mock: sent(...KEY_REFUSALS, '401 missing_api_key'), client: IS_AUTHENTICATION_ERROR },
  malformedKey: {
    mock: sent(...KEY_REFUSALS, '400 invalid_api_key'),
    client: `${IS_AUTHENTICATION_ERROR} A 400 rejects with \`RequestError\`.`,
  },
  unknownKey: { mock: sent(...KEY_REFUSALS), client: IS_AUTHENTICATION_ERROR },
  revokedKey: {
    mock: sent(...KEY_REFUSALS, '401 key_revoked', '403 key_revoked'),
    client: `${IS_AUTHENTICATION_ERROR} If \`apiKey\` is a function, it is called once more, for a new key.`,
  },
  severalCredentials: {
    mock: {
      header: 'Uses the Authorization header.',
      query: 'Uses the query parameter.',
      refused: 'Refuses the request as `malformedKey` defines.',
    },
    client: 'None: the client sends exactly one credential.',
  },
  wwwAuthenticate: {
    mock: {
      bearer:
        'Sends `WWW-Authenticate: Bearer realm="fxrates"` with every 401 of the service, not with those of stubs and faults.',
      absent: 'Does not send the header.',
    },
    client: 'None.',
  },
  revocationDelayMs: {
    mock: {
      0: 'The next request with a revoked key fails, as documented.',
      60000: 'A revoked key works for this many milliseconds. Any whole number is allowed; requires `unsafe: true`.',
    },
    client: 'Calls with a revoked key succeed during the delay.',
  },
  freeMaxActiveKeys: {
    mock: {
      1: 'Allows one active key.',
      2: 'Allows two active keys.',
      3: 'Allows three active keys. Any whole number from 1 is allowed.',
      null: 'Allows any number of active keys.',
    },
    client: NO_EFFECT,
  },
  keyLimitReached: {
    mock: sent('409 key_limit_reached', '403 key_limit_reached', '422 key_limit_reached'),
    client: NO_EFFECT,
  },
  unconfirmedEmail: {
    mock: sent('403 email_not_confirmed', '409 email_not_confirmed', '422 email_not_confirmed'),
    client: NO_EFFECT,
  },
  planChange: {
    mock: { keep: 'The requests counted so far stay counted.', reset: 'The count of every key restarts at 0.' },
    client: 'The next `quota()` call returns the new numbers.',
  },
  overCapKeys: {
    mock: {
      keep: 'All keys stay active.',
      'revoke-newest': 'Revokes the newest keys above the cap.',
      block: 'Refuses the newest keys above the cap until there is room for them again.',
    },
    client: 'Calls with an affected key are refused as `revokedKey` defines.',
  },
  keyPrefix: {
    mock: {
      fx_live_: 'New keys start with `fx_live_`.',
      rates_live_: 'New keys start with `rates_live_`. Any letters and digits before `_live_` are allowed.',
    },
    client: 'None: the client accepts every prefix that ends in `_live_`.',
  },
  unknownRoute: {
    mock: {
      '404 before authentication': 'Sends 404 without a key, and counts nothing.',
      '404 after authentication': 'Requires a key and counts the request toward the minute, then sends 404.',
    },
    client: '`get()` with an unknown path rejects with `RequestError`, or with the refusal of the key or the limit.',
  },
  methodNotAllowed: {
    mock: {
      '405 method_not_allowed': 'Sends 405 with the header `Allow`.',
      '404 not_found': 'Sends 404 before the key is checked, with the body for an unknown path.',
    },
    client: 'None: the client sends GET only.',
  },
  headRequests: {
    mock: {
      'like-get': 'Responds as for GET, without the body, and counts the request.',
      refused: 'Responds as `methodNotAllowed` defines.',
    },
    client: 'None: the client sends GET only.',
  },
  optionsRequests: {
    mock: {
      refused: 'Responds as `methodNotAllowed` defines.',
      'allow-header': 'Sends 204 with the header `Allow`, without a key, and counts nothing.',
    },
    client: 'None: the client sends GET only.',
  },
  badParameter: {
    mock: {
      '400 invalid_parameter': REFUSED,
      '422 invalid_parameter': REFUSED,
      ignored: 'Ignores the unknown currencies; if none is left, sends all.',
    },
    client: 'A refusal rejects with `RequestError`. If ignored, the response may be for another base than requested.',
  },
  unknownParameters: {
    mock: {
      served: 'Ignores the parameter. The reason in the journal names it, with the nearest known one.',
      '400': 'Refuses the request with 400 `invalid_parameter`, which names the parameter.',
    },
    client:
      'If refused, a misspelt parameter rejects with `RequestError` instead of returning rates for another query.',
  },
  cors: {
    mock: {
      absent: 'Sends no CORS headers.',
      'any-origin': 'Allows every origin to read responses. Responds to preflight requests without counting them.',
    },
    client: 'None: the client does not run in browsers.',
  },
  etag: {
    mock: {
      absent: 'Sends no ETag, and ignores If-None-Match.',
      strong: 'Sends a strong ETag, and sends 304 for a matching If-None-Match.',
      weak: 'Sends a weak ETag (`W/"…"`), and sends 304 for a matching If-None-Match.',
    },
    client: 'The client sends no If-None-Match. If you add the header, a 304 rejects with `ResponseError`.',
  },
};
