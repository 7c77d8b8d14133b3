import type { Switches } from '../behaviour/behaviour.ts';
import { statusAndCode } from '../behaviour/switch.ts';
import { MockServerError, thrownText } from '../mock-server-error.ts';
import type { Authentication } from '../service/authenticate.ts';
import type { Decision, RateUse } from '../service/decide.ts';
import type { MockResponse } from './mock-message.ts';
import { retryAfter } from './response-headers.ts';
import { errorResponse } from './responses.ts';

type Refused<Kind extends Decision<unknown>['kind']> = Extract<Decision<unknown>, { readonly kind: Kind }>;

/** A missing, malformed, unknown or revoked key. */
export function authenticationRefusal(
  { refusedBy, why }: Extract<Authentication, { readonly why: string }>,
  switches: Switches,
): MockResponse {
  const { status, code } = statusAndCode(switches.use(refusedBy));
  const challenges = status === 401 && switches.use('wwwAuthenticate') === 'bearer';
  return errorResponse({
    status,
    code,
    message: 'A valid API key is required.',
    headers: challenges ? { 'www-authenticate': 'Bearer realm="fxrates"' } : {},
    why,
  });
}

/** 429 `rate_limited` with Retry-After, as documented. */
export function rateRefusal({ rate, waitMs }: Refused<'rate-limited'>, switches: Switches): MockResponse {
  return errorResponse({
    status: 429,
    code: 'rate_limited',
    message: `Too many requests: the plan allows ${rate.limit} per minute.`,
    headers: { 'retry-after': retryAfter(waitMs, switches) },
    why: `${shownUse(rate)} of ${rate.limit} requests used this minute; next accepted in ${waitMs} ms`,
  });
}

/** The monthly quota is used up. */
export function quotaRefusal({ quota }: Refused<'quota-exhausted'>, switches: Switches, now: number): MockResponse {
  const isTimed = switches.use('quotaRetryAfter') === 'until-reset';
  const resetsAt = new Date(quota.resetsAt).toISOString();
  return errorResponse({
    ...statusAndCode(switches.use('quotaExhausted')),
    message: `The monthly quota of ${quota.limit} requests is used up; it resets at ${resetsAt}.`,
    headers: isTimed ? { 'retry-after': retryAfter(quota.resetsAt - now, switches) } : {},
    why: `${quota.used} of ${quota.limit} requests of this quota period are used; it ends at ${resetsAt}`,
  });
}

/** `hints` and the nearest path are only in the journal, because the service sends none. */
export function unknownRoute(nearest?: string, hints: readonly string[] = []): MockResponse {
  const message = 'There is no such endpoint.';
  const first = nearest === undefined ? message : `There is no such endpoint; did you mean ${nearest}?`;
  return errorResponse({ status: 404, code: 'not_found', message, why: [first, ...hints].join(' ') });
}

/** A known path with another method than GET. */
export function methodRefusal(switches: Switches): MockResponse {
  const { status, code } = statusAndCode(switches.use('methodNotAllowed'));
  if (status === 404) return unknownRoute();
  return errorResponse({ status, code, message: 'The endpoint accepts only GET.', headers: allowed(switches) });
}

/** OPTIONS on a known path, if the switch allows it. The request is neither authenticated nor counted. */
export function optionsResponse(switches: Switches): MockResponse {
  return { status: 204, headers: allowed(switches), body: '', code: undefined, why: 'OPTIONS' };
}

/** Contains only errors of the mock itself; others are in the journal. */
export function internalError(error: unknown): MockResponse {
  return errorResponse({
    status: 500,
    code: 'internal_error',
    message: error instanceof MockServerError ? error.message : 'The mock server failed to process the request.',
    why: thrownText(error),
  });
}

function allowed(switches: Switches): Readonly<Record<string, string>> {
  const methods = ['GET'];
  if (switches.use('headRequests') === 'like-get') methods.push('HEAD');
  if (switches.use('optionsRequests') === 'allow-header') methods.push('OPTIONS');
  return { allow: methods.join(', ') };
}

/** At most the limit. The window can contain more requests, because refused ones may count. */
function shownUse({ used, limit }: RateUse): number {
  return Math.min(used, limit);
}

/** The response to an invalid parameter; `undefined` if the switch ignores it. */
export function badParameter(message: string, switches: Switches): MockResponse | undefined {
  const value = switches.use('badParameter');
  return value === 'ignored' ? undefined : errorResponse({ ...statusAndCode(value), message });
}
