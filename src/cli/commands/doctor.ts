import { promises as fs } from 'node:fs';
import type { QuotaData } from '../../client/index.ts';
import { isExempt, spelledIn } from '../../environment-proxy.ts';
import { apiKeyPattern } from '../../generated/service.ts';
import { maskKey } from '../../redactor.ts';
import { VERSION } from '../../version.ts';
import { CliError, OTHER_CONFIG_FOLDER, relatedCommand } from '../errors/cli-error.ts';
import { exitCodes } from '../io/exit-codes.ts';
import { printReport, type ReportRow, reportText } from '../output/report.ts';
import { CliCommand } from '../parser/command.ts';
import { refusedKeyHints, SEND_ANYWAY } from '../request/explain-error.ts';
import { HttpTrace } from '../request/http-trace.ts';
import { proxyFor, sendQuotaRequest } from '../request/send-request.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { readJsonFile } from '../settings/json-file.ts';
import { CliOption, checkOptions, dataOptions, rowOf, SETTING_NAMES, type ValuesOf } from '../settings/options.ts';
import { type KeyInUse, requireKey } from '../settings/resolve-key.ts';
import { type Invocation, requireProfile, storedSetting, unknownSettings } from '../settings/settings.ts';
import { type ConfigFile, configPath, credentialsPath, requireConfig } from '../settings/stored-files.ts';
import { formatDuration } from '../settings/values.ts';
import { grouped, quoteForShell } from '../terminal/text.ts';
import { limitOf, ofLimit } from './forecast.ts';

const doctorOptions = () => [
  new CliOption('--offline', 'check only this machine; send nothing'),
  new CliOption('--strict', 'exit with 1 if a check failed'),
];

type DoctorOptions = ValuesOf<typeof doctorOptions>;

export function doctorCommand(): CliCommand {
  return new CliCommand('doctor')
    .about({
      summary: 'check the setup, with the next step for each problem (free)',
      description:
        'Checks settings, key, files, proxy, connection, certificate, clock and quota. Sends one quota call, which is free.',
      examples: [
        { command: 'fxrates doctor --strict', comment: 'for scripts: exit code 1 if a check failed' },
        { command: 'fxrates doctor --json', comment: 'for a bug report; contains no key' },
      ],
      notes: [
        'The exit code is 0 even if a check failed. With --strict it is 1 if a check failed; warnings do not count.',
      ],
    })
    .with(doctorOptions)
    .with(() => [...dataOptions(), ...checkOptions()])
    .runs(examine, { survivesBrokenConfig: true });
}

async function examine(invocation: Invocation<DoctorOptions>): Promise<number> {
  const findings = await findingsOf(invocation);
  const failure = await printFindings(findings, invocation);
  return invocation.options.strict && failure !== undefined ? exitCodes.failure : exitCodes.ok;
}

/** Prints the findings, and returns the first failure. */
export async function printFindings(
  findings: readonly Finding[],
  invocation: Invocation,
): Promise<CliError | undefined> {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const summary = { ok: count('ok'), warn: count('warn'), fail: count('fail'), skip: count('skip') };
  const checks = findings.map(({ name, status, text, next = [] }) => ({ name, status, text, next }));
  const rows = checks.map(({ name, status, text, next }) => ({ label: name, status, value: text, steps: next }));
  const text = () => reportText(rows, invocation.screen.out);
  await printReport({ text, json: JSON.stringify({ summary, checks }), isForLogs: true }, invocation);
  return findings.find(({ error }) => error !== undefined)?.error;
}

async function findingsOf(invocation: Invocation<DoctorOptions>): Promise<readonly Finding[]> {
  const { io, settings, options } = invocation;
  const { version, platform, arch } = process;
  const access = await accessOf(invocation); // before the files: it corrects the mode of one, and says so
  const files = [
    await finding('config file', () => fileResult(configPath(io.env), () => checkValues(invocation.config))),
    await finding('credentials', () => fileResult(credentialsPath(io.env), (path) => void readJsonFile(path))),
  ];
  const proxy = await finding('proxy', () => proxyResult(access.url, invocation));
  const profile = () => {
    requireProfile(settings, { ...invocation, env: io.env });
    return ok(settings.profile);
  };
  const local = [
    { name: 'version', ...ok(`fxrates ${VERSION}, Node.js ${version.slice(1)}, ${platform}-${arch}`) },
    ...files,
    ...(settings.profile === 'default' ? [] : [await finding('profile', profile)]),
    ...access.findings,
    proxy,
  ];
  if (options.offline) return local;
  if (proxy.status === 'fail') return [...local, NOT_CHECKED];
  return [...local, ...(await checkService(access, invocation))];
}

