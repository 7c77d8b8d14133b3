import { switches } from '../behaviour/switches.ts';
import {
  type Findings,
  type ProbeRequest,
  type ProbeResponse,
  type Prober,
  type ProbeStep,
  type Probing,
  RateLimited,
  statusAndCodeText,
} from './prober.ts';

const MALFORMED_KEY = 'not-a-key';

/** The steps after the first `quota`, the most important first, because a small budget ends before the last. */
export const PROBE_STEPS: readonly ProbeStep[] = [
  { requests: 1, charged: 0, run: (probing) => probeRefusal(probing, 'missingKey') },
  { requests: 1, charged: 0, run: (probing) => probeRefusal(probing, 'malformedKey', MALFORMED_KEY) },
  { requests: 1, charged: 0, run: probeUnknownKey },
  { requests: 1, charged: 0, run: probeUnknownPath },
  { requests: 2, charged: 1, run: observeQuotaUse },
  { requests: 2, charged: 0, run: probeOtherKeyForms },
  { requests: 2, charged: 0, run: probeTwoKeys },
  { requests: 1, charged: 0, run: probePost },
  { requests: 1, charged: 0, run: probeHead },
  { requests: 1, charged: 0, run: probeOptions },
];

/** Sends `key`, or none, which the service refuses. */
async function probeRefusal(
  { prober, findings }: Probing,
  name: 'missingKey' | 'malformedKey' | 'unknownKey',
  key?: string,
): Promise<void> {
  const seen = await prober.send('quota', key === undefined ? {} : { authorization: `Bearer ${key}` });
  const value = statusAndCodeText(seen);
  findings.observeIfKnown(name, value, `the response was ${value}, which is not a value of this switch`);
  observeChallenge(findings, seen);
}

async function probeUnknownKey(probing: Probing): Promise<void> {
  const [prefix] = /^.*_live_/.exec(probing.key) ?? [];
  if (prefix === undefined)
    return probing.findings.markNotObserved('unknownKey', 'the key does not have the documented form');
  // No account has this key of 192 zero bits.
  await probeRefusal(probing, 'unknownKey', `${prefix}${'0'.repeat(48)}`);
}

/** RFC 9110 §11.6.1: only a 401 carries a challenge. */
function observeChallenge(findings: Findings, { status, headers }: ProbeResponse): void {
  if (status !== 401) return;
  const challenge = headers.get('www-authenticate');
  if (challenge === null) findings.observe('wwwAuthenticate', 'absent');
  else if (/^bearer\b/i.test(challenge)) findings.observe('wwwAuthenticate', 'bearer');
  else findings.markNotObserved('wwwAuthenticate', 'the challenge names a scheme other than Bearer');
}

async function probeUnknownPath({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.send('fxrates-probe');
  if (seen.status === 404) findings.observe('unknownRoute', '404 before authentication');
  else if (isAuthenticationFailure(seen)) findings.observe('unknownRoute', '404 after authentication');
  else findings.markNotObserved('unknownRoute', `the response was ${seen.status}`);
}

/** Both forms are documented, so no switch defines whether they work. */
async function probeOtherKeyForms({ prober, findings, key }: Probing): Promise<void> {
  const bare = await prober.send('quota', { authorization: key });
  if (bare.status !== 200)
    findings.contradict(`the response to the bare key in the Authorization header was ${bare.status}`);
  const query = await prober.send('quota', { query: { api_key: key } });
  if (query.status !== 200) findings.contradict(`the response to the key in the query was ${query.status}`);
}

async function probeTwoKeys({ prober, findings, key }: Probing): Promise<void> {
  const goodHeader = await prober.send('quota', { authorization: `Bearer ${key}`, query: { api_key: MALFORMED_KEY } });
  if (goodHeader.status === 200) return findings.observe('severalCredentials', 'header');
  const goodQuery = await prober.send('quota', { authorization: `Bearer ${MALFORMED_KEY}`, query: { api_key: key } });
  if (goodQuery.status === 200) findings.observe('severalCredentials', 'query');
  else if (isAuthenticationFailure(goodQuery)) findings.observe('severalCredentials', 'refused');
  else findings.markNotObserved('severalCredentials', `the response was ${goodQuery.status}`);
}

function isAuthenticationFailure({ status }: ProbeResponse): boolean {
  return status === 400 || status === 401 || status === 403;
}

function sendMethod({ prober, key }: Probing, method: 'POST' | 'HEAD' | 'OPTIONS'): Promise<ProbeResponse> {
  return prober.send('quota', {
    method,
    authorization: `Bearer ${key}`,
    ...(method === 'HEAD' ? { origin: PAGE } : {}),
  });
}

/** The origin of an unknown page. */
const PAGE = 'https://fxrates-probe.test';

function observeCors(findings: Findings, headers: ProbeResponse['headers']): void {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed === null) findings.observe('cors', 'absent');
  else if (allowed === '*' || allowed === PAGE) findings.observe('cors', 'any-origin');
  else findings.markNotObserved('cors', `only pages of ${allowed} are allowed`);
}

