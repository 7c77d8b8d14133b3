import { Option } from 'commander';
import type { QuotaData, QuotaForecast } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { maskKey } from '../../text.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { leaves, memberNames, selectValue } from '../json/select-value.ts';
import { scalarText } from '../output/delimited-text.ts';
import { printJson, printRaw } from '../output/print-json.ts';
import { type ReportRow, reportText } from '../output/report.ts';
import { dryRun, type OperationRequest, type ServiceResponse, sendRequest } from '../request/send-request.ts';
import { type KeyInUse, requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { formatDuration } from '../settings/duration.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { grouped, localTime } from '../terminal/text.ts';
import { LiveView, type WatchOptions, type WatchRequest, watch, watchOptions, watchRequest } from '../watch/watch.ts';
import { operationCommand, operationRequest, type ResponseOptions } from './operation.ts';

const { quota } = operations;

interface QuotaOptions extends ResponseOptions, WatchOptions {
  readonly failAt?: FailAt;
  readonly forecast: boolean;
}

export function quotaCommand(): CliCommand {
  return operationCommand(quota, () => [
    new Option('--fail-at <share>', 'exit with 8 at this usage or more: 80% or 800').argParser(parseFailAt),
    new Option('--no-forecast', 'omit the forecast'),
    ...watchOptions({ text: 'repeat, from 10s (default: 1m)', shortestMs: 10_000 }),
  ])
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
  const request = operationRequest(quota, invocation);
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
  const { forecastQuota } = await import('../../client/index.ts');
  return forecastQuota(data as QuotaData, receivedAt); // parsed with the schema by the client
}

function recordOf({ rawBody }: ServiceResponse): string {
  return selectValue(rawBody, ['data']) ?? '{}';
}

/** `--fail-at 80%` or `--fail-at 800`. */
interface FailAt {
  readonly text: string;
  /** Thousandths of a percent or of a request: whole numbers compare exactly. */
  readonly thousandths: bigint;
  readonly isPercent: boolean;
}

function parseFailAt(text: string): FailAt {
  const [, whole, fraction = '', percent] = /^(\d{1,15})(?:\.(\d{1,3}))?(%)?$/.exec(text) ?? [];
  if (whole === undefined || (fraction !== '' && percent === undefined)) {
    throw usageError(`--fail-at expects a share of the limit or a number of requests, got '${text}'`, 'e.g. 80%, 800');
  }
  const thousandths = BigInt(whole + fraction.padEnd(3, '0'));
  if (percent !== undefined && thousandths > 100_000n) {
    throw usageError(`--fail-at expects at most 100%, got '${text}'`, 'the usage never exceeds the limit');
  }
  return { text, thousandths, isPercent: percent !== undefined };
}

/** The error for a quota whose usage has reached `--fail-at`. A share of an unlimited quota is never reached. */
function usedTooMuch(fields: QuotaFields, { text, thousandths, isPercent }: FailAt): CliError | undefined {
  const used = fields.get('monthly_used') ?? '';
  const limit = limitOf(fields);
  if (!/^\d+$/.test(used) || (isPercent && limit === undefined)) return undefined;
  const isReached = BigInt(used) * (isPercent ? 100_000n : 1000n) >= thousandths * BigInt(isPercent ? (limit ?? 0) : 1);
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

interface TableContext {
  readonly style: StreamStyle;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly key: KeyInUse;
  readonly timeZone: string | undefined;
  readonly forecast: QuotaForecast | undefined;
}

/** Cells of the bar; fewer on a narrow screen. */
const BAR = { wide: 20, narrow: 10, narrowBelow: 60 };
/** Fields with their own label. Other fields have a row with their name. */
const KNOWN: readonly string[] = [
  'plan',
  'monthly_used',
  'monthly_limit',
  'monthly_remaining',
  'rate_limit_per_minute',
  'snapshot_granularity',
  'historical_days',
  'resets_at',
];

/** The quota record for people. `json` is the record's own text, so the digits are the service's. */
function quotaTable(json: string, context: TableContext): string {
  const fields = readFields(json);
  const others = [...fields].filter(([name]) => !KNOWN.includes(name));
  const rows: ReportRow[] = [
    { label: 'Plan', value: fields.get('plan') ?? '?' },
    { label: 'Key', value: maskKey(context.key.secret), remark: `(from ${context.key.source})` },
    usedRow(fields, context),
    remainingRow(fields),
    resetRow(fields, context),
    { label: 'Rate limit', value: `${grouped(fields.get('rate_limit_per_minute') ?? '?')} requests/min` },
    { label: 'Snapshots', value: snapshotText(fields.get('snapshot_granularity') ?? '?') },
    { label: 'History', value: `${grouped(fields.get('historical_days') ?? '?')} days` },
    ...others.map(([label, value]) => ({ label, value })),
  ];
  const forecast = context.forecast === undefined ? [] : forecastRows(context.forecast, fields, context);
  const text = reportText(rows, context.style);
  return forecast.length === 0 ? text : `${text}\n${reportText(forecast, context.style)}`;
}

function usedRow(fields: QuotaFields, { style }: TableContext): ReportRow {
  const used = fields.get('monthly_used') ?? '?';
  const limit = limitOf(fields);
  if (limit === undefined) return { label: 'Used', value: grouped(used), remark: '(no fixed limit)' };
  const share = limit === '0' ? 1 : Number(used) / Number(limit);
  return { label: 'Used', value: `${grouped(used)} of ${grouped(limit)}`, remark: bar(share, style) };
}

/** `[███████████████░░░░░] 74.2 %`; the number carries the meaning, colour only repeats it. */
function bar(share: number, { palette, columns }: StreamStyle): string {
  const size = columns < BAR.narrowBelow ? BAR.narrow : BAR.wide;
  const cells = Math.min(size, Math.round(share * size));
  const paint = share >= 1 ? palette.failure : share >= 0.8 ? palette.warning : palette.good;
  return `[${paint('█'.repeat(cells))}${'░'.repeat(size - cells)}] ${(share * 100).toFixed(1)} %`;
}

function remainingRow(fields: QuotaFields): ReportRow {
  const remaining = remainingOf(fields);
  if (remaining === undefined) return { label: 'Remaining', value: 'no fixed limit' };
  return { label: 'Remaining', value: grouped(remaining), remark: remaining === '0' ? '(used up)' : undefined };
}

function resetRow(fields: QuotaFields, { now, timeZone }: TableContext): ReportRow {
  const text = fields.get('resets_at') ?? '?';
  const at = Date.parse(text);
  if (Number.isNaN(at)) return { label: 'Resets', value: text };
  const remark = at > now ? `(in ${formatDuration(at - now)})` : '(in the past; is a clock wrong?)';
  return { label: 'Resets', value: localTime(at, timeZone), remark };
}

/** `every 5 min` for the documented form; other forms are not shown, so they stay as they are. */
function snapshotText(granularity: string): string {
  const minutes = /^(\d+)min$/.exec(granularity)?.[1];
  return minutes === undefined ? granularity : `every ${minutes} min`;
}

/** The forecast for people. If it is too early for a forecast, or the quota is used up, the text says that. */
function forecastRows(
  forecast: QuotaForecast,
  fields: QuotaFields,
  { timeZone }: { readonly timeZone: string | undefined },
): readonly ReportRow[] {
  if (remainingOf(fields) === '0')
    return [{ label: 'Forecast', value: 'used up; requests are served after the reset' }];
  return [basisRow(forecast), ...projection(forecast, fields, timeZone), ...toLastRow(forecast)];
}

function basisRow({ confidence, perDay }: QuotaForecast): ReportRow {
  const basis = `this month's average of ${perDayText(perDay ?? 0)} requests/day`;
  return { label: 'Forecast', value: confidence === 'low' ? 'too early to tell' : `estimate, from ${basis}` };
}

function projection(forecast: QuotaForecast, fields: QuotaFields, timeZone: string | undefined): ReportRow[] {
  const { confidence, usedAtReset, exhaustsAt, resetsAt } = forecast;
  if (confidence === 'low' || usedAtReset === undefined) return [];
  const limit = limitOf(fields);
  const ofLimit = limit === undefined ? '' : ` of ${grouped(limit)}`;
  const atReset: ReportRow = { label: 'At reset', value: `about ${grouped(usedAtReset)}${ofLimit}` };
  if (exhaustsAt === undefined) return [atReset];
  const remark = `(${formatDuration(resetsAt.getTime() - exhaustsAt.getTime())} before reset)`;
  const value = `about ${localTime(exhaustsAt.getTime(), timeZone)}`;
  return [atReset, { label: 'Runs out', value, remark, isWarning: true }];
}

function toLastRow({ safePerDay, safeIntervalMs }: QuotaForecast): ReportRow[] {
  if (safePerDay === undefined || safeIntervalMs === undefined) return [];
  const remark = `(one every ${formatDuration(safeIntervalMs)})`;
  return [{ label: 'To last', value: `${perDayText(safePerDay)} requests/day`, remark }];
}

/** One decimal where it matters. */
function perDayText(perDay: number): string {
  return perDay < 100 ? perDay.toFixed(1) : grouped(Math.floor(perDay));
}

/** The fields of a quota record, as text with the service's own digits; a nested field under its dotted path. */
type QuotaFields = ReadonlyMap<string, string>;

function readFields(json: string): QuotaFields {
  return new Map([...leaves(json)].map(({ path, lexeme }) => [path.join('.'), scalarText(lexeme)]));
}

/** The monthly limit; `undefined` if the plan has none. The service does not document how the Unlimited plan says so. */
function limitOf(fields: QuotaFields): string | undefined {
  const limit = fields.get('monthly_limit') ?? '';
  const isNone = !/^\d+$/.test(limit) || (limit === '0' && fields.get('plan') === 'unlimited');
  return isNone ? undefined : limit;
}

/** Requests left of the month, at least 0; `undefined` if the plan has no numeric limit. */
function remainingOf(fields: QuotaFields): string | undefined {
  const used = fields.get('monthly_used') ?? '';
  const limit = limitOf(fields);
  if (!/^\d+$/.test(used) || limit === undefined) return undefined;
  const remaining = BigInt(limit) - BigInt(used);
  return String(remaining > 0n ? remaining : 0n);
}

/** Appends the `own` fields, as JSON texts, to the record. The fields of the service are unchanged. */
function withFields(json: string, own: Readonly<Record<string, string>>): string {
  const theirs = new Set(memberNames(json, [], Number.POSITIVE_INFINITY));
  const added = Object.entries(own).flatMap(([name, value]) => (theirs.has(name) ? [] : [`"${name}":${value}`]));
  if (added.length === 0) return json;
  const end = json.lastIndexOf('}');
  const separator = theirs.size === 0 ? '' : ',';
  return `${json.slice(0, end).trimEnd()}${separator}${added.join(',')}}`;
}
