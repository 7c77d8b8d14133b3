import { switches } from '../behaviour/switches.ts';
import type { Findings, Probing } from './probe-report.ts';
import { type Seen, statusAndCodeText } from './prober.ts';

/** What an answer of `quota`, and the key itself, show without a further request. */
export function observeQuotaRecord({ findings, key, quota }: Omit<Probing, 'prober'>): void {
  const { plan, snapshot_granularity: granularity } = quota.data;
  const [prefix] = /^[A-Za-z0-9]+_live_/.exec(key) ?? [];
  if (prefix !== undefined) findings.observe('keyPrefix', prefix);
  if (switches.snapshotGranularity.accepts(granularity)) findings.observe('snapshotGranularity', granularity);
  else findings.leaveOpen('snapshotGranularity', 'quota shows none');
  observeRateHeaders(findings, quota);
  observeEtag(findings, quota);
  if (plan !== 'unlimited') return findings.leaveOpen('unlimitedAs', `the key is of the ${plan} plan`);
  const limit = 'monthly_limit' in quota.data ? quota.data['monthly_limit'] : 'omitted';
  if (switches.unlimitedAs.accepts(limit)) findings.observe('unlimitedAs', limit);
  else findings.leaveOpen('unlimitedAs', `monthly_limit is ${JSON.stringify(limit)}`);
}

function observeRateHeaders(findings: Findings, { headers }: Seen): void {
  const names = [...headers].map(([name]) => name).filter((name) => /rate-?limit/i.test(name));
  if (names.length === 0) findings.observe('rateHeaders', 'none');
  else if (headers.has('x-ratelimit-limit')) findings.observe('rateHeaders', 'x-ratelimit');
  else if (headers.has('ratelimit-policy')) findings.observe('rateHeaders', 'ietf-draft');
  else findings.leaveOpen('rateHeaders', `there are others: ${names.join(', ')}`);
}

function observeEtag(findings: Findings, { headers }: Seen): void {
  const etag = headers.get('etag');
  if (etag === null) findings.observe('etag', 'absent');
  else findings.observe('etag', etag.startsWith('W/') ? 'weak' : 'strong');
}

/** One `latest` with a currency that there is not, and `quota` once more: the only step that may use quota. */
export async function observeQuotaUse({ prober, findings, key, quota }: Probing): Promise<void> {
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
  findings.leaveOpen('badParameter', 'the month is used up');
  findings.leaveOpen('quotaChargesOn', 'the month is used up');
}

function observeBadParameter(findings: Findings, value: string, { status }: Seen): void {
  if (status === 200) findings.observe('badParameter', 'ignored');
  else if (switches.badParameter.accepts(value)) findings.observe('badParameter', value);
  else findings.leaveOpen('badParameter', `the answer to base=XXX was ${value}`);
}

type BeforeAndAfter = readonly [before: Seen, after: Seen];

function observeCharge(findings: Findings, { status }: Seen, [before, after]: BeforeAndAfter): void {
  if (status < 400) return findings.leaveOpen('quotaChargesOn', 'no request failed');
  const isFree = usedOf(before) !== undefined && usedOf(before) === usedOf(after);
  if (isFree && status < 500) return findings.observe('quotaChargesOn', 'success');
  findings.leaveOpen(
    'quotaChargesOn',
    `a request answered with ${status} ${isFree ? 'did not count' : 'counted'}; more is not known`,
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
      'resets_at is no month of the calendar; thirty days and a month from the account look alike',
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
