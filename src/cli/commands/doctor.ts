import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Option } from 'commander';
import type { QuotaData } from '../../client/index.ts';
import { environmentProxy, isExempt } from '../../environment-proxy.ts';
import { operations } from '../../generated/operations.ts';
import { apiKeyPattern } from '../../generated/service.ts';
import { maskKey } from '../../text.ts';
import { CliCommand, type Invocation } from '../command.ts';
import { CliError, relatedCommand } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Env } from '../io.ts';
import { connectionOptions, dataOptions } from '../options.ts';
import { printReport, type ReportRow, reportText } from '../output/report.ts';
import { HttpTrace } from '../request/http-trace.ts';
import { sendQuotaRequest } from '../request/send-request.ts';
import { type KeyInUse, requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { formatDuration } from '../settings/duration.ts';
import { CONFIG_SETTINGS, requireProfile, unknownSettings } from '../settings/settings.ts';
import { readJsonFile } from '../storage/json-file.ts';
import { type ConfigFile, configPath, configValue, credentialsPath, readConfig } from '../storage/stored-files.ts';
import { commandLine, grouped } from '../terminal/text.ts';
import { versionText } from './version.ts';

interface DoctorOptions {
  readonly offline?: boolean;
  readonly strict?: boolean;
}

export function doctorCommand(): CliCommand {
  return new CliCommand('doctor')
    .about({
      summary: 'check the setup, with the next step for each problem (free)',
      description:
        'Checks settings, key, files, proxy, name, connection, certificate, clock and quota. Sends one quota call, which is free.',
      examples: [
        { command: 'fxrates doctor', comment: '' },
        { command: 'fxrates doctor --strict', comment: 'for scripts: exit code 1 if a check failed' },
        { command: 'fxrates doctor --json', comment: 'for a bug report; contains no key' },
      ],
      notes: [
        'The exit code is 0 even if a check failed. With --strict it is 1 if a check failed; warnings do not count.',
      ],
    })
    .with(() => [
      new Option('--offline', 'check only this machine; send nothing'),
      new Option('--strict', 'exit with 1 if a check failed'),
      ...dataOptions('fxrates doctor'),
      ...connectionOptions(),
    ])
    .runs(examine, { survivesBrokenConfig: true });
}

async function examine(invocation: Invocation<DoctorOptions>): Promise<number> {
  const findings = await findingsOf(invocation);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const summary = { ok: count('ok'), warn: count('warn'), fail: count('fail'), skip: count('skip') };
  const checks = findings.map(({ next = [], ...finding }) => ({ ...finding, next }));
  const rows = checks.map(({ name, status, text, next }) => ({ label: name, status, value: text, steps: next }));
  const text = reportText(rows, invocation.screen.help);
  await printReport({ text, facts: { summary, checks }, isForLogs: true }, invocation);
  return invocation.options.strict && summary.fail > 0 ? exitCodes.failure : exitCodes.ok;
}

async function findingsOf(invocation: Invocation<DoctorOptions>): Promise<readonly Finding[]> {
  const { io, settings, options } = invocation;
  const stored = await checkStorage(io.env); // first: reading the key corrects the mode of its file
  const baseUrl = await checkBaseUrlSetting(invocation);
  const { keyFinding, key } = await checkKeySetting(invocation);
  const url = baseUrl.status === 'ok' ? settings.baseUrl?.text : undefined;
  const local: readonly Finding[] = [
    { name: 'version', status: 'ok', text: versionText() },
    ...stored,
    ...(await checkProfile(invocation)),
    baseUrl,
    keyFinding,
    checkProxy(url, invocation),
  ];
  if (options.offline) return local;
  if (url === undefined || key === undefined)
    return [...local, { name: 'service', status: 'skip', text: 'not checked: this needs a base URL and a key' }];
  return [...local, ...(await checkService(invocation, { baseUrl: url, key }))];
}

/** The result of one check. */
interface Finding extends CheckResult {
  readonly name: string;
}

interface CheckResult {
  /** `skip`: the check does not apply, or a check that it needs has failed. */
  readonly status: NonNullable<ReportRow['status']>;
  readonly text: string;
  /** The next step. */
  readonly next?: readonly string[];
}

const ok = (text: string): CheckResult => ({ status: 'ok', text });
const warning = (text: string, next: string): CheckResult => ({ status: 'warn', text, next: [next] });
const skipped = (text: string): CheckResult => ({ status: 'skip', text });

function failed({ message, details: { hints = [] } }: CliError): CheckResult {
  return { status: 'fail', text: message, next: hints };
}

/** The finding of `check`. A `CliError` becomes a finding. */
async function finding(name: string, check: () => CheckResult | Promise<CheckResult>): Promise<Finding> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    if (error instanceof CliError) return { name, ...failed(error) };
    throw error;
  }
}

