import { proxiedLoopbackProblem } from '../environment-proxy.ts';
import type { BehaviourOptions } from '../mock-server/behaviour/behaviour.ts';
import { SWITCH_NAMES, switches } from '../mock-server/behaviour/switches.ts';
import type { Clock } from '../mock-server/clock/clock.ts';
import { DrivenClock } from '../mock-server/clock/driven-clock.ts';
import { invalidOption, MockServerError } from '../mock-server/input/mock-server-error.ts';
import {
  BEYOND_LIMIT,
  CHARGED_BY_LIMIT,
  observeQuotaRecord,
  observeRetryAfter,
  PROBE_STEPS,
  usedOf,
} from './probe-steps.ts';
import {
  type ObservedBehaviour,
  ProbeEnded,
  type ProbeFetch,
  type ProbeResponse,
  Prober,
  type ProbeSummary,
  statusAndCodeText,
} from './prober.ts';

/** Options of `probeService`. */
export interface ProbeOptions {
  /** A valid API key. The probe sends it to the base URL only, in each documented form. */
  readonly apiKey: string;
  /**
   * Maximum number of requests to send. 14 requests observe everything that requires neither a refusal of
   * the limit or the quota nor changes in the dashboard.
   * @default 14
   */
  readonly maxRequests?: number | undefined;
  /**
   * The function that sends the requests.
   * @default globalThis.fetch
   */
  readonly fetch?: ProbeFetch | undefined;
  /**
   * The clock that measures times and waits.
   * @default real time
   */
  readonly clock?: Clock | undefined;
  /**
   * Milliseconds to wait for each response.
   * @default 30_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of retries of a request without a response, within `maxRequests`. A request that may count toward
   * the month is never sent again.
   * @default 2
   */
  readonly maxRetries?: number | undefined;
  /**
   * Aborts the probe. The promise rejects with the reason of the signal.
   * @default no signal
   */
  readonly signal?: AbortSignal | undefined;
}

/** The cost of a probe, known before it starts. */
export interface ProbePlan {
  /** Maximum number of requests. */
  readonly requests: number;
  /** Number of them that can count toward the month. */
  readonly charged: number;
}

const EVERY_STEP = 1 + PROBE_STEPS.reduce((sum, { requests }) => sum + requests, 0);

/**
 * Returns the cost of `probeService` with this budget. Requests beyond 14 are used to reach the per-minute limit.
 * @throws MockServerError with code `invalid_option`, for a number below 1.
 * @example planProbe(400).charged
 */
export function planProbe(maxRequests = EVERY_STEP): ProbePlan {
  if (!Number.isSafeInteger(maxRequests) || maxRequests < 1) {
    throw invalidOption('maxRequests', maxRequests, 'a whole number from 1');
  }
  const charged = stepsWithin(maxRequests).reduce((sum, step) => sum + step.charged, 0);
  const reachesLimit = maxRequests > EVERY_STEP + BEYOND_LIMIT;
  return { requests: maxRequests, charged: charged + (reachesLimit ? CHARGED_BY_LIMIT : 0) };
}

/** The first steps that fit into the budget. */
function stepsWithin(maxRequests: number) {
  let left = maxRequests - 1;
  return PROBE_STEPS.filter(({ requests }) => {
    left -= requests;
    return left >= 0;
  });
}

/**
 * Measures the undocumented behaviour of a running service, within a budget of requests. The first request is `quota`,
 * which is free. Behaviour that was not observed is listed with the reason.
 * @throws MockServerError with code `probe_failed` and the status of the response, if the first `quota` fails, for example
 * because the key is not valid; and the errors of `fetch`.
 * @example const behaviour = await probeService('https://api.example.com', { apiKey })
 */
export async function probeService(baseUrl: string, options: ProbeOptions): Promise<ObservedBehaviour> {
  const { apiKey, maxRequests, fetch = globalThis.fetch, clock = new DrivenClock('real') } = options;
  const { timeoutMs = 30_000, maxRetries = 2, signal = new AbortController().signal } = options;
  const { requests } = planProbe(maxRequests);
  const problem = proxiedLoopbackProblem(fetch, baseUrl);
  if (problem !== undefined) throw new MockServerError(`baseUrl: ${problem}`, { code: 'invalid_option' });
  const limits = { maxRequests: requests, timeoutMs, maxRetries, signal };
  const prober = new Prober({ baseUrl: baseUrl.replace(/\/+$/, ''), key: apiKey, fetch, clock, ...limits });
  const start = { origin: new URL(baseUrl).origin, probedAt: new Date(clock.now()).toISOString() };
  const quota = await firstQuota(prober);
  observeQuotaRecord(prober, quota);
  let done = 0;
  let end = new ProbeEnded();
  try {
    for (const { run } of stepsWithin(requests)) {
      await run(prober, quota);
      done += 1;
    }
  } catch (error) {
    if (!(error instanceof ProbeEnded)) throw error;
    // Another program uses the key, or its minute was used before. The observations so far are reported.
    if (error.response !== undefined) observeRetryAfter(prober, [error.response]);
    end = error;
  }
  const missed = PROBE_STEPS.slice(done).flatMap(({ decides }) => decides);
  for (const name of missed) if (!prober.reasons.has(name)) prober.reasons.set(name, end.message);
  return reportOf(prober, start);
}

async function firstQuota(prober: Prober): Promise<ProbeResponse> {
  const quota = await prober.send('quota');
  if (quota.status === 200 && usedOf(quota) !== undefined) return quota;
  const advice = quota.status === 401 || quota.status === 403 ? '; pass a valid API key' : '';
  const text = `The response to quota was ${statusAndCodeText(quota)}, expected 200 with a quota record${advice}.`;
  throw new MockServerError(text, { code: 'probe_failed', status: quota.status });
}

function reportOf(prober: Prober, start: Pick<ProbeSummary, 'origin' | 'probedAt'>): ObservedBehaviour {
  const { requests, observed, reasons, contradictions } = prober;
  const values = SWITCH_NAMES.flatMap((name) => (observed.has(name) ? [[name, observed.get(name)]] : []));
  const open = SWITCH_NAMES.filter((name) => !observed.has(name));
  const notObserved = Object.fromEntries(open.map((name) => [name, reasons.get(name) ?? switches[name].notObserved]));
  // Each value was accepted by its switch when it was observed.
  const behaviour = Object.fromEntries(values) as Omit<BehaviourOptions, 'about'>;
  return { about: { ...start, requests, contradictions, notObserved }, ...behaviour };
}
