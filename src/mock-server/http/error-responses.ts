import type { Behaviour } from '../behaviour/behaviour.ts';
import { statusAndCode } from '../behaviour/switch.ts';
import { MockServerError, thrownText } from '../mock-server-error.ts';
import type { Authentication } from '../service/authenticate.ts';
import type { Decision, RateUse } from '../service/decide.ts';
import { retryAfter } from './response-headers.ts';
import { errorResponse, type ServiceResponse } from './service-response.ts';

type Refused<Kind extends Decision<unknown>['kind']> = Extract<Decision<unknown>, { readonly kind: Kind }>;

/** A missing, malformed, unknown or revoked key. */
export function authenticationRefusal(
  { refusedBy, why }: Extract<Authentication, { readonly why: string }>,
  behaviour: Behaviour,
): ServiceResponse {
  const { status, code } = statusAndCode(behaviour.use(refusedBy));
  const challenges = status === 401 && behaviour.use('wwwAuthenticate') === 'bearer';
  return errorResponse({
    status,
    code,
    message: 'A valid API key is required.',
    headers: challenges ? { 'www-authenticate': 'Bearer realm="fxrates"' } : {},
    why,
  });
}

/** 429 `rate_limited` with Retry-After, as documented. */
export function rateRefusal({ rate, waitMs }: Refused<'rate-limited'>, behaviour: Behaviour): ServiceResponse {
  return errorResponse({
    status: 429,
    code: 'rate_limited',
    message: `Too many requests: the plan allows ${rate.limit} per minute.`,
    headers: { 'retry-after': retryAfter(waitMs, behaviour) },
    why: `${shownUse(rate)} of ${rate.limit} requests used this minute; next accepted in ${waitMs} ms`,
  });
}

/** The monthly quota is used up. */
export function quotaRefusal(
  { quota }: Refused<'quota-exhausted'>,
  behaviour: Behaviour,
  now: number,
): ServiceResponse {
  const isTimed = behaviour.use('quotaRetryAfter') === 'until-reset';
  const resetsAt = new Date(quota.resetsAt).toISOString();
  return errorResponse({
    ...statusAndCode(behaviour.use('quotaExhausted')),
    message: `The monthly quota of ${quota.limit} requests is used up; it resets at ${resetsAt}.`,
    headers: isTimed ? { 'retry-after': retryAfter(quota.resetsAt - now, behaviour) } : {},
    why: `${quota.used} of ${quota.limit} requests of this quota period are used; it ends at ${resetsAt}`,
  });
}

/** `hints` and the nearest path are only in the journal, because the service sends none. */
export function unknownRoute(nearest?: string, hints: readonly string[] = []): ServiceResponse {
  const message = 'There is no such endpoint.';
  const first = nearest === undefined ? message : `There is no such endpoint; did you mean ${nearest}?`;
  return errorResponse({ status: 404, code: 'not_found', message, why: [first, ...hints].join(' ') });
}

/** A known path with another method than GET. */
export function methodRefusal(behaviour: Behaviour): ServiceResponse {
  const { status, code } = statusAndCode(behaviour.use('methodNotAllowed'));
  if (status === 404) return unknownRoute();
  return errorResponse({ status, code, message: 'The endpoint accepts only GET.', headers: allowed(behaviour) });
}

/** OPTIONS on a known path, if the switch allows it. The request is neither authenticated nor counted. */
export function optionsResponse(behaviour: Behaviour): ServiceResponse {
  return { status: 204, headers: allowed(behaviour), body: '', code: undefined, why: 'OPTIONS' };
}

/** Contains only errors of the mock itself; others are in the journal. */
export function internalError(error: unknown): ServiceResponse {
  return errorResponse({
    status: 500,
    code: 'internal_error',
    message: error instanceof MockServerError ? error.message : 'The mock server failed to process the request.',
    why: thrownText(error),
  });
}

function allowed(behaviour: Behaviour): Readonly<Record<string, string>> {
  const methods = ['GET'];
  if (behaviour.use('headRequests') === 'like-get') methods.push('HEAD');
  if (behaviour.use('optionsRequests') === 'allow-header') methods.push('OPTIONS');
  return { allow: methods.join(', ') };
}

/** At most the limit. The window can contain more requests, because refused ones may count. */
function shownUse({ used, limit }: RateUse): number {
  return Math.min(used, limit);
}

/** The response to an invalid parameter; `undefined` if the switch ignores it. */
export function badParameter(message: string, behaviour: Behaviour): ServiceResponse | undefined {
  const value = behaviour.use('badParameter');
  return value === 'ignored' ? undefined : errorResponse({ ...statusAndCode(value), message });
}
