import type { QuotaData } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { maskKey } from '../../redactor.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { dataOf } from '../output/print-json.ts';
import { printReport, type ReportRow, reportText } from '../output/report.ts';
import type { CliCommand } from '../parser/command.ts';
import type { ParamOptions } from '../parser/parameters.ts';
import { type OperationRequest, type ServiceResponse, sendRequest } from '../request/send-request.ts';
import { CliOption, type ValuesOf } from '../settings/options.ts';
import type { Invocation } from '../settings/settings.ts';
import { formatDuration } from '../settings/values.ts';
import { leaves, memberTexts, scalarText } from '../terminal/json-text.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { grouped, localTime } from '../terminal/text.ts';
import { forecastQuota, limitOf, ofLimit, type QuotaForecast, remainingOf } from './forecast.ts';
import { operationCommand } from './operation.ts';
import { watch, watchOptions } from './watch.ts';

const { quota } = operations;

const quotaOptions = () => [
  new CliOption('--fail-at <share>', 'exit with 8 at this usage or more: 80%, 0.8 or 800', parseFailAt),
  ...watchOptions(quota, 'repeat, from 10s (default: 1m)', { shortestMs: 10_000 }),
];

type QuotaOptions = ParamOptions & ValuesOf<typeof quotaOptions>;

export function quotaCommand(): CliCommand {
  return operationCommand(quota, quotaOptions, runQuota).about({
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
  });
}

const DEFAULT_INTERVAL_MS = 60_000;

async function runQuota(request: OperationRequest, invocation: Invocation<QuotaOptions>): Promise<void> {
  const { options } = invocation;
  const show = (response: ServiceResponse) => {
    const record = recordOf(response);
    const check = () => checkUse(record, options);
    return { text: () => quotaTable(record, invocation), json: record.json, check };
  };
  const every = typeof options.watch === 'number' ? options.watch : DEFAULT_INTERVAL_MS;
  if (options.watch !== undefined) return watch(invocation, { request, every, show });
  const shown = show(await sendRequest(request, invocation));
  await printReport(shown, invocation);
  shown.check();
}

/** The quota record of a key, and what follows from it. */
interface QuotaRecord {
  readonly response: ServiceResponse;
  readonly data: QuotaData;
  /** The monthly limit; `undefined` if the plan has none. */
  readonly limit: number | undefined;
  /** Requests left of the month, at least 0; `undefined` without a limit. */
  readonly remaining: number | undefined;
  readonly forecast: QuotaForecast | undefined;
  /** The JSON of the service with added fields. */
  readonly json: string;
}

function recordOf(response: ServiceResponse): QuotaRecord {
  const data = response.data as QuotaData; // parsed with the schema by the client
  const limit = limitOf(data);
  const remaining = remainingOf(data);
  const forecast = forecastQuota(data, response.receivedAt);
  const added = { monthly_remaining: String(remaining ?? null), forecast: forecastJson(forecast) };
  const json = withFields(dataOf(response.rawBody), added);
  return { response, data, limit, remaining, forecast, json };
}

/** `--fail-at 80%` or `--fail-at 800`. */
interface FailAt {
  readonly text: string;
  readonly amount: number;
  readonly isPercent: boolean;
}

function parseFailAt(text: string): FailAt {
  const [, fraction] = /^0?(\.\d{1,5})$/.exec(text) ?? [];
  if (fraction !== undefined) return { text, amount: Number(`${fraction}e2`), isPercent: true };
  const [, requests, percent] = /^(?:(\d{1,15})|(\d{1,15}(?:\.\d{1,3})?)%)$/.exec(text) ?? [];
  if (requests === undefined && percent === undefined) {
    throw usageError(
      `--fail-at expects a share of the limit or a number of requests, got '${text}'`,
      'e.g. 80%, 0.8, 800',
    );
  }
  if (Number(percent) > 100) {
    throw usageError(`--fail-at expects at most 100%, got '${text}'`, 'the usage never exceeds the limit');
  }
  return { text, amount: Number(requests ?? percent), isPercent: percent !== undefined };
}

