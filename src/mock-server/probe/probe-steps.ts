import { switches } from '../behaviour/switches.ts';
import type { Findings, ProbeStep, Probing } from './probe-report.ts';
import { type Seen, statusAndCodeText } from './prober.ts';

/** What is asked after the first `quota`, the most telling first: a small budget ends somewhere in it. */
export const PROBE_STEPS: readonly ProbeStep[] = [
  { requests: 1, charged: 0, run: askWithoutKey },
  { requests: 1, charged: 0, run: askWithMalformedKey },
  { requests: 1, charged: 0, run: askWithUnknownKey },
  { requests: 1, charged: 0, run: askNowhere },
  { requests: 2, charged: 1, run: observeQuotaUse },
  { requests: 2, charged: 0, run: askInOtherForms },
  { requests: 2, charged: 0, run: askWithTwoKeys },
  { requests: 1, charged: 0, run: askWithPost },
  { requests: 1, charged: 0, run: askWithHead },
  { requests: 1, charged: 0, run: askWithOptions },
];

const MALFORMED_KEY = 'not-a-key';

async function askWithoutKey({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.ask('quota');
  observeRefusal(findings, 'missingKey', seen);
  observeChallenge(findings, seen);
}

async function askWithMalformedKey({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.ask('quota', { authorization: `Bearer ${MALFORMED_KEY}` });
  observeRefusal(findings, 'malformedKey', seen);
  observeChallenge(findings, seen);
}

async function askWithUnknownKey({ prober, findings, key }: Probing): Promise<void> {
  const [prefix] = /^.*_live_/.exec(key) ?? [];
  if (prefix === undefined) return findings.leaveOpen('unknownKey', 'the key does not have the documented form');
  // Nobody is given this one: 192 bits of zeros.
  const seen = await prober.ask('quota', { authorization: `Bearer ${prefix}${'0'.repeat(48)}` });
  observeRefusal(findings, 'unknownKey', seen);
  observeChallenge(findings, seen);
}

function observeRefusal(findings: Findings, name: 'missingKey' | 'malformedKey' | 'unknownKey', seen: Seen): void {
  const value = statusAndCodeText(seen);
  if (switches[name].accepts(value)) findings.observe(name, value);
  else findings.leaveOpen(name, `the response was ${value}, which is not a value of this switch`);
}

/** RFC 9110 §11.6.1: only a 401 carries a challenge. */
function observeChallenge(findings: Findings, { status, headers }: Seen): void {
  if (status !== 401) return;
  const challenge = headers.get('www-authenticate');
  if (challenge === null) findings.observe('wwwAuthenticate', 'absent');
  else if (/^bearer\b/i.test(challenge)) findings.observe('wwwAuthenticate', 'bearer');
  else findings.leaveOpen('wwwAuthenticate', 'the challenge names a scheme other than Bearer');
}

async function askNowhere({ prober, findings }: Probing): Promise<void> {
  const seen = await prober.ask('fxrates-probe');
  if (seen.status === 404) findings.observe('unknownRoute', '404 before authentication');
  else if (isAuthenticationFailure(seen)) findings.observe('unknownRoute', '404 after authentication');
  else findings.leaveOpen('unknownRoute', `the response was ${seen.status}`);
}

/** Both forms are documented; that they work is no switch. */
async function askInOtherForms({ prober, findings, key }: Probing): Promise<void> {
  const bare = await prober.ask('quota', { authorization: key });
  if (bare.status !== 200)
    findings.contradict(`the bare key in the Authorization header was answered with ${bare.status}`);
  const query = await prober.ask('quota', { query: { api_key: key } });
  if (query.status !== 200) findings.contradict(`the key in the query was answered with ${query.status}`);
}

async function askWithTwoKeys({ prober, findings, key }: Probing): Promise<void> {
  const goodHeader = await prober.ask('quota', { authorization: `Bearer ${key}`, query: { api_key: MALFORMED_KEY } });
  if (goodHeader.status === 200) return findings.observe('severalCredentials', 'header');
  const goodQuery = await prober.ask('quota', { authorization: `Bearer ${MALFORMED_KEY}`, query: { api_key: key } });
  if (goodQuery.status === 200) findings.observe('severalCredentials', 'query');
  else if (isAuthenticationFailure(goodQuery)) findings.observe('severalCredentials', 'refused');
  else findings.leaveOpen('severalCredentials', `the response was ${goodQuery.status}`);
}

function isAuthenticationFailure({ status }: Seen): boolean {
  return status === 400 || status === 401 || status === 403;
}

function askWith({ prober, key }: Probing, method: 'POST' | 'HEAD' | 'OPTIONS'): Promise<Seen> {
  return prober.ask('quota', {
    method,
    authorization: `Bearer ${key}`,
    ...(method === 'HEAD' ? { origin: PAGE } : {}),
  });
}

/** The origin of a page that no service knows. */
const PAGE = 'https://fxrates-probe.test';

function observeCors(findings: Findings, headers: Seen['headers']): void {
  const allowed = headers.get('access-control-allow-origin');
  if (allowed === null) findings.observe('cors', 'absent');
  else if (allowed === '*' || allowed === PAGE) findings.observe('cors', 'any-origin');
  else findings.leaveOpen('cors', `only pages of ${allowed} are allowed`);
}

async function askWithPost(probing: Probing): Promise<void> {
  const value = statusAndCodeText(await askWith(probing, 'POST'));
  if (switches.methodNotAllowed.accepts(value)) probing.findings.observe('methodNotAllowed', value);
  else probing.findings.leaveOpen('methodNotAllowed', `the response to POST was ${value}`);
}

async function askWithHead(probing: Probing): Promise<void> {
  const { status, headers } = await askWith(probing, 'HEAD');
  observeCors(probing.findings, headers);
  if (status === 200) probing.findings.observe('headRequests', 'like-get');
  else if (isMethodRefusal(status)) probing.findings.observe('headRequests', 'refused');
  else probing.findings.leaveOpen('headRequests', `the response was ${status}`);
}

async function askWithOptions(probing: Probing): Promise<void> {
  const { status, headers } = await askWith(probing, 'OPTIONS');
  if (status === 204 && headers.has('allow')) probing.findings.observe('optionsRequests', 'allow-header');
  else if (isMethodRefusal(status)) probing.findings.observe('optionsRequests', 'refused');
  else probing.findings.leaveOpen('optionsRequests', `the response was ${status}`);
}

function isMethodRefusal(status: number): boolean {
  return status === 404 || status === 405;
}

/** What a response of `quota`, and the key itself, show without a further request. */
export function observeQuotaRecord({ findings, key, quota }: Omit<Probing, 'prober'>): void {
  const { plan, snapshot_granularity: granularity } = quota.data;
  const [prefix] = /^[A-Za-z0-9]+_live_/.exec(key) ?? [];
  if (prefix !== undefined) findings.observe('keyPrefix', prefix);
  if (switches.snapshotGranularity.accepts(granularity)) findings.observe('snapshotGranularity', granularity);
  else findings.leaveOpen('snapshotGranularity', 'the quota record has no valid snapshot_granularity');
  observeRateHeaders(findings, quota);
  observeEtag(findings, quota);
  if (plan !== 'unlimited') return findings.leaveOpen('unlimitedAs', `the key belongs to the ${plan} plan`);
  const limit = 'monthly_limit' in quota.data ? quota.data['monthly_limit'] : 'omitted';
  if (switches.unlimitedAs.accepts(limit)) findings.observe('unlimitedAs', limit);
  else findings.leaveOpen('unlimitedAs', `monthly_limit is ${JSON.stringify(limit)}`);
}

function observeRateHeaders(findings: Findings, { headers }: Seen): void {
  const names = [...headers].map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) findings.observe('rateHeaders', 'none');
  else if (headers.has('x-ratelimit-limit')) findings.observe('rateHeaders', 'x-ratelimit');
  else if (headers.has('ratelimit-policy')) findings.observe('rateHeaders', 'ietf-draft');
  else findings.leaveOpen('rateHeaders', `the response has other headers: ${names.join(', ')}`);
}

function observeEtag(findings: Findings, { headers }: Seen): void {
  const etag = headers.get('etag');
  if (etag === null) findings.observe('etag', 'absent');
  else findings.observe('etag', etag.startsWith('W/') ? 'weak' : 'strong');
}

/** One `latest` with a currency that there is not, and `quota` once more: the only step that may use quota. */
async function observeQuotaUse({ prober, findings, key, quota }: Probing): Promise<void> {
  const authorization = `Bearer ${key}`;
  const latest = await prober.ask('latest', { authorization, query: { base: 'XXX' } });
  const value = statusAndCodeText(latest);
  const isExhausted = switches.quotaExhausted.accepts(value);
  if (isExhausted) observeExhausted(findings, value, latest);
  else observeBadParameter(findings, value, latest);
  const after = await prober.ask('quota', { authorization });
  if (!isExhausted) observeCharge(findings, latest, [quota, after]);
  observePeriod(findings, [quota, after]);
}

function observeExhausted(
  findings: Findings,
  value: (typeof switches)['quotaExhausted']['default'],
  { headers }: Seen,
): void {
  findings.observe('quotaExhausted', value);
  findings.observe('quotaRetryAfter', headers.has('retry-after') ? 'until-reset' : 'absent');
  findings.leaveOpen('badParameter', 'the monthly quota is used up');
  findings.leaveOpen('quotaChargesOn', 'the monthly quota is used up');
}

function observeBadParameter(findings: Findings, value: string, { status }: Seen): void {
  if (status === 200) findings.observe('badParameter', 'ignored');
  else if (switches.badParameter.accepts(value)) findings.observe('badParameter', value);
  else findings.leaveOpen('badParameter', `the response to base=XXX was ${value}`);
}

type BeforeAndAfter = readonly [before: Seen, after: Seen];

function observeCharge(findings: Findings, { status }: Seen, [before, after]: BeforeAndAfter): void {
  if (status < 400) return findings.leaveOpen('quotaChargesOn', 'no request failed');
  const isFree = usedOf(before) !== undefined && usedOf(before) === usedOf(after);
  if (isFree && status < 500) return findings.observe('quotaChargesOn', 'success');
  findings.leaveOpen(
    'quotaChargesOn',
    `a request answered with ${status} ${isFree ? 'did not count' : 'counted'}, which fits several values`,
  );
}

export function usedOf({ data }: Seen): number | undefined {
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
    findings.leaveOpen(
      'quotaPeriod',
      'resets_at is not the start of a calendar month; it fits 30 days as well as a month since the account was created',
    );
}

function resetOf({ data }: Seen): number {
  return Date.parse(String(data['resets_at']));
}

function isMonthStart(at: number): boolean {
  const date = new Date(at);
  return date.getUTCDate() === 1 && at % DAY_MS === 0;
}

const DAY_MS = 86_400_000;
/** `Date` has whole seconds. */
const CLOCK_SLACK_MS = 2000;
