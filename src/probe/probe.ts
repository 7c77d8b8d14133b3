import { inspect } from 'node:util';
import * as z from 'zod';
import { proxiedLoopbackProblem } from '../environment-proxy.ts';
import { causesOf, codeOf } from '../foreign-values.ts';
import { operations } from '../generated/operations.ts';
import type { BehaviourOptions } from '../mock-server/behaviour/behaviour.ts';
import { SWITCH_NAMES, switches } from '../mock-server/behaviour/switches.ts';
import type { Clock } from '../mock-server/clock/clock.ts';
import { DrivenClock } from '../mock-server/clock/driven-clock.ts';
import {
  checkedInput,
  expected,
  strictObject,
  trueOrFalse,
  type ValueOf,
  wholeFrom,
} from '../mock-server/input/checked-input.ts';
import { fieldError, MockServerError } from '../mock-server/input/mock-server-error.ts';
import { baseUrlProblem } from '../operation.ts';
import { keyProblem, secretRedactor } from '../redactor.ts';
import { observeQuotaRecord, observeRetryAfter, PROBE_STEPS, usedOf } from './probe-steps.ts';
import {
  type ObservedBehaviour,
  ProbeEnded,
  type ProbeFetch,
  type ProbeResponse,
  Prober,
  type ProbeSummary,
  statusAndCodeText,
} from './prober.ts';

const probeOptions = strictObject({
  /** A valid API key. The probe sends it to the base URL only, in each documented form. */
  apiKey: z.custom<string>(), // its error does not show it
  /**
   * Maximum number of requests to send. 14 requests observe everything that requires neither a refusal of
   * the limit or the quota nor changes in the dashboard. One of them can count toward the month. Further requests are used
   * to reach the per-minute limit. Two of those can count.
   * @default 14
   */
  maxRequests: wholeFrom(1).optional(),
  /**
   * The function that sends the requests.
   * @default globalThis.fetch
   */
  fetch: z.custom<ProbeFetch>().optional(),
  /**
   * The clock that measures times and waits.
   * @default real time
   */
  clock: z.custom<Clock>().optional(),
  /**
   * Milliseconds to wait for each response.
   * @default 30_000
   */
  timeoutMs: expected('a number above 0', z.number().positive()).optional(),
  /**
   * Aborts the probe. The promise rejects with the reason of the signal.
   * @default no signal
   */
  signal: z.custom<AbortSignal>().optional(),
  /**
   * Whether the key may be sent over http to another host than this machine.
   * @default false
   */
  allowInsecureHttp: trueOrFalse.optional(),
});

/** Options of `probeService`. */
export interface ProbeOptions extends ValueOf<typeof probeOptions> {}

const EVERY_STEP = 1 + PROBE_STEPS.reduce((sum, { requests }) => sum + requests, 0);

/**
 * Measures the undocumented behaviour of a running service, within a budget of requests. The first request is `quota`,
 * which is free. Behaviour that was not observed is listed with the reason.
 * @throws MockServerError with code `invalid_option`, for a wrong argument; with code `probe_failed` and the status of the
 * response, if the first `quota` fails, for example because the key is not valid; and the error of `fetch` for that request.
 * @example const behaviour = await probeService('https://api.example.com', { apiKey })
 */
export async function probeService(baseUrl: string, options: ProbeOptions): Promise<ObservedBehaviour> {
  const { url, apiKey, fetch, clock = new DrivenClock('real'), ...checked } = checkedOptions(baseUrl, options);
  const { maxRequests = EVERY_STEP, timeoutMs = 30_000, signal = new AbortController().signal } = checked;
  const limits = { maxRequests, timeoutMs, signal };
  const prober = new Prober({
    baseUrl: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    key: apiKey,
    fetch,
    clock,
    ...limits,
  });
  const start = { origin: url.origin, probedAt: new Date(clock.now()).toISOString() };
  const quota = await firstQuota(prober);
  observeQuotaRecord(prober, quota);
  let done = 0;
  let end = new ProbeEnded();
  for (const { run, decides } of stepsWithin(maxRequests)) {
    try {
      await run(prober, quota);
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof ProbeEnded) {
        end = error;
        break;
      }
      prober.miss(decides, failureText(error, apiKey));
    }
    done += 1;
  }
  // Another program uses the key, or its minute was used before. The observations so far are reported.
  if (end.response !== undefined) observeRetryAfter(prober, [end.response]);
  const missed = PROBE_STEPS.slice(done).flatMap(({ decides }) => decides);
  prober.miss(missed, end.message);
  return reportOf(prober, start);
}

/** The first steps that fit into the budget. */
function stepsWithin(maxRequests: number) {
  let left = maxRequests - 1;
  return PROBE_STEPS.filter(({ requests }) => {
    left -= requests;
    return left >= 0;
  });
}

function checkedOptions(baseUrl: string, options: ProbeOptions) {
  const { fetch = globalThis.fetch, ...checked } = checkedInput(probeOptions, options, {
    what: 'an option of probeService()',
  });
  const wrongKey = typeof checked.apiKey === 'string' ? keyProblem(checked.apiKey) : 'is missing';
  if (wrongKey !== undefined) throw fieldError('apiKey', wrongKey);
  const rules = { operations: Object.values(operations), allowInsecureHttp: checked.allowInsecureHttp ?? false };
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const part = url === undefined ? 'scheme' : baseUrlProblem(url, rules);
  if (url === undefined || part !== undefined)
    throw fieldError('baseUrl', `is refused because of its ${part}; expected ${BASE_URL}`);
  const problem = proxiedLoopbackProblem(fetch, url.href);
  if (problem !== undefined) throw new MockServerError(`baseUrl: ${problem}`, { code: 'invalid_option' });
  return { url, fetch, ...checked };
}

const BASE_URL =
  'a URL such as https://api.example.com, without credentials, query and path of the API; http needs allowInsecureHttp: true';

/** The reason of `fetch` is in a cause. That of another function can have the URL, with the key. */
function failureText(error: unknown, key: string): string {
  const causes = causesOf(error);
  const why =
    causes.find(({ name }) => name === 'ProxyFailure') ?? causes.findLast((cause) => cause.message || codeOf(cause));
  const text = why === undefined ? inspect(error) : why.message || codeOf(why);
  return secretRedactor(key)(`the request failed: ${text}`);
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
