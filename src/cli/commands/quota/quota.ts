import { Option } from 'commander';
import type { QuotaData, QuotaForecast } from '../../../client/index.ts';
import { operations } from '../../../generated/operations.ts';
import type { CliCommand, Invocation } from '../../command.ts';
import { CliError, usageError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { selectValue } from '../../json/select-value.ts';
import { printJson, printRaw } from '../../output/print-json.ts';
import { dryRun, type OperationRequest, type ServiceResponse, sendRequest } from '../../request/send-request.ts';
import { requireKey } from '../../settings/api-key.ts';
import { requireBaseUrl } from '../../settings/base-url.ts';
import { grouped } from '../../terminal/text.ts';
import {
  LiveView,
  type WatchOptions,
  type WatchRequest,
  watch,
  watchOptions,
  watchRequest,
} from '../../watch/watch.ts';
import { operationCommand, operationRequest, type ResponseOptions } from '../operation.ts';
import { limitOf, type QuotaFields, quotaTable, readFields, remainingOf, withFields } from './quota-table.ts';

const { quota } = operations;
const ownOptions = () => [
  new Option('--fail-at <share>', 'exit with 8 at this usage or more: 80% or 800').argParser(parseFailAt),
  new Option('--no-forecast', 'omit the forecast'),
  ...watchOptions({ text: 'repeat, from 10s (default: 1m)', shortestMs: 10_000 }),
];

interface QuotaOptions extends ResponseOptions, WatchOptions {
  readonly failAt?: FailAt;
  readonly forecast: boolean;
}

export function quotaCommand(): CliCommand {
  return operationCommand(quota, ownOptions)
    .about({
      summary: 'plan, usage, limits, reset time and forecast (free)',
      description:
        'Plan, usage, limits and reset time of your key, and a forecast of its use. Free: never uses your monthly quota.',
      examples: [
        { command: 'fxrates quota', comment: '' },
        { command: 'fxrates quota --fail-at 80%', comment: 'exit code 8 if 80 % or more is used' },
        { command: 'fxrates quota --get monthly_remaining', comment: 'one number' },
        { command: 'fxrates quota --json', comment: 'JSON with the added fields' },
        { command: 'fxrates quota --watch --fail-at 90%', comment: 'runs until 90 % are used' },
      ],
      notes: [
        'In a pipe it prints JSON. The names are those of the service; monthly_remaining and forecast are added.',
        "The forecast is an estimate from this month's average. On the first day or below 20 requests, the table says that it is too early, and the JSON has the confidence low.",
        'The command works even if the monthly quota is used up. The per-minute limit applies.',
      ],
    })
    .runs(runQuota);
}

async function runQuota(invocation: Invocation<QuotaOptions>): Promise<number> {
  const request = operationRequest(quota, invocation, ownOptions);
  const watching = watchRequest(invocation);
  if (invocation.settings.printRequestAs !== undefined) return dryRun(request, invocation);
  if (watching !== undefined) return watchQuota(request, watching, invocation);
  const response = await sendRequest(request, invocation);
  await printQuota(response, invocation);
  checkUse(response, invocation);
  return exitCodes.ok;
}

async function watchQuota(
  request: OperationRequest,
  watching: WatchRequest,
  invocation: Invocation<QuotaOptions>,
): Promise<number> {
  const { settings, io } = invocation;
  requireBaseUrl(settings);
  const key = await requireKey(settings, io); // once: stdin cannot be read again
  const view = new LiveView(invocation);
  const intervalMs = watching.intervalMs ?? DEFAULT_INTERVAL_MS;
  const interval = { intervalMs, reason: 'free' };
  const show = async (response: ServiceResponse) => {
    const text = await tableText(response, invocation);
    const json = await recordWithForecast(response, invocation);
    await view.show({ text, json, interval, print: () => printQuota(response, invocation) });
    checkUse(response, invocation);
  };
  return watch(invocation, { request, key, count: watching.count, every: intervalMs, show, onRemark: view.keep });
}

const DEFAULT_INTERVAL_MS = 60_000;

/** @throws CliError when `--fail-at` is reached */
function checkUse(response: ServiceResponse, { options: { failAt } }: Invocation<QuotaOptions>): void {
  const failure = failAt && usedTooMuch(readFields(recordOf(response)), failAt);
  if (failure !== undefined) throw failure;
}

async function printQuota(response: ServiceResponse, invocation: Invocation<QuotaOptions>): Promise<void> {
  const { settings, screen } = invocation;
  if (settings.output === 'raw') return printRaw(response.rawBody, invocation);
  if (screen.isForPeople && settings.get.length === 0) return screen.printText(await tableText(response, invocation));
  return printJson(await recordWithForecast(response, invocation), invocation);
}

async function tableText(
  response: ServiceResponse,
  { screen, io, options }: Invocation<QuotaOptions>,
): Promise<string> {
  const forecast = options.forecast ? await forecastOf(response) : undefined;
  const context = { style: screen.out, now: response.receivedAt, key: response.key, timeZone: io.timeZone, forecast };
  return quotaTable(recordOf(response), context);
}

async function recordWithForecast(response: ServiceResponse, { options }: Invocation<QuotaOptions>): Promise<string> {
  const record = recordOf(response);
  const remaining = { monthly_remaining: remainingOf(readFields(record)) ?? 'null' };
  if (!options.forecast) return withFields(record, remaining);
  return withFields(record, { ...remaining, forecast: forecastJson(await forecastOf(response)) });
}

/** The client is already loaded: it sent the request. */
async function forecastOf({ data, receivedAt }: ServiceResponse): Promise<QuotaForecast | undefined> {
  const { forecastQuota } = await import('../../../client/index.ts');
  return forecastQuota(data as QuotaData, receivedAt); // parsed with the schema by the client
}

function recordOf({ rawBody }: ServiceResponse): string {
  return selectValue(rawBody, ['data']) ?? '{}';
}

/** `--fail-at 80%` or `--fail-at 800`. */
interface FailAt {
  readonly text: string;
  /** Digits without the point. */
  readonly amount: bigint;
  /** The divisor of `amount`. */
  readonly scale: bigint;
  readonly isPercent: boolean;
}

function parseFailAt(text: string): FailAt {
  const [, whole, fraction = '', percent] = /^(\d{1,15})(?:\.(\d{1,3}))?(%)?$/.exec(text) ?? [];
  if (whole === undefined || (fraction !== '' && percent === undefined)) {
    throw usageError(`--fail-at expects a share of the limit or a number of requests, got '${text}'`, 'e.g. 80%, 800');
  }
  const isPercent = percent === '%';
  if (isPercent && Number(`${whole}.${fraction}`) > 100) {
    throw usageError(`--fail-at expects at most 100%, got '${text}'`, 'the usage never exceeds the limit');
  }
  return { text, amount: BigInt(whole + fraction), scale: 10n ** BigInt(fraction.length), isPercent };
}

/** The error for a quota whose usage has reached `--fail-at`. A share of an unlimited quota is never reached. */
function usedTooMuch(fields: QuotaFields, { text, amount, scale, isPercent }: FailAt): CliError | undefined {
  const used = fields.get('monthly_used') ?? '';
  const limit = limitOf(fields);
  if (!/^\d+$/.test(used) || (isPercent && limit === undefined)) return undefined;
  const isReached = isPercent ? BigInt(used) * 100n * scale >= amount * BigInt(limit ?? 0) : BigInt(used) >= amount;
  if (!isReached) return undefined;
  return new CliError(`the monthly quota has reached --fail-at ${text}`, {
    code: 'fail_at',
    exitCode: exitCodes.quota,
    why: `${grouped(used)}${limit === undefined ? '' : ` of ${grouped(limit)}`} used`,
    resetsAt: fields.get('resets_at'),
  });
}

/** The forecast for programs, in the format of the service: snake_case, UTC, `null` for unknown. */
function forecastJson(forecast: QuotaForecast | undefined): string {
  if (forecast === undefined) return 'null';
  const { periodStart, elapsed, perDay, usedAtReset, exhaustsAt, safePerDay, safeIntervalMs, confidence } = forecast;
  return JSON.stringify({
    basis: 'period_average',
    period_start: periodStart.toISOString(),
    elapsed_percent: tenths(elapsed * 100),
    per_day: tenths(perDay),
    used_at_reset: usedAtReset ?? null,
    exhausts_at: exhaustsAt?.toISOString().replace(/\.\d+Z$/, 'Z') ?? null,
    safe_per_day: tenths(safePerDay),
    min_interval_seconds: safeIntervalMs === undefined ? null : Math.ceil(safeIntervalMs / 1000),
    confidence,
  });
}

function tenths(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * 10) / 10;
}