/** The steps to a response, in their order. */
const STEPS = ['name', 'connection', 'TLS', 'response'] as const;
type Step = (typeof STEPS)[number];

/** Requests the quota once, which is free, and reports each step that succeeded. */
async function checkService(
  invocation: Invocation,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: KeyInUse },
): Promise<readonly Finding[]> {
  const { path } = operations.quota;
  const { io } = invocation;
  const settings = { ...invocation.settings, retries: 0, maxWaitMs: 0, verbose: 0 };
  const trace = new HttpTrace({ ...invocation, settings }, { keepsBodies: true });
  const outcomes = successes(new URL(baseUrl), environmentProxy(io.env, baseUrl)?.variable);
  const findings = () => STEPS.map((name) => ({ name, ...outcomes[name] }));
  const clock = () => ({ name: 'clock', ...clockOutcome(trace, io.clock.now()) });
  try {
    const { data } = await sendQuotaRequest({ ...invocation, settings }, { trace, key });
    return [...findings(), clock(), { name: 'quota', ...quotaOutcome(data, invocation) }];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const hasResponse = trace.lastResponse(path) !== undefined;
    Object.assign(outcomes, failureOutcomes(error, hasResponse, invocation));
    return hasResponse ? [...findings(), clock()] : findings();
  }
}

function successes({ host, hostname, protocol }: URL, proxy: string | undefined): Record<Step, CheckResult> {
  return {
    name: ok(`${proxy === undefined ? hostname : `the name in ${proxy}`} has an address`),
    connection: ok(`${host} accepts connections${proxy === undefined ? '' : `, through ${proxy}`}`),
    TLS: protocol === 'http:' ? skipped('plain http') : ok('the certificate is valid'),
    response: ok('the service accepts the key'),
  };
}

/** By the system's code; an error without a known code is one of the connection. */
function failedStep({ details: { causeCode = '' } }: CliError): Step {
  if (/^(ENOTFOUND|EAI_)/.test(causeCode)) return 'name';
  return /CERT|SIGNATURE|SSL|TLS|EPROTO/.test(causeCode) ? 'TLS' : 'connection';
}

/** The outcomes of the step that failed and of those that it leaves out. */
function failureOutcomes(
  error: CliError,
  hasResponse: boolean,
  { argv }: Pick<Invocation, 'argv'>,
): Partial<Record<Step, CheckResult>> {
  const { message, details } = error;
  if (details.exitCode !== exitCodes.rateLimited) {
    const step = hasResponse ? 'response' : failedStep(error);
    const later = STEPS.slice(STEPS.indexOf(step) + 1).map((name) => [name, skipped('not reached')]);
    return { ...Object.fromEntries(later), [step]: failed(error) };
  }
  // A used-up limit does not mean that the key is wrong.
  if (hasResponse) return { response: warning(message, `Try again later:  ${commandLine(argv)}`) };
  const unsent = skipped('nothing was sent');
  const response = warning(message, `To send a request anyway:  FXRATES_SHARE_LIMIT=off ${commandLine(argv)}`);
  return { name: unsent, connection: unsent, TLS: unsent, response };
}

/** A clock that is off by more makes Retry-After dates and the forecast wrong. */
const TOLERATED_SKEW_MS = 30_000;

