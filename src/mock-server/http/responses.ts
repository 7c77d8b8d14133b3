import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { en as english } from 'zod/locales';
import type { OperationId } from '../../generated/operations.ts';
import { querySchemas } from '../../generated/schemas.ts';
import type { PlanName } from '../../generated/service.ts';
import type { ErrorResponse, QuotaData } from '../../generated/types.ts';
import { nearestName } from '../../nearest-name.ts';
import { type FoundOperation, type Operation, parameterValue } from '../../operation.ts';
import { redactKeys } from '../../redactor.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import { statusAndCode } from '../behaviour/switch.ts';
import type { SwitchName } from '../behaviour/switches.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { MockServerError, show, thrownText } from '../input/mock-server-error.ts';
import { type MeteredDecision, monthlyLimitOf, type QuotaUse } from '../service/decide.ts';
import { MINUTE_MS, rateLimitOf } from '../service/rate-windows.ts';
import type { KeyRecord } from '../service/service-state.ts';
import type { MockRequest, MockResponse } from './message.ts';
import type { ParsedTarget } from './parse-request.ts';

/** The documented success envelope (docs/facts.md, Response envelope) with a payload as JSON text. */
export function successResponse(data: string): MockResponse {
  return servedResponse(successBody(data));
}

/** Numbers keep their digits. */
export function successBody(data: string): string {
  return withoutTags(`{"success":true,"data":${data}}`);
}

/** `GET /api/v1/quota`: the documented record (docs/facts.md) with the usage of the key. */
export function quotaResponse(
  { switches }: { readonly switches: Switches },
  { key, quota }: { readonly key: KeyRecord; readonly quota: QuotaUse },
): MockResponse {
  const { plan } = key.account;
  const { requests, windowMs } = rateLimitOf(key);
  const limit = monthlyLimitOf(key) ?? switches.use('unlimitedAs');
  const record: QuotaData = {
    plan,
    monthly_used: quota.used,
    ...(limit === 'omitted' ? {} : { monthly_limit: limit }),
    rate_limit_per_minute: Math.max(1, Math.floor((requests * MINUTE_MS) / windowMs)),
    snapshot_granularity: switches.use('snapshotGranularity'),
    historical_days: INVENTED_HISTORICAL_DAYS[plan],
    resets_at: isoTime(quota.resetsAt),
  };
  return successResponse(JSON.stringify(record));
}

/** The service documents the field, not its values. */
const INVENTED_HISTORICAL_DAYS: Readonly<Record<PlanName, number>> = { free: 90, developer: 365, unlimited: 3650 };

/** A response with a complete success envelope as JSON text. */
export function servedResponse(body: string): MockResponse {
  return { status: 200, headers: NO_HEADERS, body, code: undefined, why: 'served' };
}

const NO_HEADERS: MockResponse['headers'] = {};

interface ErrorResponseOptions {
  readonly status: number;
  readonly code: string;
  /** Sent as `error.message`. */
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the message. */
  readonly why?: string;
}

/** The documented error envelope. */
export function errorResponse(options: ErrorResponseOptions): MockResponse {
  const { status, code, message, headers = {}, why = message } = options;
  return { status, headers, body: errorBody(options), code, why };
}

export function errorBody({ status, code, message }: ErrorResponseOptions): string {
  return toJson({ success: false, error: { code, message, status } } satisfies ErrorResponse);
}

export function reasonPhrase(status: number): string {
  return STATUS_CODES[status] ?? '';
}

/** RFC 9110 §15.3.5, §15.3.6, §15.4.5. */
export const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** The code of an error envelope without one: the documented one, or `service_unavailable` for `Service Unavailable`. */
export function codeOfStatus(status: number): string {
  if (status === 429) return 'rate_limited';
  return (reasonPhrase(status) || 'unknown').toLowerCase().replace(/\W+/g, '_');
}

export function toJson(envelope: unknown): string {
  return withoutTags(JSON.stringify(envelope));
}

