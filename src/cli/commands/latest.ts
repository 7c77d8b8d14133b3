import { Option } from 'commander';
import type { QuotaData, QuotaForecast } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { nearestName } from '../../nearest-name.ts';
import { visible } from '../../text.ts';
import { CliError, changedCommand, relatedCommand } from '../errors/cli-error.ts';
import { asTable, dataOf } from '../output/print-json.ts';
import type { CliCommand, Invocation } from '../parser/command.ts';
import { fileOption } from '../parser/options.ts';
import { EXAMPLE_NAMES } from '../parser/parameters.ts';
import { dryRun, type OperationRequest } from '../request/send-request.ts';
import { durationOption, formatDuration } from '../settings/duration.ts';
import { grouped } from '../terminal/text.ts';
import { addToFixture, requireFixture } from './fixture-file.ts';
import {
  operationCommand,
  operationRequest,
  type ResponseOptions,
  responseOptions,
  sendAndPrint,
} from './operation.ts';
import { isWatch, type WatchOptions, watch, watchOptions } from './watch.ts';

const { latest } = operations;

interface LatestCommandOptions extends ResponseOptions, WatchOptions {
  readonly fixtureOut?: string;
}

export function latestCommand(): CliCommand {
  return operationCommand(latest, () => [
    ...responseOptions(latest),
    ...watchOptions('repeat; default: as often as the quota allows', {
      shortestMs: 1000,
      conflicts: ['cache', 'offline', 'fixtureOut', 'envelope'],
    }),
    new Option('--force', 'with --watch: continue even if that exhausts the quota'),
    fileOption('--fixture-out <file>', 'append the response to a file for mock --replay'),
  ])
    .about({
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

async function runLatest(invocation: Invocation<LatestCommandOptions>): Promise<void> {
  const { options, settings } = invocation;
  const { fixtureOut } = options;
  const request = operationRequest(latest, invocation);
  const isRepeated = isWatch(options);
  await remarkOnNames(request, invocation);
  if (settings.printRequestAs !== undefined) return dryRun(request, invocation);
  if (isRepeated) return watchLatest(request, invocation);
  if (fixtureOut !== undefined) await requireFixture(fixtureOut); // before a request uses quota
  const { rawBody } = await sendAndPrint(request, invocation);
  if (fixtureOut !== undefined) await addToFixture(fixtureOut, { query: request.query, rawBody }, invocation);
}

/** A misspelled parameter may be ignored by the service, and the response then has other rates. */
async function remarkOnNames({ query }: OperationRequest, { screen }: Invocation): Promise<void> {
  for (const name of Object.keys(query)) {
    const nearest = EXAMPLE_NAMES.includes(name) ? undefined : nearestName(name, EXAMPLE_NAMES);
    if (nearest !== undefined) await screen.remark(`'${visible(name)}' is sent as typed; did you mean ${nearest}?`);
  }
}

/** `latest --watch`: uses only so much of the month that enough is left until the reset. `quota` is free. */
function watchLatest(request: OperationRequest, invocation: Invocation<LatestCommandOptions>): Promise<void> {
  const { options, screen } = invocation;
  return watch(invocation, {
    request,
    every: typeof options.watch === 'number' ? options.watch : 'quota',
    begin: async ({ fx, reporter: { signal }, responseOf }) => {
      const { data, meta } = await fx.get<QuotaData>(operations.quota.path, { signal }).withMeta();
      const { forecastQuota } = await import('../../client/index.ts'); // already loaded for the request
      if (!options.force) requireSafeWatch(forecastQuota(data, responseOf({ data, meta }).receivedAt), invocation);
    },
    show: ({ rawBody }, print) => {
      const json = dataOf(rawBody);
      return print({ text: asTable(json, screen.out), json });
    },
  });
}

/** @throws CliError for a watch that would use up the month */
function requireSafeWatch(
  forecast: QuotaForecast | undefined,
  { argv, options: { watch, count } }: Invocation<WatchOptions>,
): void {
  const { remaining, resetsAt, safeIntervalMs } = forecast ?? {};
  if (remaining === undefined || resetsAt === undefined) return;
  const at = resetsAt.toISOString();
  if (safeIntervalMs === undefined) {
    const hints = [`See:  ${relatedCommand(['quota'], argv)}`];
    throw new CliError('the monthly quota is used up', { code: 'quota_exhausted', resetsAt: at, hints });
  }
  const isSafe = count === undefined ? typeof watch !== 'number' || watch >= safeIntervalMs : count <= remaining;
  if (isSafe) return;
  const asked = count === undefined ? `--watch ${durationOption(Number(watch))}` : `${grouped(count)} responses`;
  throw new CliError(`${asked} would use up the monthly quota`, {
    code: 'watch_unsafe',
    why: `${grouped(remaining)} requests are left, enough for one every ${formatDuration(safeIntervalMs)}`,
    resetsAt: at,
    hints: [
      `As often as the quota allows:  ${changedCommand(argv, { without: ['--watch=', '--count='], add: ['--watch'] })}`,
      `To continue anyway:  ${changedCommand(argv, { add: ['--force'] })}`,
    ],
  });
}
