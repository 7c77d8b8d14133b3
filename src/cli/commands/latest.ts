import { Option } from 'commander';
import type { PollSchedule, QuotaForecast } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { tokens } from '../../json.ts';
import { nearestName } from '../../nearest-name.ts';
import { checkWritable } from '../../replace-file.ts';
import { visible } from '../../text.ts';
import { fetchOrCache } from '../cache/fetch-or-cache.ts';
import type { CliCommand, Invocation } from '../command.ts';
import { CliError, cannotWrite, changedCommand, relatedCommand, usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileOption } from '../options.ts';
import { dataOf, prettyText, printResponse } from '../output/print-json.ts';
import { valuesTable } from '../output/values-table.ts';
import { EXAMPLE_NAMES } from '../parameters.ts';
import { type OperationRequest, type ServiceResponse, sendQuotaRequest } from '../request/send-request.ts';
import { requireKey } from '../settings/api-key.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { durationOption, formatDuration } from '../settings/duration.ts';
import { addToFixture, requireFixture } from '../storage/fixture-file.ts';
import type { StreamStyle } from '../terminal/screen.ts';
import { grouped } from '../terminal/text.ts';
import { LiveView, type WatchOptions, type WatchRequest, watch, watchOptions, watchRequest } from '../watch/watch.ts';
import {
  operationCommand,
  operationRequest,
  type ResponseOptions,
  responseOptions,
  runOperation,
} from './operation.ts';

const { latest } = operations;

interface LatestCommandOptions extends ResponseOptions, WatchOptions {
  readonly fixtureOut?: string;
}

export function latestCommand(): CliCommand {
  const command = operationCommand(latest, () => [
    ...responseOptions(latest),
    ...watchOptions({ text: 'repeat; default: as often as the quota allows', shortestMs: 1000 }),
    new Option('--force', 'with --watch: continue even if that exhausts the quota'),
    fileOption('--fixture-out <file>', 'append the response to a file for mock --replay'),
  ]);
  return command
    .about({
      summary: command.summary(),
      description: command.description(),
      examples: [
        { command: 'fxrates latest', comment: 'everything the service returns' },
        { command: 'fxrates latest base=USD symbols=EUR,GBP', comment: 'parameters are sent unchanged' },
        { command: 'fxrates latest base=USD --get rates.EUR', comment: 'one value, digits unchanged' },
        { command: 'fxrates latest -o csv > rates.csv', comment: 'for a spreadsheet' },
        { command: 'fxrates latest --watch', comment: 'as often as the quota allows' },
        { command: 'fxrates latest --cache snapshot', comment: 'at most one request per snapshot' },
      ],
      notes: [
        'The service does not document the parameters or the fields of this endpoint, so fxrates neither checks nor changes them.',
      ],
    })
    .runs(runLatest);
}

async function runLatest(invocation: Invocation<LatestCommandOptions>): Promise<number> {
  const { options, settings } = invocation;
  const request = operationRequest(latest, invocation);
  const watching = watchRequest(invocation);
  await remarkOnNames(request, invocation);
  if (settings.printRequestAs !== undefined) return runOperation(latest, invocation);
  if (watching !== undefined) {
    refuseSingleResponseOptions(options);
    return watchLatest(request, watching, invocation);
  }
  if (options.fixtureOut === undefined) return runOperation(latest, invocation);
  return record(options.fixtureOut, request, invocation);
}

/** A misspelled parameter may be ignored by the service, and the response then has other rates. */
async function remarkOnNames({ query }: OperationRequest, { screen }: Invocation): Promise<void> {
  for (const name of Object.keys(query)) {
    const nearest = EXAMPLE_NAMES.includes(name) ? undefined : nearestName(name, EXAMPLE_NAMES);
    if (nearest !== undefined) await screen.remark(`'${visible(name)}' is sent as typed; did you mean ${nearest}?`);
  }
}

function refuseSingleResponseOptions({ cache, offline, shape, fixtureOut, envelope }: LatestCommandOptions): void {
  const typed = { cache, offline, shape, 'fixture-out': fixtureOut, envelope };
  const name = Object.entries(typed).find(([, value]) => value !== undefined)?.[0];
  if (name !== undefined) throw usageError(`--watch and --${name} cannot be used together`);
}

async function record(
  path: string,
  request: OperationRequest,
  invocation: Invocation<LatestCommandOptions>,
): Promise<number> {
  // Both before a request uses quota.
  await requireFixture(path);
  await checkWritable(path).catch(cannotWrite(path));
  const response = await fetchOrCache(request, invocation);
  await printResponse(response, invocation); // first, because it has used quota
  await addToFixture(path, { query: request.query, rawBody: response.rawBody }, invocation);
  return exitCodes.ok;
}