/** Escapes the characters of HTML tags, in case a browser reads the JSON as HTML. The values are the same. */
export function withoutTags(json: string): string {
  return json.replace(HTML_SPECIAL, (character) => HTML_ESCAPES[character] ?? character);
}

const HTML_SPECIAL = /[<>&]/g;
const HTML_ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

/** Adds date and length: the same bytes for every adapter. `method`: that of the request, unless rules need the body. */
export function completed(
  response: MockResponse,
  { method, now }: { readonly method?: string; readonly now: number },
): MockResponse {
  const { status, body, headers } = response;
  const date = new Date(now).toUTCString();
  if (body === '') {
    // Without a length, node:http would send an empty body in chunks.
    const length = STATUSES_WITHOUT_BODY.has(status) ? {} : { 'content-length': '0' };
    return { ...response, headers: { ...length, date, ...headers } };
  }
  const length = String(Buffer.byteLength(body));
  const all = { 'content-type': 'application/json', 'content-length': length, date, ...headers };
  // HEAD: the headers of a GET, without the body (RFC 9110 §9.3.2).
  return { ...response, headers: all, body: method === 'HEAD' ? '' : body };
}

/** The switch that defines how a request is refused, and the reason in words. */
export interface AuthenticationRefusal {
  readonly refusedBy: Extract<SwitchName, 'missingKey' | 'malformedKey' | 'unknownKey' | 'revokedKey'>;
  readonly why: string;
}