async function probePost(probing: Probing): Promise<void> {
  const value = statusAndCodeText(await sendMethod(probing, 'POST'));
  probing.findings.observeIfKnown('methodNotAllowed', value, `the response to POST was ${value}`);
}

async function probeHead(probing: Probing): Promise<void> {
  const { status, headers } = await sendMethod(probing, 'HEAD');
  observeCors(probing.findings, headers);
  if (status === 200) probing.findings.observe('headRequests', 'like-get');
  else if (isMethodRefusal(status)) probing.findings.observe('headRequests', 'refused');
  else probing.findings.markNotObserved('headRequests', `the response was ${status}`);
}

async function probeOptions(probing: Probing): Promise<void> {
  const { status, headers } = await sendMethod(probing, 'OPTIONS');
  if (status === 204 && headers.has('allow')) probing.findings.observe('optionsRequests', 'allow-header');
  else if (isMethodRefusal(status)) probing.findings.observe('optionsRequests', 'refused');
  else probing.findings.markNotObserved('optionsRequests', `the response was ${status}`);
}

function isMethodRefusal(status: number): boolean {
  return status === 404 || status === 405;
}

/** The switches that a response of `quota` and the key show without a further request. */
export function observeQuotaRecord({ findings, key, quota }: Omit<Probing, 'prober'>): void {
  const { plan, snapshot_granularity: granularity } = quota.data;
  const [prefix] = /^[A-Za-z0-9]+_live_/.exec(key) ?? [];
  if (prefix !== undefined) findings.observe('keyPrefix', prefix);
  findings.observeIfKnown('snapshotGranularity', granularity, 'the quota record has no valid snapshot_granularity');
  observeRateHeaders(findings, quota);
  observeEtag(findings, quota);
  if (plan !== 'unlimited') return findings.markNotObserved('unlimitedAs', `the key belongs to the ${plan} plan`);
  const limit = 'monthly_limit' in quota.data ? quota.data['monthly_limit'] : 'omitted';
  findings.observeIfKnown('unlimitedAs', limit, `monthly_limit is ${JSON.stringify(limit)}`);
}

function observeRateHeaders(findings: Findings, { headers }: ProbeResponse): void {
  const names = [...headers].map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) findings.observe('rateHeaders', 'none');
  else if (headers.has('x-ratelimit-limit')) findings.observe('rateHeaders', 'x-ratelimit');
  else if (headers.has('ratelimit-policy')) findings.observe('rateHeaders', 'ietf-draft');
  else findings.markNotObserved('rateHeaders', `the response has other headers: ${names.join(', ')}`);
}

function observeEtag(findings: Findings, { headers }: ProbeResponse): void {
  const etag = headers.get('etag');
  if (etag === null) findings.observe('etag', 'absent');
  else findings.observe('etag', etag.startsWith('W/') ? 'weak' : 'strong');
}

/** Calls `latest` with an unknown currency, then `quota`. This is the only step that may use quota. */
async function observeQuotaUse({ prober, findings, key, quota }: Probing): Promise<void> {
  const authorization = `Bearer ${key}`;
  const latest = await prober.send('latest', { authorization, query: { base: 'XXX' } });
  const value = statusAndCodeText(latest);
  const isExhausted = switches.quotaExhausted.accepts(value);
  if (isExhausted) observeExhausted(findings, value, latest);
  else observeBadParameter(findings, value, latest);
  const after = await prober.send('quota', { authorization });
  if (!isExhausted) observeCharge(findings, latest, [quota, after]);
  observePeriod(findings, [quota, after]);
}

