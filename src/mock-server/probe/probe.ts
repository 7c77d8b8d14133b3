import type { BehaviourOptions, KnownValue } from '../behaviour/behaviour-options.ts';
import { SWITCH_NAMES } from '../behaviour/switches.ts';
import type { Clock } from '../clock/clock.ts';
import { createClock } from '../clock/create-clock.ts';
import { invalidOption, MockServerError } from '../mock-server-error.ts';
import { BEYOND_LIMIT, CHARGED_BY_LIMIT, meetLimit, observeRetryAfter } from './limit-steps.ts';
import { USUAL_REASONS } from './not-observable.ts';
import { Findings, type ObservedBehaviour, type Probing } from './probe-report.ts';
import { PROBE_STEPS } from './probe-steps.ts';
import { BudgetSpent, Limited, type ProbeFetch, Prober, type Seen, statusAndCodeText } from './prober.ts';
import { observeQuotaRecord, usedOf } from './quota-steps.ts';

export interface ProbeOptions {
  /** A key that works. It is sent to the base URL alone, in each of the documented forms. */
  readonly apiKey: string;
  /** Never more requests than this. Default: 14, all there is to ask without meeting the per-minute limit. */
  readonly maxRequests?: number | undefined;
  /** Default: the built-in one. */
  readonly fetch?: ProbeFetch | undefined;
  /** Default: real time. */
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a probe may send, known before it starts. */
export interface ProbePlan {
  readonly requests: number;
  /** How many of them may count in the month. */
  readonly charged: number;
}

const EVERY_STEP = 1 + PROBE_STEPS.reduce((sum, { requests }) => sum + requests, 0);

/** The most that `probeService` sends with this budget; beyond 14 requests the rest meets the per-minute limit. */
export function planProbe(maxRequests = EVERY_STEP): ProbePlan {
  if (!Number.isSafeInteger(maxRequests) || maxRequests < 1) {
    throw invalidOption('maxRequests', maxRequests, 'a whole number from 1');
  }
  const { charged } = stepsWithin(maxRequests);
  const meetsLimit = maxRequests > EVERY_STEP + BEYOND_LIMIT;
  return { requests: maxRequests, charged: charged + (meetsLimit ? CHARGED_BY_LIMIT : 0) };
}

/** The first steps that the budget pays for whole. */
function stepsWithin(maxRequests: number) {
  let left = maxRequests - 1;
  const steps = PROBE_STEPS.filter(({ requests }) => {
    left -= requests;
    return left >= 0;
  });
  return { steps, charged: steps.reduce((sum, step) => sum + step.charged, 0) };
}

/**
 * Asks a running service, within a budget of requests, how it behaves where its documentation does not say; begins with
 * `quota`, which is free. What cannot be seen is listed, never guessed. Rejects with code `probe_failed` when the key
 * does not work, and with what `fetch` throws.
 */
export async function probeService(baseUrl: string, options: ProbeOptions): Promise<ObservedBehaviour> {
  const { apiKey, maxRequests, fetch = globalThis.fetch, clock = createClock('real'), signal } = options;
  const { requests } = planProbe(maxRequests);
  const now = () => clock.now();
  const { origin } = new URL(baseUrl);
  const never = new AbortController().signal;
  const prober = new Prober({ baseUrl, fetch, now, maxRequests: requests, signal: signal ?? never });
  const findings = new Findings();
  const probedAt = new Date(clock.now()).toISOString();
  const quota = await firstQuota(prober, apiKey);
  const probing: Probing = { prober, findings, key: apiKey, quota };
  observeQuotaRecord(probing);
  await untilRefused(findings, async () => {
    for (const { run } of stepsWithin(requests).steps) await run(probing);
    await meetLimitIfPaid({ ...probing, sleep: (ms) => clock.sleep(ms, signal) });
  });
  return reportOf(findings, { origin, probedAt, requests: prober.requests });
}

async function firstQuota(prober: Prober, key: string): Promise<Seen> {
  const quota = await prober.ask('quota', { authorization: `Bearer ${key}` }).catch((error: unknown) => {
    if (error instanceof Limited) return error.answer;
    throw error;
  });
  if (quota.status === 200 && usedOf(quota) !== undefined) return quota;
  throw new MockServerError(
    `quota was answered with ${statusAndCodeText(quota)}; a probe begins with a quota record, and needs a key that works.`,
    {
      code: 'probe_failed',
    },
  );
}

async function untilRefused(findings: Findings, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof BudgetSpent) return;
    if (!(error instanceof Limited)) throw error;
    // Somebody else uses the key, or its minute was used before: what was seen until now counts.
    observeRetryAfter(findings, [error.answer]);
  }
}

async function meetLimitIfPaid(probing: Parameters<typeof meetLimit>[0]): Promise<void> {
  const { prober, quota } = probing;
  const limit = Number(quota.data['rate_limit_per_minute']);
  if (prober.left >= limit + BEYOND_LIMIT) await meetLimit(probing);
}

type Summary = Pick<ObservedBehaviour['about'], 'origin' | 'probedAt' | 'requests'>;

function reportOf({ observed, reasons, contradictions }: Findings, summary: Summary): ObservedBehaviour {
  const known = SWITCH_NAMES.filter((name) => observed.has(name));
  const open = SWITCH_NAMES.filter((name) => !observed.has(name));
  const values = known.map((name): [string, KnownValue] => [
    name,
    { value: observed.get(name), provenance: 'observed' },
  ]);
  const notObserved = Object.fromEntries(open.map((name) => [name, reasons.get(name) ?? USUAL_REASONS[name]]));
  // Each value was accepted by its switch when it was observed.
  const behaviour = Object.fromEntries(values) as Omit<BehaviourOptions, 'about'>;
  return { about: { ...summary, contradictions, notObserved }, ...behaviour };
}