function clockOutcome(trace: HttpTrace, now: number): CheckResult {
  const date = Date.parse(trace.lastResponse(operations.quota.path)?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return skipped('the service sends no Date header');
  const skewMs = now - date;
  if (Math.abs(skewMs) <= TOLERATED_SKEW_MS) return ok('differs by less than 30 s from that of the service');
  const text = `${formatDuration(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} that of the service`;
  return warning(text, 'Set the clock of this machine: times of resets and waits depend on it.');
}

const ALMOST_USED_UP = 0.8;

function quotaOutcome(
  { plan, monthly_used: used, monthly_limit: limit }: QuotaData,
  { argv }: Pick<Invocation, 'argv'>,
): CheckResult {
  if (typeof limit !== 'number') return ok(`plan ${plan}, ${grouped(used)} used`);
  const text = `plan ${plan}, ${grouped(used)} of ${grouped(limit)} used`;
  return used >= limit * ALMOST_USED_UP ? warning(text, relatedCommand(['quota'], argv)) : ok(text);
}

function checkBaseUrlSetting({ settings }: Invocation): Promise<Finding> {
  return finding('base URL', () => ok(`${requireBaseUrl(settings)} (from ${settings.baseUrl?.source})`));
}

const KEY_FORM =
  'The documented form is a prefix that ends with _live_, then 48 hexadecimal digits. Check that the whole key was copied.';

/** The source of the key and whether it has the documented form; never the key itself. */
async function checkKeySetting({
  settings,
  io,
  screen,
}: Invocation): Promise<{ readonly keyFinding: Finding; readonly key: KeyInUse | undefined }> {
  let key: KeyInUse | undefined;
  const keyFinding = await finding('key', async () => {
    key = await requireKey(settings, io);
    screen.secrets.protect(key.secret);
    const shadows = key.shadowed.length === 0 ? '' : `; overrides ${key.shadowed.join(' and ')}`;
    const text = `${maskKey(key.secret)} (from ${key.source}${shadows})`;
    if (new RegExp(apiKeyPattern).test(key.secret)) return ok(text);
    return warning(`${text} does not have the documented form`, KEY_FORM);
  });
  return { keyFinding, key };
}

function checkProxy(baseUrl: string | undefined, { io }: Invocation): Finding {
  const name = 'proxy';
  const isUrl = baseUrl !== undefined && URL.canParse(baseUrl);
  const proxy = isUrl ? environmentProxy(io.env, baseUrl) : undefined;
  if (proxy === undefined) {
    const isListed = isUrl && isExempt(io.env, baseUrl);
    return { name, ...ok(isListed ? `none: NO_PROXY lists ${new URL(baseUrl).hostname}` : 'none for this base URL') };
  }
  const { variable, host, problem } = proxy;
  if (problem === undefined) return { name, ...ok(`${variable}: ${host}`) };
  return { name, status: 'fail', text: `${variable} ${problem}`, next: ['e.g. http://proxy.example:3128'] };
}

/** The two files of the configuration: whether they can be read, make sense, and are for their owner only. */
async function checkStorage(env: Env): Promise<readonly Finding[]> {
  const [config, credentials] = [configPath(env), credentialsPath(env)];
  return [
    await finding('config file', () => fileOutcome(config, () => checkValues(readConfig(env)))),
    await finding('credentials', () =>
      fileOutcome(credentials, (path) => {
        readJsonFile(path);
        return undefined;
      }),
    ),
  ];
}

/** Only for a profile other than the default. */
async function checkProfile({ settings, config, io }: Invocation): Promise<readonly Finding[]> {
  if (settings.profile === 'default') return [];
  const check = () => {
    requireProfile(settings, { config, env: io.env });
    return ok(settings.profile);
  };
  return [await finding('profile', check)];
}

async function fileOutcome(
  path: string | undefined,
  check: (path: string) => CheckResult | undefined,
): Promise<CheckResult> {
  if (path === undefined) return { status: 'warn', text: 'HOME is not set, so nothing can be stored' };
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return ok(`none (${path})`);
  const problem = check(path);
  if (problem !== undefined) return problem;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  const isPrivate = process.platform === 'win32' || (stats.mode & 0o077) === 0; // Windows has no such modes
  if (isPrivate) return ok(`${path} (mode ${mode})`);
  return warning(
    `${path} is readable by other users (mode ${mode})`,
    `chmod 600 ${path} && chmod 700 ${dirname(path)}`,
  );
}

/** @throws CliError for a value that cannot be used */
function checkValues(config: ConfigFile): CheckResult | undefined {
  for (const profile of [undefined, ...config.profiles.keys()]) {
    for (const [name, { parse }] of Object.entries(CONFIG_SETTINGS)) {
      const value = configValue(config, name, profile);
      if (value !== undefined) parse(value, `${name} in ${config.path}`);
    }
  }
  const [unknown] = unknownSettings(config);
  return unknown === undefined
    ? undefined
    : warning(`${config.path}: ${unknown}`, `Correct or remove it:  ${config.path}`);
}