/** Where requests go, and with which key. */
interface Access {
  readonly url: string | CliError;
  readonly key: KeyInUse | CliError;
  readonly findings: readonly Finding[];
}

export async function accessOf(invocation: Invocation): Promise<Access> {
  const { settings } = invocation;
  const url = await attempt(() => requireBaseUrl(settings));
  const key = await attempt(() => requireKey(invocation));
  const findings = [
    { name: 'base URL', ...(url instanceof CliError ? failed(url) : ok(`${url} (from ${settings.baseUrl?.source})`)) },
    { name: 'key', ...(key instanceof CliError ? failedKey(key, url) : keyResult(key)) },
  ];
  return { url, key, findings };
}

/** A stored key belongs to an origin, which an invalid base URL does not have. */
function failedKey(error: CliError, url: string | CliError): CheckResult {
  const isOfUrl = url instanceof CliError && url.message === error.message;
  return isOfUrl ? skipped('not checked: the stored key needs a valid base URL') : failed(error);
}

interface CheckResult {
  /** `skip`: the check does not apply, or a check that it needs has failed. */
  readonly status: NonNullable<ReportRow['status']>;
  readonly text: string;
  readonly next?: readonly string[];
  readonly error?: CliError;
}

export interface Finding extends CheckResult {
  readonly name: string;
}

const ok = (text: string): CheckResult => ({ status: 'ok', text });
const warning = (text: string, next: string): CheckResult => ({ status: 'warn', text, next: [next] });
const skipped = (text: string): CheckResult => ({ status: 'skip', text });

function failed(error: CliError): CheckResult {
  return { status: 'fail', text: error.message, next: error.details.hints ?? [], error };
}

const NOT_CHECKED: Finding = {
  name: 'service',
  ...skipped('not checked: this needs a base URL, a key and a usable proxy'),
};

/** The result of `check`, or the `CliError` that it throws. */
export async function attempt<Result>(check: () => Result | Promise<Result>): Promise<Result | CliError> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
}

async function finding(name: string, check: () => CheckResult | Promise<CheckResult>): Promise<Finding> {
  const result = await attempt(check);
  return { name, ...(result instanceof CliError ? failed(result) : result) };
}

/** Requests the quota once, which is free. Its error says which step failed: the name, the connection, TLS or the response. */
export async function checkService({ url, key }: Access, invocation: Invocation): Promise<readonly Finding[]> {
  if (url instanceof CliError || key instanceof CliError) return [NOT_CHECKED];
  const { io, options } = invocation;
  const settings = { ...invocation.settings, retries: 0, maxWaitMs: 0 };
  const trace = new HttpTrace({ ...invocation, settings });
  const outcome = await attempt(() => sendQuotaRequest({ ...invocation, settings }, { trace, key }));
  const { lastDate: date } = trace;
  const clock = date === undefined ? [] : [{ name: 'clock', ...clockResult(date, io.clock.now()) }];
  if (outcome instanceof CliError) return [{ name: 'service', ...failure(outcome, { key, options }) }, ...clock];
  const certificate = new URL(url).protocol === 'https:' ? '; its certificate is valid' : '';
  return [
    { name: 'service', ...ok(`accepts the key${certificate}`) },
    ...clock,
    { name: 'quota', ...quotaResult(outcome.data, invocation) },
  ];
}

function failure(
  error: CliError,
  { key, options }: Pick<Invocation, 'options'> & { readonly key: KeyInUse },
): CheckResult {
  const { code, facts: { status, retry_after_seconds: seconds } = {} } = error.details;
  if (code === 'authentication')
    return { ...failed(error), next: refusedKeyHints(key, { options }, otherKey(key, { options })) };
  if (code !== 'rate_limited') {
    const { next = [], ...result } = failed(error);
    const details = `Request and response:  ${relatedCommand(['quota', '-vv'], options)}`;
    return { ...result, next: next.length > 0 ? next : [details] };
  }
  // A used-up limit does not mean that the key is wrong.
  const when = seconds === undefined ? '' : `, retry in ${formatDuration(seconds * 1000)}`;
  if (status !== undefined) return warning(`rate limited${when}`, 'Try again later.');
  return warning(`nothing was sent: rate limited${when}`, SEND_ANYWAY);
}