function observeExhausted(
  findings: Findings,
  value: (typeof switches)['quotaExhausted']['default'],
  { headers }: ProbeResponse,
): void {
  findings.observe('quotaExhausted', value);
  findings.observe('quotaRetryAfter', headers.has('retry-after') ? 'until-reset' : 'absent');
  findings.markNotObserved('badParameter', 'the monthly quota is used up');
  findings.markNotObserved('quotaChargesOn', 'the monthly quota is used up');
}

function observeBadParameter(findings: Findings, value: string, { status }: ProbeResponse): void {
  if (status === 200) findings.observe('badParameter', 'ignored');
  else findings.observeIfKnown('badParameter', value, `the response to base=XXX was ${value}`);
}

type BeforeAndAfter = readonly [before: ProbeResponse, after: ProbeResponse];

function observeCharge(findings: Findings, { status }: ProbeResponse, [before, after]: BeforeAndAfter): void {
  if (status < 400) return findings.markNotObserved('quotaChargesOn', 'no request failed');
  const isFree = usedOf(before) !== undefined && usedOf(before) === usedOf(after);
  if (isFree && status < 500) return findings.observe('quotaChargesOn', 'success');
  findings.markNotObserved(
    'quotaChargesOn',
    `a request with the response ${status} ${isFree ? 'did not count' : 'counted'}, which fits several values`,
  );
}

export function usedOf({ data }: ProbeResponse): number | undefined {
  const used = data['monthly_used'];
  return typeof used === 'number' ? used : undefined;
}

function observePeriod(findings: Findings, [before, after]: BeforeAndAfter): void {
  const [first, last] = [resetOf(before), resetOf(after)];
  const date = Date.parse(after.headers.get('date') ?? '');
  if (isMonthStart(last)) findings.observe('quotaPeriod', 'calendar-month-utc');
  // It begins with the first request counted, so an unused one moves on.
  else if (last > first && last - first < DAY_MS) findings.observe('quotaPeriod', 'rolling-30d');
  else if (last - date > 30 * DAY_MS + CLOCK_SLACK_MS) findings.observe('quotaPeriod', 'anniversary');
  else
    findings.markNotObserved(
      'quotaPeriod',
      'resets_at is not the start of a calendar month; it fits 30 days as well as a month since the account was created',
    );
}

function resetOf({ data }: ProbeResponse): number {
  return Date.parse(String(data['resets_at']));
}

function isMonthStart(at: number): boolean {
  const date = new Date(at);
  return date.getUTCDate() === 1 && at % DAY_MS === 0;
}

const DAY_MS = 86_400_000;
/** `Date` has whole seconds. */
const CLOCK_SLACK_MS = 2000;

/** Requests needed beyond the per-minute limit to observe it: the refusals, and two of `latest`. */
export const BEYOND_LIMIT = 5;

/** Number of them that may count toward the month. */
export const CHARGED_BY_LIMIT = 2;

interface LimitProbing extends Probing {
  readonly sleep: (ms: number) => Promise<void>;
}

/** Uses up the per-minute limit with `quota`, which is free, and observes the refusals. */
export async function probeLimit(probing: LimitProbing): Promise<void> {
  const { prober, findings, key, sleep } = probing;
  const authorization = `Bearer ${key}`;
  const first = await refusalWithin(prober, prober.left - BEYOND_LIMIT + 1, { authorization });
  if (first === undefined) return markNotObserved(findings, 'the limit was not reached within the budget');
  await observeBucket(probing, first);
  await sleep(BETWEEN_REFUSALS_MS);
  const second = await refusalWithin(prober, 1, { authorization });
  observeRetryAfter(findings, [first, second]);
}

/** No whole number of seconds, so that two waits in whole seconds cannot both be exact. */
const BETWEEN_REFUSALS_MS = 1437;

async function refusalWithin(prober: Prober, most: number, request: ProbeRequest): Promise<ProbeResponse | undefined> {
  for (let sent = 0; sent < most; sent += 1) {
    const response = await responseTo(prober, 'quota', request);
    if (isLimited(response)) return response;
  }
  return undefined;
}

