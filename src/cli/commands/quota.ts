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
import { dryRun } from '../request/dry-run.ts';
import { type ServiceRequest, type ServiceResponse, sendRequest } from '../request/send-request.ts';
import { requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { LiveView } from '../watch/live-view.ts';
import { watch } from '../watch/watch.ts';
import { type WatchRequest, watchOptions, watchRequest } from '../watch/watch-options.ts';
import { operationCommand } from './operation.ts';

export const quotaCommand: CommandSpec = {
  ...operationCommand(operations.quota),
  summary: 'plan, usage, limits, reset time and forecast (free)',
  description:
    'Plan, usage, limits and reset time of your key, and where its use is heading. Free: never uses your monthly quota.',
  options: () => [
    new Option('--fail-at <share>', 'exit 8 when that much is used: 80% or 800').argParser(parseFailAt),
    new Option('--no-forecast', 'only what the service says'),
    ...watchOptions({ text: 'repeat, from 10s (default: 1m)', shortestMs: 10_000 }),
  ],
  examples: [
    { command: 'fxrates quota', comment: '' },
    { command: 'fxrates quota --fail-at 80%', comment: 'for cron and CI: exit code 8 from 80 % on' },
    { command: 'fxrates quota --get monthly_remaining', comment: 'one number' },
    { command: 'fxrates quota --json', comment: 'with monthly_remaining and forecast' },
    { command: 'fxrates quota --watch --fail-at 90%', comment: 'stays until then' },
  ],
  notes: [
    'In a pipe it prints one "name<TAB>value" line per field. The names are those of the service; monthly_remaining and forecast are added.',
    "The forecast is an estimate from this month's average. It says nothing in the first day and below 20 requests.",
    'The command keeps working when the monthly quota is used up, but the per-minute limit applies.',
  ],
  run: runQuota,
};

async function runQuota(invocation: Invocation): Promise<number> {
  const { quota: operation } = operations;
  const request = { operation, path: operation.path, query: {} };
  const watching = watchRequest(invocation);
  if (invocation.settings.printRequestAs !== undefined) return dryRun(request, invocation);
  if (watching !== undefined) return watchQuota(request, watching, invocation);
  const response = await sendRequest(request, invocation);
  await printQuota(response, invocation);
  checkUse(response, invocation);
  return exitCodes.ok;
}

async function watchQuota(request: ServiceRequest, watching: WatchRequest, invocation: Invocation): Promise<number> {
  const { settings, io } = invocation;
  requireBaseUrl(settings);
  const key = await requireKey(settings, io); // once: stdin cannot be read again
  const view = new LiveView(invocation);
  const interval = { intervalMs: watching.intervalMs ?? DEFAULT_INTERVAL_MS, reason: 'free' };
  const round = async () => {
    const response = await sendRequest(request, invocation, { key });
    const text = await tableText(response, invocation);
    const json = await recordWithForecast(response, invocation);
    await view.show({ text, json, interval, print: () => printQuota(response, invocation) });
    checkUse(response, invocation);
    return interval;
  };
  return watch(invocation, { count: watching.count, round, onRemark: view.keep });
}

const DEFAULT_INTERVAL_MS = 60_000;

/** @throws CliError when `--fail-at` is reached */
function checkUse(response: ServiceResponse, { options }: Invocation): void {
  const failAt = options['failAt'] as FailAt | undefined; // as parseFailAt made it
  const failure = failAt && usedTooMuch(readFields(recordOf(response)), failAt);
  if (failure !== undefined) throw failure;
}

async function printQuota(response: ServiceResponse, invocation: Invocation): Promise<void> {
  const { settings, screen } = invocation;
  if (settings.output === 'raw') return printRaw(response.rawBody, invocation);
  const isPlain = settings.output === 'auto' && settings.get.length === 0;
  if (isPlain && screen.out.isTTY) return screen.printText(await tableText(response, invocation));
  const json = await recordWithForecast(response, invocation);
  return printJson(json, isPlain ? { ...invocation, settings: { ...settings, output: 'tsv' } } : invocation);
}

async function tableText(response: ServiceResponse, { screen, io, options }: Invocation): Promise<string> {
  const forecast = options['forecast'] === false ? undefined : await forecastOf(response);
  const context = { style: screen.out, now: response.receivedAt, key: response.key, timeZone: io.timeZone, forecast };
  return quotaTable(recordOf(response), context);
}

async function recordWithForecast(response: ServiceResponse, { options }: Invocation): Promise<string> {
  const record = recordOf(response);
  const remaining = { monthly_remaining: remainingOf(readFields(record)) ?? 'null' };
  if (options['forecast'] === false) return withFields(record, remaining);
  return withFields(record, { ...remaining, forecast: forecastJson(await forecastOf(response)) });
}

/** The client is loaded by now: it asked. */
async function forecastOf({ data, receivedAt }: ServiceResponse): Promise<QuotaForecast | undefined> {
  const { forecastQuota } = await import('../../client/index.ts');
  return forecastQuota(data as QuotaData, receivedAt); // parsed with the schema by the client
}

function recordOf({ rawBody }: ServiceResponse): string {
  return selectValue(rawBody, ['data']) ?? '{}';
}