/** A missing, malformed, unknown or revoked key. */
export function authenticationRefusal({ refusedBy, why }: AuthenticationRefusal, switches: Switches): MockResponse {
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
export function rateRefusal(
  { rate, limit, waitMs }: Extract<MeteredDecision<unknown>, { readonly kind: 'rate-limited' }>,
  switches: Switches,
): MockResponse {
  const { requests, windowMs } = limit;
  const isMinute = windowMs === MINUTE_MS;
  return errorResponse({
    status: 429,
    code: 'rate_limited',
    message: `Too many requests: the ${isMinute ? `plan allows ${requests} per minute` : `limit is ${requests} per ${windowMs} ms`}.`,
    headers: { 'retry-after': retryAfter(waitMs, switches, windowMs) },
    // The window can contain more requests than the limit, because refused ones may count.
    why: `${Math.min(rate.used, requests)} of ${requests} requests used ${isMinute ? 'this minute' : `within ${windowMs} ms`}; next accepted in ${waitMs} ms`,
  });
}

/** The monthly quota is used up. */
export function quotaRefusal(quota: QuotaUse, now: number, switches: Switches): MockResponse {
  const isTimed = switches.use('quotaRetryAfter') === 'until-reset';
  const resetsAt = isoTime(quota.resetsAt);
  return errorResponse({
    ...statusAndCode(switches.use('quotaExhausted')),
    message: `The monthly quota of ${quota.limit} requests is used up; it resets at ${resetsAt}.`,
    headers: isTimed ? { 'retry-after': retryAfter(quota.resetsAt - now, switches) } : {},
    why: `${quota.used} of ${quota.limit} requests of this quota period are used; it ends at ${resetsAt}`,
  });
}

/** The hint is only in the journal, because the service sends none. */
export function unknownRoute(hint?: string): MockResponse {
  const message = 'There is no such endpoint.';
  const why = hint === undefined ? message : `There is no such endpoint; ${hint}`;
  return errorResponse({ status: 404, code: 'not_found', message, why });
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
  const known = { status: 500, code: 'internal_error' };
  if (error instanceof MockServerError) return errorResponse({ ...known, message: error.message });
  const message = 'The mock server failed to process the request.';
  return errorResponse({ ...known, message, why: redactKeys(thrownText(error)) });
}

/** A period that lasts longer than the clock ends with it: later years have no form with four digits. */
function isoTime(ms: number): string {
  return new Date(Math.min(ms, LATEST_MS)).toISOString();
}

function allowed(switches: Switches): Readonly<Record<string, string>> {
  const methods = ['GET'];
  if (switches.use('headRequests') === 'like-get') methods.push('HEAD');
  if (switches.use('optionsRequests') === 'allow-header') methods.push('OPTIONS');
  return { allow: methods.join(', ') };
}

/** The response to an invalid parameter; `undefined` if the switch ignores it. */
export function badParameter(message: string, switches: Switches): MockResponse | undefined {
  const value = switches.use('badParameter');
  return value === 'ignored' ? undefined : errorResponse({ ...statusAndCode(value), message });
}

/** Checks the parameters that the contract names, as the client does; `undefined` if they are valid, or free-form. */
export function parameterRefusal(
  { operation, parameters: inPath }: FoundOperation<Operation>,
  { target, switches }: { readonly target: ParsedTarget; readonly switches: Switches },
): MockResponse | undefined {
  if (operation.query !== 'named') return undefined;
  const values = operation.parameters.flatMap((parameter) => {
    const { name, list } = parameter;
    const texts = parameter.in === 'path' ? [inPath[name] ?? ''] : target.parameters.getAll(name);
    const items = (list === 'comma' ? texts.flatMap((text) => text.split(',')) : texts).map((text) =>
      parameterValue(text, parameter),
    );
    if (items.length === 0) return [];
    // The name of a single value stands once, so a list is wrong there.
    return [[name, list === undefined && items.length === 1 ? items[0] : items]];
  });
  const schema = querySchemas[operation.id as OperationId];
  const { error } = schema.safeParse(Object.fromEntries(values), { error: english().localeError });
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return undefined;
  const place = issue.path.map((part) => `'${String(part)}': `).join('');
  return badParameter(`${operation.id}: ${place}${issue.message}`, switches);
}

/** Names what an operation does not know, with the nearest names that it knows; `undefined` without names. */
export function unknownText(
  id: string,
  what: keyof typeof PLURAL,
  names: readonly string[],
  known: readonly string[],
): string | undefined {
  if (names.length === 0) return undefined;
  const first = names.slice(0, MOST_NAMED).map((name) => {
    const nearest = nearestName(name, known);
    return show(name) + (nearest === undefined ? '' : ` (did you mean ${nearest}?)`);
  });
  const others = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
  return `${id} does not know the ${names.length === 1 ? what : PLURAL[what]} ${first.join(', ')}${others}`;
}

const PLURAL = { parameter: 'parameters', currency: 'currencies' } as const;

const MOST_NAMED = 3;

/** The response to a query that can have unknown parameters: a misspelt one can cause a plausible wrong response. */
export function withUnknownParameters(
  response: MockResponse,
  { parameters }: ParsedTarget,
  { id, known, switches }: { readonly id: string; readonly known: readonly string[]; readonly switches: Switches },
): MockResponse {
  const names = Array.from(new Set(parameters.keys())).filter((name) => !known.includes(name));
  const unknown = unknownText(id, 'parameter', names, known);
  if (unknown === undefined) return response;
  if (switches.use('unknownParameters') === 'served') return { ...response, why: `${response.why}; ${unknown}` };
  return errorResponse({ status: 400, code: 'invalid_parameter', message: unknown });
}

/** Headers about the per-minute limit, as the switch `rateHeaders` defines; none by default. */
export function rateHeaders(
  { rate, limit: { windowMs } }: Pick<MeteredDecision<unknown>, 'rate' | 'limit'>,
  now: number,
  switches: Switches,
): Readonly<Record<string, string>> | undefined {
  const remaining = Math.max(0, rate.limit - rate.used);
  switch (switches.use('rateHeaders')) {
    case 'none':
      return undefined;
    case 'x-ratelimit':
      return {
        'x-ratelimit-limit': String(rate.limit),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(Math.ceil(rate.fullAt / 1000)),
      };
    // draft-ietf-httpapi-ratelimit-headers
    case 'ietf-draft':
      return {
        'ratelimit-policy': `"minute";q=${rate.limit};w=${Math.ceil(windowMs / 1000)}`,
        ratelimit: `"minute";r=${remaining};t=${Math.ceil((rate.fullAt - now) / 1000)}`,
      };
  }
}

/** Formats a wait as the switches define. By default, whole seconds, rounded up: a request after it is accepted. */
export function retryAfter(waitMs: number, switches: Switches, windowMs = MINUTE_MS): string {
  const unitMs = switches.use('retryAfterUnit') === 'seconds' ? 1000 : 1;
  const isDecimal = switches.use('retryAfterFormat') === 'decimal';
  const stepsPerUnit = isDecimal ? 1000 : 1;
  const shownMs = switches.use('retryAfterValue') === 'whole-minute' ? windowMs : waitMs;
  const steps = rounded((shownMs * stepsPerUnit) / unitMs, switches);
  return String(steps / stepsPerUnit);
}

function rounded(steps: number, switches: Switches): number {
  if (Number.isInteger(steps)) return steps;
  const round = { up: Math.ceil, nearest: Math.round, down: Math.floor }[switches.use('retryAfterRounding')];
  const whole = round(steps);
  return whole === 0 ? switches.use('retryAfterMin') : whole;
}

/**
 * Adds an ETag, or responds with 304 if the request has that ETag (RFC 9110 §13.1.2), as the switch defines. A 304
 * counts toward the minute like every response, and toward the month like other responses without success.
 */
export function withEtag(response: MockResponse, { headers }: MockRequest, switches: Switches): MockResponse {
  const known = headers['if-none-match'];
  // In these cases, the response does not depend on the switch.
  if (response.status !== 200 || (known === undefined && switches.values.etag === 'absent')) return response;
  const form = switches.use('etag');
  if (form === 'absent') return response;
  const etag = response.headers['etag']?.toString() ?? `${form === 'weak' ? 'W/' : ''}"${digestOf(response.body)}"`;
  if (known === undefined || !includesTag(known, etag)) return { ...response, headers: { ...response.headers, etag } };
  return { ...response, status: 304, headers: { ...response.headers, etag }, body: '', why: 'not modified' };
}

function digestOf(body: MockResponse['body']): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}

