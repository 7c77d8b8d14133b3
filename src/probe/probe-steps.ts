import { operations } from '../generated/operations.ts';
import { accepts } from '../mock-server/behaviour/switch.ts';
import { type SwitchName, switches } from '../mock-server/behaviour/switches.ts';
import type { Operation } from '../operation.ts';
import { type Observation, type ProbeRequest, type ProbeResponse, type Prober, statusAndCodeText } from './prober.ts';

/** Observes one behaviour. */
interface ProbeStep {
  /** The switches without another reason if the step does not run. */
  readonly decides: readonly SwitchName[];
  readonly requests: number;
  /** `quota` is the first response of the probe. */
  readonly run: (prober: Prober, quota: ProbeResponse) => Promise<void>;
}

const MALFORMED_KEY = 'not-a-key';
const KEY_PREFIX = /^.*_live_/;
const WITHOUT_KEY = { authorization: '' };
const WITH_MALFORMED_KEY = { authorization: `Bearer ${MALFORMED_KEY}` };
/** The origin of an unknown page. */
const PAGE = 'https://fxrates-probe.test';

const OF_QUOTA_USE = ['quotaExhausted', 'quotaRetryAfter', 'badParameter', 'quotaChargesOn', 'quotaPeriod'] as const;
const OF_LIMIT = ['quotaEndpointBucket', 'retryAfterFormat', 'retryAfterUnit', 'retryAfterValue'] as const;

/** The steps after the first `quota`, the most important first, because a small budget ends before the last. */
export const PROBE_STEPS: readonly ProbeStep[] = [
  look(['missingKey'], WITHOUT_KEY, refusalsOf('missingKey')),
  look(['malformedKey'], WITH_MALFORMED_KEY, refusalsOf('malformedKey')),
  { decides: ['unknownKey'], requests: 1, run: probeUnknownKey },
  look(['unknownRoute'], { ...WITHOUT_KEY, path: 'fxrates-probe' }, unknownPathOf),
  { decides: OF_QUOTA_USE, requests: 2, run: observeQuotaUse },
  { decides: [], requests: 2, run: probeOtherKeyForms },
  { decides: ['severalCredentials'], requests: 2, run: probeTwoKeys },
  look(['methodNotAllowed'], { method: 'POST' }, postOf),
  look(['cors', 'headRequests'], { method: 'HEAD', origin: PAGE }, headOf),
  look(['optionsRequests'], { method: 'OPTIONS' }, optionsOf),
  // With the rest of the budget, if that is enough.
  { decides: OF_LIMIT, requests: 0, run: probeLimit },
];

/** A step that sends one request, which never counts, and observes its response. */
function look(
  decides: readonly SwitchName[],
  { path = 'quota', ...request }: ProbeRequest & { readonly path?: string },
  observationsOf: (seen: ProbeResponse) => readonly Observation[],
): ProbeStep {
  const run = async (prober: Prober) => prober.note(...observationsOf(await prober.ask(path, request)));
  return { decides, requests: 1, run };
}

/** Of a request without a key, or with one that the service refuses. */
function refusalsOf(name: 'missingKey' | 'malformedKey' | 'unknownKey') {
  return (seen: ProbeResponse): readonly Observation[] => {
    const value = statusAndCodeText(seen);
    return [[name, value, `the response was ${value}, which is not a value of this switch`], ...challengeOf(seen)];
  };
}

async function probeUnknownKey(prober: Prober): Promise<void> {
  const [prefix] = KEY_PREFIX.exec(prober.key) ?? [];
  if (prefix === undefined) return prober.note(['unknownKey', undefined, 'the key does not have the documented form']);
  // No account has this key of 192 zero bits.
  const authorization = `Bearer ${prefix}${'0'.repeat(48)}`;
  prober.note(...refusalsOf('unknownKey')(await prober.ask('quota', { authorization })));
}

