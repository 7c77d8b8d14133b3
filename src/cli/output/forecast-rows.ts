import type { QuotaForecast } from '../../client/index.ts';
import { formatDuration } from '../settings/duration.ts';
import { grouped } from './grouped.ts';
import { localTime } from './local-time.ts';
import { type QuotaFields, remainingOf } from './quota-fields.ts';
import type { ReportRow } from './rows.ts';

/** The forecast for people. What is too early to tell, or used up already, is said instead of projected. */
export function forecastRows(
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
  const limit = fields.get('monthly_limit') ?? '';
  const ofLimit = /^\d+$/.test(limit) ? ` of ${grouped(limit)}` : '';
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
