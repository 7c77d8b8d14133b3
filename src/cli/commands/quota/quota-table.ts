import type { QuotaForecast } from '../../../client/index.ts';
import { maskKey } from '../../../mask-key.ts';
import { leaves, memberNames } from '../../json/select-value.ts';
import { scalarText } from '../../output/delimited-text.ts';
import { type ReportRow, reportText } from '../../output/report.ts';
import type { KeyInUse } from '../../settings/api-key.ts';
import { formatDuration } from '../../settings/duration.ts';
import type { StreamStyle } from '../../terminal/screen.ts';
import { grouped, localTime } from '../../terminal/text.ts';

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
export function quotaTable(json: string, context: TableContext): string {
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
export type QuotaFields = ReadonlyMap<string, string>;

export function readFields(json: string): QuotaFields {
  return new Map([...leaves(json)].map(({ path, lexeme }) => [path.join('.'), scalarText(lexeme)]));
}

/** The monthly limit; `undefined` if the plan has none. The service does not document how the Unlimited plan says so. */
export function limitOf(fields: QuotaFields): string | undefined {
  const limit = fields.get('monthly_limit') ?? '';
  const isNone = !/^\d+$/.test(limit) || (limit === '0' && fields.get('plan') === 'unlimited');
  return isNone ? undefined : limit;
}

/** Requests left of the month, at least 0; `undefined` if the plan has no numeric limit. */
export function remainingOf(fields: QuotaFields): string | undefined {
  const used = fields.get('monthly_used') ?? '';
  const limit = limitOf(fields);
  if (!/^\d+$/.test(used) || limit === undefined) return undefined;
  const remaining = BigInt(limit) - BigInt(used);
  return String(remaining > 0n ? remaining : 0n);
}

/** Appends the `own` fields, as JSON texts, to the record. The fields of the service are unchanged. */
export function withFields(json: string, own: Readonly<Record<string, string>>): string {
  const theirs = new Set(memberNames(json, [], Number.POSITIVE_INFINITY));
  const added = Object.entries(own).flatMap(([name, value]) => (theirs.has(name) ? [] : [`"${name}":${value}`]));
  if (added.length === 0) return json;
  const end = json.lastIndexOf('}');
  const separator = theirs.size === 0 ? '' : ',';
  return `${json.slice(0, end).trimEnd()}${separator}${added.join(',')}}`;
}