/** `latest --watch`: uses only so much of the month that enough is left until the reset. `quota` is free. */
async function watchLatest(
  request: OperationRequest,
  watching: WatchRequest,
  invocation: Invocation<LatestCommandOptions>,
): Promise<number> {
  const { settings, io, options } = invocation;
  requireBaseUrl(settings);
  const key = await requireKey(settings, io); // once: stdin cannot be read again
  const { data, receivedAt } = await sendQuotaRequest(invocation, { key });
  const { forecastQuota } = await import('../../client/index.ts'); // already loaded for the request
  const forecast = forecastQuota(data, receivedAt);
  const refused = options.force ? undefined : unsafeWatch(watching, forecast, invocation);
  if (refused !== undefined) throw refused;
  const view = new LiveView(invocation);
  const changes = new Changes(invocation.screen.out);
  const show = (response: ServiceResponse, { intervalMs, reason }: PollSchedule) => {
    const json = dataOf(response.rawBody);
    const interval = { intervalMs, reason: REASONS[reason] };
    return view.show({ ...changes.mark(json), json, interval, print: () => printResponse(response, invocation) });
  };
  const { intervalMs: every = 'quota', count } = watching;
  return watch(invocation, { request, key, count, every, show, onRemark: view.keep });
}

const REASONS: Readonly<Record<PollSchedule['reason'], string>> = {
  every: 'the interval of --watch',
  limit: 'the limit per minute',
  snapshot: 'the interval of snapshots',
  quota: 'so that the quota lasts',
  unknown: 'the quota is not known',
};

/** Marks the numbers that differ from those of the response before. */
class Changes {
  readonly #style: StreamStyle;
  #before: readonly string[] = [];

  constructor(style: StreamStyle) {
    this.#style = style;
  }

  mark(json: string): { readonly text: string; readonly remark: string | undefined } {
    const before = this.#before;
    const numbers = [...tokens(json)].flatMap(({ kind, start, end }) =>
      kind === 'number' ? [json.slice(start, end)] : [],
    );
    this.#before = numbers;
    // By position; responses of another shape are not compared.
    const isComparable = before.length === numbers.length;
    const { palette } = this.#style;
    const painter = () => {
      let index = 0;
      return (lexeme: string) => (isComparable && before[index++] !== lexeme ? palette.heading(lexeme) : lexeme);
    };
    const text = valuesTable(json, this.#style, painter()) ?? prettyText(json, palette, painter());
    const changedCount = isComparable ? numbers.filter((number, at) => number !== before[at]).length : 0;
    return { text, remark: isComparable ? `${changedCount} changed` : undefined };
  }
}

/** The error for a watch that would use up the month; `undefined` if it is safe or unknown. */
function unsafeWatch(
  { intervalMs, count }: WatchRequest,
  forecast: QuotaForecast | undefined,
  { argv }: Pick<Invocation, 'argv'>,
): CliError | undefined {
  const { remaining, resetsAt, safeIntervalMs } = forecast ?? {};
  if (remaining === undefined || resetsAt === undefined) return undefined;
  if (safeIntervalMs === undefined) return usedUp(resetsAt, argv);
  const isSafe = Number.isFinite(count) ? count <= remaining : intervalMs === undefined || intervalMs >= safeIntervalMs;
  if (isSafe) return undefined;
  const asked = Number.isFinite(count) ? `${grouped(count)} responses` : `--watch ${durationOption(intervalMs ?? 0)}`;
  return new CliError(`${asked} would use up the monthly quota`, {
    code: 'watch_unsafe',
    exitCode: exitCodes.quota,
    why: `${grouped(remaining)} requests are left, enough for one every ${formatDuration(safeIntervalMs)}`,
    resetsAt: resetsAt.toISOString(),
    hints: [
      `As often as the quota allows:  ${changedCommand(argv, { without: ['--watch=', '--count='], add: ['--watch'] })}`,
      `To continue anyway:  ${changedCommand(argv, { add: ['--force'] })}`,
    ],
  });
}

function usedUp(resetsAt: Date, argv: readonly string[]): CliError {
  return new CliError('the monthly quota is used up', {
    code: 'quota_exhausted',
    exitCode: exitCodes.quota,
    resetsAt: resetsAt.toISOString(),
    hints: [`See:  ${relatedCommand(['quota'], argv)}`],
  });
}
