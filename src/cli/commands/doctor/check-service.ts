import type { QuotaData } from '../../../client/index.ts';
import { environmentProxy } from '../../../environment-proxy.ts';
import { operations } from '../../../generated/operations.ts';
import type { Invocation } from '../../command.ts';
import { CliError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { grouped } from '../../output/format-text.ts';
import { HttpTrace } from '../../request/http-trace.ts';
import { sendRequest } from '../../request/send-request.ts';
import type { KeyInUse } from '../../settings/api-key.ts';
import { formatDuration } from '../../settings/duration.ts';
import { type Finding, failed } from './finding.ts';

/** The steps to an answer, in their order. */
const STEPS = ['name', 'connection', 'TLS', 'answer'] as const;
type Step = (typeof STEPS)[number];

/** A clock that is off by more makes Retry-After dates and the forecast wrong. */
const TOLERATED_SKEW_MS = 30_000;
const ALMOST_USED_UP = 0.8;

/** Asks for the quota once, which is free, and tells how far that came. */
export async function checkService(
  invocation: Invocation,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: KeyInUse },
): Promise<readonly Finding[]> {
  const { path } = operations.quota;
  const { io } = invocation;
  const settings = { ...invocation.settings, retries: 0, maxWaitMs: 0, verbose: 0 };
  const trace = new HttpTrace({ ...invocation, settings }, { keepsBodies: true });
  const request = { operation: operations.quota, path, query: {} };
  const destination = { url: new URL(baseUrl), proxy: environmentProxy(io.env, baseUrl)?.variable };
  try {
    const { data } = await sendRequest(request, { ...invocation, settings }, { trace, key });
    const quota = data as QuotaData; // parsed with the schema by the client
    return [...stepFindings(undefined, destination), clockFinding(trace, io.clock.now()), quotaFinding(quota)];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const hasAnswer = trace.lastResponse(path) !== undefined;
    const findings = stepFindings({ step: hasAnswer ? 'answer' : failedStep(error), error }, destination);
    return hasAnswer ? [...findings, clockFinding(trace, io.clock.now())] : findings;
  }
}

/** By the system's code; what has none that tells is the connection's. */
function failedStep({ causeCode = '' }: CliError): Step {
  if (/^(ENOTFOUND|EAI_)/.test(causeCode)) return 'name';
  return /CERT|SIGNATURE|SSL|TLS|EPROTO/.test(causeCode) ? 'TLS' : 'connection';
}

interface Failure {
  readonly step: Step;
  readonly error: CliError;
}

interface Destination {
  readonly url: URL;
  readonly proxy: string | undefined;
}

function stepFindings(failure: Failure | undefined, { url, proxy }: Destination): readonly Finding[] {
  const failedAt = failure === undefined ? STEPS.length : STEPS.indexOf(failure.step);
  const via = proxy === undefined ? '' : `, through ${proxy}`;
  const words: Readonly<Record<Step, string>> = {
    name: `${proxy === undefined ? url.hostname : `the name in ${proxy}`} has an address`,
    connection: `${url.host} accepts connections${via}`,
    TLS: 'the certificate is valid',
    answer: 'the service accepts the key',
  };
  return STEPS.map((name, index) => {
    if (failure !== undefined && index === failedAt) return answerFinding(name, failure.error);
    if (index > failedAt) return { name, status: 'skip', text: 'not reached' };
    if (name === 'TLS' && url.protocol === 'http:') return { name, status: 'skip', text: 'plain http' };
    return { name, status: 'ok', text: words[name] };
  });
}

/** A limit says nothing against the key. */
function answerFinding(name: Step, error: CliError): Finding {
  if (error.exitCode !== exitCodes.rateLimited) return failed(name, error);
  return { name, status: 'warn', text: error.message, next: ['Ask again later:  fxrates doctor'] };
}

function clockFinding(trace: HttpTrace, now: number): Finding {
  const name = 'clock';
  const date = Date.parse(trace.lastResponse(operations.quota.path)?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return { name, status: 'skip', text: 'the service sends no Date header' };
  const skewMs = now - date;
  if (Math.abs(skewMs) <= TOLERATED_SKEW_MS)
    return { name, status: 'ok', text: 'differs by less than 30 s from that of the service' };
  const text = `${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} that of the service`;
  return {
    name,
    status: 'warn',
    text,
    next: ['Set the clock of this machine: times of resets and waits depend on it.'],
  };
}

function quotaFinding({ plan, monthly_used: used, monthly_limit: limit }: QuotaData): Finding {
  const name = 'quota';
  if (typeof limit !== 'number') return { name, status: 'ok', text: `plan ${plan}, ${grouped(used)} used` };
  const text = `plan ${plan}, ${grouped(used)} of ${grouped(limit)} used`;
  const isScarce = used >= limit * ALMOST_USED_UP;
  return isScarce ? { name, status: 'warn', text, next: ['fxrates quota'] } : { name, status: 'ok', text };
}