/** Weak comparison (RFC 9110 §8.8.3.2): the same text is the same tag, with `W/` or without. */
function includesTag(condition: string, etag: string): boolean {
  if (condition.trim() === '*') return true;
  const tags: readonly string[] = condition.match(/"[^"]*"/g) ?? [];
  return tags.includes(etag.replace(/^W\//, ''));
}

/** Whether the request is a CORS preflight of a browser (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: MockRequest): boolean {
  return (
    method === 'OPTIONS' && headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  );
}

/** Allows what the browser requests, also the methods of rules. Neither authenticated nor counted: a preflight has no key. */
export function preflightResponse({ headers }: MockRequest, methods: readonly string[]): MockResponse {
  const asked = headers['access-control-request-headers'] ?? '';
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': Array.from(new Set(['GET', 'HEAD', 'OPTIONS', ...methods])).join(', '),
      // `*` does not include the header Authorization, which contains the key.
      'access-control-allow-headers': HEADER_NAMES.test(asked) ? asked : 'Authorization',
      'access-control-max-age': '600',
    },
    body: '',
    code: undefined,
    why: 'CORS preflight',
  };
}

/** Only valid names, because the list is sent back. */
const HEADER_NAMES = /^[\w-]+(?:,[ \t]*[\w-]+)*$/;

/**
 * Makes the response readable for pages of every origin. `*` needs no `Vary`, and browsers then send no cookies. Headers of a
 * rule stay.
 */
export function withCorsHeaders(response: MockResponse): MockResponse {
  return { ...response, headers: { ...CORS_HEADERS, ...response.headers } };
}

/** The headers that the emulated service sends, besides those that a page can always read. */
const EXPOSED =
  'Date, ETag, Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, WWW-Authenticate';

const CORS_HEADERS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED };

/** Is in every response of the admin API, so that its client recognizes a mock. */
export const MOCK_HEADER = 'fxrates-mock';

/** Headers of every page of the mock: not stored, not framed, and without a guess of the type. */
export const PAGE_HEADERS = {
  [MOCK_HEADER]: 'admin',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Not `no-referrer`, because browsers would send forms with `Origin: null`.
  'referrer-policy': 'same-origin',
} as const;
