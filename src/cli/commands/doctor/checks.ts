import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { QuotaData } from '../../../client/index.ts';
import { environmentProxy } from '../../../environment-proxy.ts';
import { operations } from '../../../generated/operations.ts';
import { apiKeyPattern } from '../../../generated/service.ts';
import type { Invocation } from '../../command.ts';
import { CliError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Io } from '../../io.ts';
import type { ReportRow } from '../../output/report.ts';
import { HttpTrace } from '../../request/http-trace.ts';
import { sendRequest } from '../../request/send-request.ts';
import { type KeyInUse, requireKey } from '../../settings/api-key.ts';
import { requireBaseUrl } from '../../settings/base-url.ts';
import { formatDuration } from '../../settings/duration.ts';
import { CONFIG_SETTINGS } from '../../settings/settings.ts';
import { type ConfigFile, configPath, configValue, profileNames, readConfig } from '../../storage/config-file.ts';
import { credentialsPath } from '../../storage/credentials.ts';
import { readJsonFile } from '../../storage/json-file.ts';
import { maskKey } from '../../terminal/redactor.ts';
import { grouped } from '../../terminal/text.ts';

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
  return { name, status: 'warn', text: error.message, next: ['Try again later:  fxrates doctor'] };
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

export function checkBaseUrlSetting({ settings }: Invocation): Finding {
  const name = 'base URL';
  try {
    return { name, status: 'ok', text: `${requireBaseUrl(settings)} (from ${settings.baseUrl?.source})` };
  } catch (error) {
    if (error instanceof CliError) return failed(name, error);
    throw error;
  }
}

/** Where the key comes from and whether it has the documented form; never the key itself. */
export async function checkKeySetting({
  settings,
  io,
  screen,
}: Invocation): Promise<{ readonly finding: Finding; readonly key?: KeyInUse }> {
  const name = 'key';
  try {
    const key = await requireKey(settings, io);
    screen.secrets.protect(key.secret);
    const shadows = key.shadowed.length === 0 ? '' : `; overrides ${key.shadowed.join(' and ')}`;
    const text = `${maskKey(key.secret)} (from ${key.source}${shadows})`;
    if (new RegExp(apiKeyPattern).test(key.secret)) return { key, finding: { name, status: 'ok', text } };
    const next = [
      'The documented form is a prefix that ends with _live_, then 48 hexadecimal digits. Check that the whole key was copied.',
    ];
    return { key, finding: { name, status: 'warn', text: `${text} does not have the documented form`, next } };
  } catch (error) {
    if (error instanceof CliError) return { finding: failed(name, error) };
    throw error;
  }
}

export function checkProxy(baseUrl: string | undefined, { io }: Invocation): Finding {
  const name = 'proxy';
  const proxy = baseUrl !== undefined && URL.canParse(baseUrl) ? environmentProxy(io.env, baseUrl) : undefined;
  if (proxy === undefined) return { name, status: 'ok', text: 'none for this base URL' };
  const { variable, host, problem } = proxy;
  if (problem === undefined) return { name, status: 'ok', text: `${variable}: ${host}, except for NO_PROXY` };
  return {
    name,
    status: 'fail',
    text: `${variable} ${problem}`,
    next: ['e.g. http://proxy.example:3128'],
  };
}

/** The two files of the configuration: whether they can be read, make sense, and are for their owner only. */
export async function checkStorage(env: Io['env']): Promise<readonly Finding[]> {
  return [
    await checkFile('config file', configPath(env), async () => checkValues(await readConfig(env))),
    await checkFile('credentials', credentialsPath(env), async (path) => void (await readJsonFile(path))),
  ];
}

async function checkFile(
  name: string,
  path: string | undefined,
  check: (path: string) => Promise<void>,
): Promise<Finding> {
  if (path === undefined) return { name, status: 'warn', text: 'HOME is not set, so nothing can be stored' };
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return { name, status: 'ok', text: `none (${path})` };
  try {
    await check(path);
  } catch (error) {
    if (error instanceof CliError) return failed(name, error);
    throw error;
  }
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  const isPrivate = process.platform === 'win32' || (stats.mode & 0o077) === 0; // Windows has no such modes
  if (isPrivate) return { name, status: 'ok', text: `${path} (mode ${mode})` };
  const next = [`chmod 600 ${path} && chmod 700 ${dirname(path)}`];
  return { name, status: 'warn', text: `${path} is readable by other users (mode ${mode})`, next };
}

function checkValues(config: ConfigFile): void {
  for (const profile of [undefined, ...profileNames(config)]) {
    for (const [name, { parse }] of Object.entries(CONFIG_SETTINGS)) {
      const value = configValue(config, name, profile);
      if (value !== undefined) parse(value, `${name} in ${config.path}`);
    }
  }
}

/** The result of one check. */
export interface Finding {
  readonly name: string;
  /** `skip`: there was nothing to check, or what it needs failed before. */
  readonly status: NonNullable<ReportRow['status']>;
  readonly text: string;
  /** What to do about it. */
  readonly next?: readonly string[];
}

export function failed(name: string, { message, hints }: Pick<CliError, 'message' | 'hints'>): Finding {
  return { name, status: 'fail', text: message, next: hints };
}