/** The response, also if it is 429 `rate_limited`. */
export async function responseTo(prober: Prober, path: string, request: ProbeRequest): Promise<ProbeResponse> {
  return await prober.send(path, request).catch((error: unknown) => {
    if (error instanceof RateLimited) return error.response;
    throw error;
  });
}

function isLimited({ status, code }: ProbeResponse): boolean {
  return status === 429 && code === 'rate_limited';
}

/** Whether `latest` is refused too after `quota` was refused. */
async function observeBucket(probing: LimitProbing, refusal: ProbeResponse): Promise<void> {
  const { findings } = probing;
  const latest = await latestNotServed(probing);
  if (latest === undefined) return await observeOwnBucket(probing, refusal);
  if (!isLimited(latest)) {
    return findings.markNotObserved('quotaEndpointBucket', `latest returned ${latest.status}`);
  }
  findings.observe('quotaEndpointBucket', 'shared');
  if (findings.observed.has('quotaExhausted')) findings.observe('checkOrder', 'rate-then-quota');
}

/** Sends two requests, because one could have been accepted in a slot that had just become free. */
async function latestNotServed({ prober, key }: LimitProbing): Promise<ProbeResponse | undefined> {
  for (let sent = 0; sent < CHARGED_BY_LIMIT; sent += 1) {
    const latest = await responseTo(prober, 'latest', { authorization: `Bearer ${key}` });
    if (latest.status !== 200) return latest;
  }
  return undefined;
}

async function observeOwnBucket({ prober, findings, key, quota }: LimitProbing, refusal: ProbeResponse): Promise<void> {
  const again = await responseTo(prober, 'quota', { authorization: `Bearer ${key}` });
  const isTooSlow = again.receivedAt - refusal.sentAt >= 60_000 / Number(quota.data['rate_limit_per_minute']);
  if (isTooSlow || !isLimited(again))
    findings.markNotObserved('quotaEndpointBucket', 'the responses arrived too slowly to distinguish the values');
  else findings.observe('quotaEndpointBucket', 'separate');
}

/** Records the form of Retry-After in one or two refusals that are at least a second apart, with no success between. */
export function observeRetryAfter(
  findings: Findings,
  [first, second]: readonly [ProbeResponse, (ProbeResponse | undefined)?],
): void {
  markNotObserved(findings, 'the refusals fit several values');
  const value = retryAfterOf(first);
  if (Number.isNaN(value)) return findings.contradict('a 429 rate_limited had no number in Retry-After');
  if (isDecimal(first) || isDecimal(second)) findings.observe('retryAfterFormat', 'decimal');
  if (value > MOST_SECONDS) findings.observe('retryAfterUnit', 'milliseconds');
  if (second !== undefined) compareRefusals(findings, first, second);
}

/** Two minutes: no window of a minute requires more. */
const MOST_SECONDS = 120;

function compareRefusals(findings: Findings, first: ProbeResponse, second: ProbeResponse): void {
  const [value, next] = [retryAfterOf(first), retryAfterOf(second)];
  if (value === next && (value === 60 || value === 60_000)) findings.observe('retryAfterValue', 'whole-minute');
  if (!(next < value)) return;
  findings.observe('retryAfterValue', 'rest-of-wait');
  // In milliseconds, the difference would be a thousand or more.
  const elapsedSeconds = (second.receivedAt - first.sentAt) / 1000;
  if (value > MOST_SECONDS || value - next > elapsedSeconds + 1) return;
  findings.observe('retryAfterUnit', 'seconds');
  if (!isDecimal(first) && !isDecimal(second)) findings.observe('retryAfterFormat', 'integer');
}

function retryAfterOf({ headers }: ProbeResponse): number {
  return Number(headers.get('retry-after') ?? Number.NaN);
}

function isDecimal(seen: ProbeResponse | undefined): boolean {
  return seen?.headers.get('retry-after')?.includes('.') === true;
}

function markNotObserved(findings: Findings, reason: string): void {
  for (const name of ['retryAfterUnit', 'retryAfterFormat', 'retryAfterValue'] as const) {
    findings.markNotObserved(name, reason);
  }
}