/** RFC 9110 §11.6.1: only a 401 carries a challenge. */
function challengeOf({ status, headers }: ProbeResponse): readonly Observation[] {
  if (status !== 401) return [];
  const challenge = headers.get('www-authenticate');
  const value = challenge === null ? 'absent' : /^bearer\b/i.test(challenge) && 'bearer';
  return [['wwwAuthenticate', value, 'the challenge names a scheme other than Bearer']];
}

function unknownPathOf(seen: ProbeResponse): readonly Observation[] {
  const value =
    seen.status === 404 ? '404 before authentication' : isAuthenticationFailure(seen) && '404 after authentication';
  return [['unknownRoute', value, `the response was ${seen.status}`]];
}

/** Both forms are documented, so no switch defines whether they work. */
async function probeOtherKeyForms(prober: Prober): Promise<void> {
  const { key, contradictions } = prober;
  const bare = await prober.ask('quota', { authorization: key });
  if (bare.status !== 200)
    contradictions.push(`the response to the bare key in the Authorization header was ${bare.status}`);
  const query = await prober.ask('quota', { ...WITHOUT_KEY, query: { api_key: key } });
  if (query.status !== 200) contradictions.push(`the response to the key in the query was ${query.status}`);
}

async function probeTwoKeys(prober: Prober): Promise<void> {
  const goodHeader = await prober.ask('quota', { query: { api_key: MALFORMED_KEY } });
  if (goodHeader.status === 200) return prober.note(['severalCredentials', 'header', '']);
  const goodQuery = await prober.ask('quota', { ...WITH_MALFORMED_KEY, query: { api_key: prober.key } });
  const value = goodQuery.status === 200 ? 'query' : isAuthenticationFailure(goodQuery) && 'refused';
  prober.note(['severalCredentials', value, `the response was ${goodQuery.status}`]);
}

function isAuthenticationFailure({ status }: ProbeResponse): boolean {
  return status === 400 || status === 401 || status === 403;
}

function postOf(seen: ProbeResponse): readonly Observation[] {
  const value = statusAndCodeText(seen);
  return [['methodNotAllowed', value, `the response to POST was ${value}`]];
}

function headOf({ status, headers }: ProbeResponse): readonly Observation[] {
  const allowed = headers.get('access-control-allow-origin');
  // Where HEAD is refused, GET can still have the header.
  const cors = allowed === null ? status === 200 && 'absent' : (allowed === '*' || allowed === PAGE) && 'any-origin';
  const other = allowed === null ? `the response to HEAD was ${status}` : `only pages of ${allowed} are allowed`;
  return [
    ['cors', cors, other],
    ['headRequests', status === 200 ? 'like-get' : isMethodRefusal(status) && 'refused', `the response was ${status}`],
  ];
}

function optionsOf({ status, headers }: ProbeResponse): readonly Observation[] {
  const hasAllow = status === 204 && headers.has('allow');
  const value = hasAllow ? 'allow-header' : isMethodRefusal(status) && 'refused';
  return [['optionsRequests', value, `the response was ${status}`]];
}

function isMethodRefusal(status: number): boolean {
  return status === 404 || status === 405;
}

/** The switches that a response of `quota` and the key show without a further request. */
export function observeQuotaRecord(prober: Prober, quota: ProbeResponse): void {
  const { plan, snapshot_granularity: granularity } = quota.data;
  const limit = 'monthly_limit' in quota.data ? quota.data['monthly_limit'] : 'omitted';
  const etag = quota.headers.get('etag');
  prober.note(
    ['keyPrefix', KEY_PREFIX.exec(prober.key)?.[0], 'the key does not have the documented form'],
    ['snapshotGranularity', granularity, 'the quota record has no valid snapshot_granularity'],
    ['etag', etag === null ? 'absent' : etag.startsWith('W/') ? 'weak' : 'strong', ''],
    rateHeadersOf(quota),
    plan === 'unlimited'
      ? ['unlimitedAs', limit, `monthly_limit is ${JSON.stringify(limit)}`]
      : ['unlimitedAs', undefined, `the key belongs to the ${plan} plan`],
  );
}

