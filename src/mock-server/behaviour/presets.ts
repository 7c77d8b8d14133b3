import type { SwitchValues } from './behaviour-options.ts';

/**
 * Values for many switches at once. `documented`: only what the service says; every switch keeps its default and stays
 * an assumption. `lenient`: refuses least and tells most. `hostile`: what is least convenient for a client.
 */
export type PresetName = 'documented' | 'lenient' | 'hostile';

export const presets: Readonly<Record<PresetName, SwitchValues>> = {
  documented: {},
  lenient: {
    rateWindow: 'token-bucket',
    rejectedCountsTowardRate: false,
    quotaEndpointBucket: 'separate',
    rateHeaders: 'x-ratelimit',
    retryAfterUnit: 'seconds',
    retryAfterFormat: 'integer',
    retryAfterRounding: 'up',
    retryAfterMin: 1,
    retryAfterValue: 'rest-of-wait',
    checkOrder: 'rate-then-quota',
    quotaChargesOn: 'success',
    quotaPeriod: 'calendar-month-utc',
    quotaExhausted: '402 quota_exceeded',
    quotaRetryAfter: 'absent',
    unlimitedFairUse: null,
    unlimitedAs: 'unlimited',
    snapshotGranularity: '1min',
    missingKey: '401 missing_api_key',
    malformedKey: '401 invalid_api_key',
    unknownKey: '401 invalid_api_key',
    revokedKey: '401 key_revoked',
    severalCredentials: 'header',
    wwwAuthenticate: 'bearer',
    freeMaxActiveKeys: null,
    keyLimitReached: '409 key_limit_reached',
    unconfirmedEmail: '409 email_not_confirmed',
    planChange: 'reset',
    overCapKeys: 'keep',
    keyPrefix: 'fx_live_',
    unknownRoute: '404 before authentication',
    methodNotAllowed: '405 method_not_allowed',
    headRequests: 'like-get',
    optionsRequests: 'allow-header',
    badParameter: 'ignored',
  },
  hostile: {
    rateWindow: 'sliding-log',
    // Who asks again too early is kept out for longer.
    rejectedCountsTowardRate: true,
    quotaEndpointBucket: 'shared',
    rateHeaders: 'none',
    retryAfterUnit: 'milliseconds',
    retryAfterFormat: 'decimal',
    retryAfterRounding: 'down',
    retryAfterMin: 0,
    retryAfterValue: 'rest-of-wait',
    checkOrder: 'quota-then-rate',
    quotaChargesOn: 'accepted',
    quotaPeriod: 'rolling-30d',
    // Looks like the minute's limit, and asks for weeks.
    quotaExhausted: '429 quota_exceeded',
    quotaRetryAfter: 'until-reset',
    unlimitedFairUse: 1_000_000,
    unlimitedAs: 'omitted',
    snapshotGranularity: '60min',
    missingKey: '403 forbidden',
    malformedKey: '403 forbidden',
    unknownKey: '403 forbidden',
    revokedKey: '403 forbidden',
    severalCredentials: 'refused',
    wwwAuthenticate: 'absent',
    freeMaxActiveKeys: 1,
    keyLimitReached: '422 key_limit_reached',
    unconfirmedEmail: '422 email_not_confirmed',
    planChange: 'keep',
    overCapKeys: 'revoke-newest',
    keyPrefix: 'rates_live_',
    unknownRoute: '404 after authentication',
    methodNotAllowed: '404 not_found',
    headRequests: 'refused',
    optionsRequests: 'refused',
    badParameter: '422 invalid_parameter',
  },
};

export const PRESET_NAMES = Object.keys(presets) as readonly PresetName[];

export function isPresetName(value: unknown): value is PresetName {
  return typeof value === 'string' && Object.hasOwn(presets, value);
}