/** A share of an unlimited quota is never reached. @throws CliError when `--fail-at` is reached */
function checkUse({ data, limit }: QuotaRecord, { failAt }: QuotaOptions): void {
  if (failAt === undefined) return;
  const { text, amount, isPercent } = failAt;
  const used = data.monthly_used;
  // Thousandths of a percent are whole numbers, which compare exactly.
  const isShareReached = limit !== undefined && used * 100_000 >= Math.round(amount * 1000) * limit;
  if (isPercent ? !isShareReached : used < amount) return;
  throw new CliError(`the monthly quota has reached --fail-at ${text}`, {
    code: 'fail_at',
    why: `${grouped(used)}${ofLimit(limit)} used`,
    facts: { resets_at: data.resets_at },
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

/** Fields with their own label. Other fields have a row with their name. */
const KNOWN = [
  'plan',
  'monthly_used',
  'monthly_limit',
  'monthly_remaining',
  'rate_limit_per_minute',
  'snapshot_granularity',
  'historical_days',
  'resets_at',
];

/** The record for people. */
function quotaTable(record: QuotaRecord, { screen: { out }, io: { timeZone } }: Invocation): string {
  const { data, remaining, response } = record;
  const { key, receivedAt, rawBody } = response;
  const others = [...leaves(dataOf(rawBody))].filter(({ path: [name = ''] }) => !KNOWN.includes(name));
  const rows: ReportRow[] = [
    { label: 'Plan', value: data.plan },
    { label: 'Key', value: maskKey(key.secret), remark: `(from ${key.source})` },
    usedRow(record, out),
    {
      label: 'Remaining',
      value: remaining === undefined ? 'no fixed limit' : grouped(remaining),
      remark: remaining === 0 ? '(used up)' : undefined,
    },
    resetRow(data, receivedAt, timeZone),
    { label: 'Rate limit', value: `${grouped(data.rate_limit_per_minute)} requests/min` },
    { label: 'Snapshots', value: data.snapshot_granularity.replace(/^(\d+)min$/, 'every $1 min') },
    { label: 'History', value: `${grouped(data.historical_days)} days` },
    // The digits of a field that is not documented stay those of the service.
    ...others.map(({ path, lexeme }) => ({ label: path.join('.'), value: scalarText(lexeme) })),
  ];
  const ofForecast = forecastRows(record, timeZone);
  return [rows, ofForecast]
    .filter(({ length }) => length > 0)
    .map((block) => reportText(block, out))
    .join('\n');
}

function usedRow({ data, limit }: QuotaRecord, style: StreamStyle): ReportRow {
  const used = data.monthly_used;
  const share = limit === 0 ? 1 : used / (limit ?? 1);
  const remark = limit === undefined ? '(no fixed limit)' : bar(share, style);
  return { label: 'Used', value: grouped(used) + ofLimit(limit), remark };
}

const BAR_WIDTH = 16; // fits 40 columns

/** `[███████████████░░░░░] 74.2 %`; the number carries the meaning, colour only repeats it. */
function bar(share: number, { palette }: StreamStyle): string {
  const cells = Math.min(BAR_WIDTH, Math.max(0, Math.round(share * BAR_WIDTH)));
  const paint = share >= 1 ? palette.failure : share >= 0.8 ? palette.warning : palette.good;
  return `[${paint('█'.repeat(cells))}${'░'.repeat(BAR_WIDTH - cells)}] ${(share * 100).toFixed(1)} %`;
}

function resetRow({ resets_at: text }: QuotaData, now: number, timeZone: string | undefined): ReportRow {
  const at = Date.parse(text);
  const remark = at > now ? `(in ${formatDuration(at - now)})` : '(in the past; is a clock wrong?)';
  return { label: 'Resets', value: localTime(at, timeZone), remark };
}

/** The forecast for people. If it is too early for a forecast, or the quota is used up, the text says that. */
function forecastRows({ forecast, limit, remaining }: QuotaRecord, timeZone: string | undefined): ReportRow[] {
  if (forecast === undefined) return [];
  if (remaining === 0) return [{ label: 'Forecast', value: 'used up; requests are served after the reset' }];
  const { confidence, perDay = 0, usedAtReset, exhaustsAt, resetsAt, safePerDay, safeIntervalMs } = forecast;
  const isEarly = confidence === 'low';
  const basis = `estimate, from this month's average of ${perDayText(perDay)} requests/day`;
  const rows: ReportRow[] = [{ label: 'Forecast', value: isEarly ? 'too early to tell' : basis }];
  if (!isEarly && usedAtReset !== undefined) {
    rows.push({ label: 'At reset', value: `about ${grouped(usedAtReset)}${ofLimit(limit)}` });
  }
  if (!isEarly && exhaustsAt !== undefined) {
    const value = `about ${localTime(exhaustsAt.getTime(), timeZone)}`;
    const remark = `(${formatDuration(resetsAt.getTime() - exhaustsAt.getTime())} before reset)`;
    rows.push({ label: 'Runs out', value, remark, isWarning: true });
  }
  if (safePerDay !== undefined && safeIntervalMs !== undefined) {
    const remark = `(one every ${formatDuration(safeIntervalMs)})`;
    rows.push({ label: 'To last', value: `${perDayText(safePerDay)} requests/day`, remark });
  }
  return rows;
}

/** One decimal where it matters. */
function perDayText(perDay: number): string {
  return perDay < 100 ? perDay.toFixed(1) : grouped(Math.floor(perDay));
}

/** Appends the `own` fields, as JSON texts, to the record, which has fields. Those of the service are unchanged. */
function withFields(json: string, own: Readonly<Record<string, string>>): string {
  const theirs = memberTexts(json);
  const added = Object.entries(own).flatMap(([name, value]) => (theirs.has(name) ? [] : `,"${name}":${value}`));
  return `${json.slice(0, json.lastIndexOf('}')).trimEnd()}${added.join('')}}`;
}
