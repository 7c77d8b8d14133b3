import type { Findings, Probing } from './probe-report.ts';
import { type ProbeRequest, type ProbeResponse, type Prober, RateLimited } from './prober.ts';

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
