import { Option } from 'commander';
import type { QuotaData, QuotaForecast } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import type { CommandSpec } from '../command-spec.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { selectValue } from '../json/select-value.ts';
import { type FailAt, parseFailAt, usedTooMuch } from '../output/fail-at.ts';
import { forecastJson } from '../output/forecast-json.ts';
import { printJson, printRaw } from '../output/print-json.ts';
import { readFields, remainingOf, withFields } from '../output/quota-fields.ts';
import { quotaTable } from '../output/quota-table.ts';
import { type Answer, askService } from '../service/ask-service.ts';
import { rehearse } from '../service/rehearse.ts';
import { operationCommand } from './operation.ts';

export const quotaCommand: CommandSpec = {
  ...operationCommand(operations.quota),
  summary: 'plan, usage, limits, reset time and forecast (free)',
  description:
    'Plan, usage, limits and reset time of your key, and where its use is heading. Free: never uses your monthly quota.',
  options: () => [
    new Option('--fail-at <share>', 'exit 8 when that much is used: 80% or 800').argParser(parseFailAt),
    new Option('--no-forecast', 'only what the service says'),
  ],
  examples: [
    { command: 'fxrates quota', comment: '' },
    { command: 'fxrates quota --fail-at 80%', comment: 'for cron and CI: exit code 8 from 80 % on' },
    { command: 'fxrates quota --get monthly_remaining', comment: 'one number' },
    { command: 'fxrates quota --json', comment: 'with monthly_remaining and forecast' },
  ],
  notes: [
    'In a pipe it prints one "name<TAB>value" line per field. The names are those of the service; monthly_remaining and forecast are added.',
    "The forecast is an estimate from this month's average. It says nothing in the first day and below 20 requests.",
    'The command keeps working when the monthly quota is used up, but the per-minute limit applies.',
  ],
  run: runQuota,
};

async function runQuota(invocation: Invocation): Promise<number> {
  const { settings, options } = invocation;
  const request = { operation: operations.quota, path: operations.quota.path, query: {} };
  if (settings.rehearsal !== undefined) return rehearse(request, invocation);
  const answer = await askService(request, invocation);
  await printQuota(answer, invocation);
  const record = recordOf(answer);
  const failAt = options['failAt'] as FailAt | undefined; // as parseFailAt made it
  const failure = failAt && usedTooMuch(readFields(record), failAt);
  if (failure !== undefined) throw failure;
  return exitCodes.ok;
}

async function printQuota(answer: Answer, invocation: Invocation): Promise<void> {
  const { settings, screen, io, options } = invocation;
  if (settings.output === 'raw') return printRaw(answer.rawBody, invocation);
  const record = recordOf(answer);
  const isForecast = options['forecast'] !== false;
  const forecast = isForecast ? await forecastOf(answer) : undefined;
  const isPlain = settings.output === 'auto' && settings.get.length === 0;
  if (isPlain && screen.out.isTTY) {
    const context = { face: screen.out, now: answer.at, key: answer.key, timeZone: io.timeZone, forecast };
    return screen.tell(quotaTable(record, context));
  }
  const remaining = { monthly_remaining: remainingOf(readFields(record)) ?? 'null' };
  const json = withFields(record, isForecast ? { ...remaining, forecast: forecastJson(forecast) } : remaining);
  return printJson(json, isPlain ? { ...invocation, settings: { ...settings, output: 'tsv' } } : invocation);
}

/** The client is loaded by now: it asked. */
async function forecastOf({ data, at }: Answer): Promise<QuotaForecast | undefined> {
  const { forecastQuota } = await import('../../client/index.ts');
  return forecastQuota(data as QuotaData, at); // parsed with the schema by the client
}

function recordOf({ rawBody }: Answer): string {
  return selectValue(rawBody, ['data']) ?? '{}';
}