function rateHeadersOf({ headers }: ProbeResponse): Observation {
  const names = Array.from(headers, ([name]) => name).filter((name) => /rate-?limit/i.test(name));
  const known = [
    ['x-ratelimit-limit', 'x-ratelimit'],
    ['ratelimit-policy', 'ietf-draft'],
  ] as const;
  const value = names.length === 0 ? 'none' : known.find(([name]) => headers.has(name))?.[1];
  return ['rateHeaders', value, `the response has other headers: ${names.join(', ')}`];
}

/** The parameters that `latest` requires in its query, with their examples. */
const REQUIRED = Object.fromEntries(
  (operations.latest as Operation).parameters.flatMap(({ name, in: place, required, example }) =>
    required && place === 'query' ? [[name, String(example)]] : [],
  ),
);

/** Calls `latest` with an unknown currency, then `quota`. This is the only step that may use quota. */
async function observeQuotaUse(prober: Prober, quota: ProbeResponse): Promise<void> {
  const latest = await prober.ask('latest', { query: { ...REQUIRED, base: 'XXX' } });
  const value = statusAndCodeText(latest);
  const isExhausted = accepts(switches.quotaExhausted, value);
  prober.note(...(isExhausted ? exhaustedOf(value, latest) : [badParameterOf(value, latest)]));
  const after = await prober.ask('quota');
  prober.note(periodOf([quota, after]), ...(isExhausted ? [] : [chargeOf(latest, [quota, after])]));
}

function exhaustedOf(value: string, { headers }: ProbeResponse): readonly Observation[] {
  return [
    ['quotaExhausted', value, ''],
    ['quotaRetryAfter', headers.has('retry-after') ? 'until-reset' : 'absent', ''],
    ['badParameter', undefined, 'the monthly quota is used up'],
    ['quotaChargesOn', undefined, 'the monthly quota is used up'],
  ];
}

function badParameterOf(value: string, { status }: ProbeResponse): Observation {
  return ['badParameter', status === 200 ? 'ignored' : value, `the response to base=XXX was ${value}`];
}

type BeforeAndAfter = readonly [before: ProbeResponse, after: ProbeResponse];

function chargeOf({ status }: ProbeResponse, [before, after]: BeforeAndAfter): Observation {
  if (status < 400) return ['quotaChargesOn', undefined, 'no request failed'];
  const isFree = usedOf(before) !== undefined && usedOf(before) === usedOf(after);
  const effect = isFree ? 'did not count' : 'counted';
  const reason = `a request with the response ${status} ${effect}, which fits several values`;
  return ['quotaChargesOn', isFree && status < 500 && 'success', reason];
}

export function usedOf({ data }: ProbeResponse): number | undefined {
  const used = data['monthly_used'];
  return typeof used === 'number' ? used : undefined;
}

function periodOf([before, after]: BeforeAndAfter): Observation {
  const [first, last] = [resetOf(before), resetOf(after)];
  const date = Date.parse(after.headers.get('date') ?? '');
  const values = {
    'calendar-month-utc': new Date(last).getUTCDate() === 1 && last % DAY_MS === 0,
    // It begins with the first request counted, so an unused one moves on.
    'rolling-30d': last > first && last - first < DAY_MS,
    anniversary: last - date > 30 * DAY_MS + CLOCK_SLACK_MS,
  };
  const [value] = Object.entries(values).find(([, fits]) => fits) ?? [];
  const reason =
    'resets_at is not the start of a calendar month; it fits 30 days as well as a month since the account was created';
  return ['quotaPeriod', value, reason];
}

function resetOf({ data }: ProbeResponse): number {
  return Date.parse(String(data['resets_at']));
}

const DAY_MS = 86_400_000;
/** `Date` has whole seconds. */
const CLOCK_SLACK_MS = 2000;

/** Requests needed beyond the per-minute limit to observe it: the refusals, and two of `latest`, which may count toward the month. */
const BEYOND_LIMIT = 5;