/** Instead of `fxrates doctor`, which other commands name. */
function otherKey({ source }: KeyInUse, { options }: Pick<Invocation, 'options'>): string {
  const command = relatedCommand(['auth', 'login'], options);
  return source.startsWith('profile ') ? `Store another key:  ${command}` : `Pass another key with ${source}`;
}

/** A clock that is off by more makes Retry-After dates and the forecast wrong. */
const TOLERATED_SKEW_MS = 30_000;

function clockResult(date: string | null, now: number): CheckResult {
  const skewMs = now - Date.parse(date ?? '');
  if (Number.isNaN(skewMs)) return skipped('the service sends no valid Date header');
  if (Math.abs(skewMs) <= TOLERATED_SKEW_MS) return ok('differs by less than 30 s from that of the service');
  const text = `${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} that of the service`;
  return warning(text, 'Set the clock of this machine: times of resets and waits depend on it.');
}

const ALMOST_USED_UP = 0.8;

function quotaResult(quota: QuotaData, { options }: Invocation): CheckResult {
  const { plan, monthly_used: used } = quota;
  const limit = limitOf(quota);
  const text = `plan ${plan}, ${grouped(used)}${ofLimit(limit)} used`;
  const isAlmostUsedUp = limit !== undefined && used >= limit * ALMOST_USED_UP;
  return isAlmostUsedUp ? warning(text, relatedCommand(['quota'], options)) : ok(text);
}

const KEY_FORM =
  'The documented form is a prefix that ends with _live_, then 48 hexadecimal digits. Check that the whole key was copied.';

/** The source of the key and whether it has the documented form; never the key itself. */
function keyResult({ secret, source, shadowed }: KeyInUse): CheckResult {
  const shadows = shadowed.length === 0 ? '' : `; overrides ${shadowed.join(' and ')}`;
  const text = `${maskKey(secret)} (from ${source}${shadows})`;
  if (new RegExp(apiKeyPattern).test(secret)) return ok(text);
  return warning(`${text} does not have the documented form`, KEY_FORM);
}

function proxyResult(baseUrl: string | CliError, { io }: Invocation): CheckResult {
  if (baseUrl instanceof CliError) return ok('none for this base URL');
  const proxy = proxyFor(baseUrl, io.env);
  if (proxy !== undefined) return ok(`${proxy.variable}: ${proxy.host}`);
  const exempting = `none: ${spelledIn(io.env, 'NO_PROXY')} lists ${new URL(baseUrl).hostname}`;
  return ok(isExempt(io.env, baseUrl) ? exempting : 'none for this base URL');
}

/** Whether a file of the configuration can be read, makes sense, and is for its owner only. */
async function fileResult(
  path: string | undefined,
  check: (path: string) => CheckResult | undefined,
): Promise<CheckResult> {
  if (path === undefined) return warning('HOME is not set, so nothing can be stored', OTHER_CONFIG_FOLDER);
  const problem = check(path); // before `stat`, which does not distinguish a missing file from a folder that is not accessible
  if (problem !== undefined) return problem;
  const stats = await fs.stat(path).catch(() => undefined);
  if (stats === undefined) return ok(`none (${path})`);
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  const isPrivate = process.platform === 'win32' || (stats.mode & 0o077) === 0; // Windows has no such modes
  if (isPrivate) return ok(`${path} (mode ${mode})`);
  return warning(`${path} is readable by other users (mode ${mode})`, `chmod 600 ${quoteForShell(path)}`);
}

/** @throws CliError for a value that cannot be used */
function checkValues(config: ConfigFile): CheckResult | undefined {
  requireConfig(config);
  for (const profile of [undefined, ...config.profiles.keys()]) {
    for (const name of SETTING_NAMES) {
      const value = storedSetting(name, config, profile);
      if (value !== undefined) rowOf(name).check?.(value);
    }
  }
  const [unknown] = unknownSettings(config);
  return unknown === undefined
    ? undefined
    : warning(`${config.path}: ${unknown}`, `Correct or remove it:  ${config.path}`);
}