/** Uses up the per-minute limit with `quota`, which is free, and observes the refusals, if the budget allows it. */
async function probeLimit(prober: Prober, quota: ProbeResponse): Promise<void> {
  const limit = quota.data['rate_limit_per_minute'];
  // Without a number, there is no limit to reach.
  if (typeof limit !== 'number' || prober.left < limit + BEYOND_LIMIT) return;
  const first = await refusalOf(prober, 'quota', prober.left - BEYOND_LIMIT + 1);
  if (first === undefined) return; // the minute was over before the limit was reached
  prober.note(await bucketOf(prober, [quota, first]));
  await prober.sleep(BETWEEN_REFUSALS_MS);
  observeRetryAfter(prober, [first, await refusalOf(prober, 'quota', 1)]);
}

/** No whole number of seconds, so that two waits in whole seconds cannot both be exact. */
const BETWEEN_REFUSALS_MS = 1437;

/** Sends up to `most` requests. Returns the first one that the limit refuses, and for `latest` that is not served. */
async function refusalOf(prober: Prober, path: string, most: number): Promise<ProbeResponse | undefined> {
  for (let sent = 0; sent < most; sent += 1) {
    const response = await prober.send(path, { query: path === 'latest' ? REQUIRED : {} });
    if (response.isRateLimited || (path === 'latest' && response.status !== 200)) return response;
  }
  return undefined;
}

/** Whether `latest` is refused too after `quota` was refused. */
async function bucketOf(
  prober: Prober,
  [quota, refusal]: readonly [quota: ProbeResponse, refusal: ProbeResponse],
): Promise<Observation> {
  // Two requests, because one could have been accepted in a slot that had just become free.
  const latest = await refusalOf(prober, 'latest', 2);
  if (latest === undefined) {
    const again = await prober.send('quota');
    const isInTime = again.receivedAt - refusal.sentAt < 60_000 / Number(quota.data['rate_limit_per_minute']);
    const reason = 'the responses arrived too slowly to distinguish the values';
    return ['quotaEndpointBucket', isInTime && again.isRateLimited && 'separate', reason];
  }
  if (!latest.isRateLimited) return ['quotaEndpointBucket', undefined, `latest returned ${latest.status}`];
  if (prober.observed.has('quotaExhausted')) prober.note(['checkOrder', 'rate-then-quota', '']);
  return ['quotaEndpointBucket', 'shared', ''];
}

/** Records the form of Retry-After in one or two refusals that are at least a second apart, with no success between. */
export function observeRetryAfter(
  prober: Prober,
  [first, second]: readonly [ProbeResponse, (ProbeResponse | undefined)?],
): void {
  const [value, next] = [retryAfterOf(first), retryAfterOf(second)];
  if (Number.isNaN(value)) prober.contradictions.push('a 429 rate_limited had no number in Retry-After');
  const isDecimal = [first, second].some((seen) => seen?.headers.get('retry-after')?.includes('.'));
  const isSeconds = second !== undefined && countsSeconds(first, second);
  const isWhole = value === next && (value === 60 || value === 60_000);
  const reason = 'the refusals fit several values';
  prober.note(
    ['retryAfterFormat', isDecimal ? 'decimal' : isSeconds && 'integer', reason],
    ['retryAfterUnit', value > MOST_SECONDS ? 'milliseconds' : isSeconds && 'seconds', reason],
    ['retryAfterValue', isWhole ? 'whole-minute' : next < value && 'rest-of-wait', reason],
  );
}

/** Whether the second value is smaller by the seconds since the first. In milliseconds, it would be smaller by a thousand or more. */
function countsSeconds(first: ProbeResponse, second: ProbeResponse): boolean {
  const [value, next] = [retryAfterOf(first), retryAfterOf(second)];
  const elapsedSeconds = (second.receivedAt - first.sentAt) / 1000;
  return next < value && value <= MOST_SECONDS && value - next <= elapsedSeconds + 1;
}

/** Two minutes: no window of a minute requires more. */
const MOST_SECONDS = 120;

function retryAfterOf(seen: ProbeResponse | undefined): number {
  return Number(seen?.headers.get('retry-after') || Number.NaN);
}
