import { promises as fs } from 'node:fs';
import type { QuotaData } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { parseJson } from '../../json.ts';
import { nearestName } from '../../nearest-name.ts';
import type { Operation } from '../../operation.ts';
import { visible } from '../../text.ts';
import { CliError, cannotWrite, relatedCommand, usageError } from '../errors/cli-error.ts';
import { asTable, dataOf } from '../output/print-json.ts';
import type { CliCommand } from '../parser/command.ts';
import { EXAMPLE_NAMES, type ParamOptions } from '../parser/parameters.ts';
import type { OperationRequest } from '../request/send-request.ts';
import { CliOption, fileOption, type ValuesOf } from '../settings/options.ts';
import { checkOutputFile } from '../settings/resolve-key.ts';
import type { Invocation } from '../settings/settings.ts';
import { durationOption, formatDuration } from '../settings/values.ts';
import { compactJson } from '../terminal/json-text.ts';
import { grouped } from '../terminal/text.ts';
import { forecastQuota, type QuotaForecast } from './forecast.ts';
import { exampleOf, operationCommand, responseOptions, sendAndPrint } from './operation.ts';
import { type WatchOptions, watch, watchOptions } from './watch.ts';

const latest: Operation = operations.latest;

const FREE_FORM_EXAMPLES = [
  { command: 'fxrates latest base=USD symbols=EUR,GBP', comment: 'parameters are sent unchanged' },
  { command: 'fxrates latest base=USD --get rates.EUR', comment: 'one value, digits unchanged' },
];

const latestOptions = () => [
  ...responseOptions(latest),
  ...watchOptions(latest, 'repeat; default: as often as the quota allows', {
    shortestMs: 1000,
    conflicts: ['cache', 'fixtureOut', 'envelope'],
  }),
  new CliOption('--force', 'with --watch: continue even if that exhausts the quota').needs('watch'),
  fileOption('--fixture-out <file>', 'append the response to a file for mock --replay'),
];

type LatestCommandOptions = ParamOptions & ValuesOf<typeof latestOptions>;

export function latestCommand(): CliCommand {
  const { command } = exampleOf(latest);
  return operationCommand(latest, latestOptions, runLatest).about({
    examples: [
      { command, comment: 'everything the service returns' },
      ...(latest.query === 'free-form' ? FREE_FORM_EXAMPLES : []),
      { command: `${command} -o csv > rates.csv`, comment: 'for a spreadsheet' },
      { command: `${command} --watch`, comment: 'as often as the quota allows' },
      { command: `${command} --cache snapshot`, comment: 'at most one request per snapshot' },
    ],
  });
}

async function runLatest(request: OperationRequest, invocation: Invocation<LatestCommandOptions>): Promise<void> {
  const { fixtureOut, watch: interval } = invocation.options;
  if (interval !== undefined) return watchLatest(request, invocation);
  const separator = fixtureOut && (await checkRecording(fixtureOut, invocation)); // before a request uses quota
  // The remark follows the table, in which people look for the reason.
  await sendAndPrint(request, invocation, async ({ rawBody }) => {
    if (fixtureOut === undefined) return;
    const line = `${separator}${recordedLine(request, rawBody, invocation)}`;
    await fs.appendFile(fixtureOut, line).catch(cannotWrite(fixtureOut));
    await invocation.screen.remark(`response added to ${fixtureOut}`);
  }).finally(() => remarkOnNames(request, invocation));
}

/** A misspelled parameter may be ignored by the service, and the response then has other rates. */
async function remarkOnNames({ operation, query }: OperationRequest, { screen }: Invocation): Promise<void> {
  if (operation.query === 'named') return; // unknown names are refused
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
      await remarkOnNames(request, invocation);
      const { data, meta } = await fx.get<QuotaData>(operations.quota.path, { signal }).withMeta();
      if (!options.force) requireSafeWatch(forecastQuota(data, responseOf({ data, meta }).receivedAt), invocation);
    },
    show: ({ rawBody }) => {
      const json = dataOf(rawBody);
      return { text: () => asTable(json, screen.out), json };
    },
  });
}

/** @throws CliError for a watch that would use up the month */
function requireSafeWatch(forecast: QuotaForecast | undefined, { options }: Invocation<WatchOptions>): void {
  const { remaining, resetsAt, safeIntervalMs } = forecast ?? {};
  const { watch, count } = options;
  if (remaining === undefined || resetsAt === undefined) return;
  const facts = { resets_at: resetsAt.toISOString() };
  if (safeIntervalMs === undefined) {
    const hints = [`See:  ${relatedCommand(['quota'], options)}`];
    throw new CliError('the monthly quota is used up', { code: 'quota_exhausted', facts, hints });
  }
  const isSafe = count === undefined ? typeof watch !== 'number' || watch >= safeIntervalMs : count <= remaining;
  if (isSafe) return;
  const asked = count === undefined ? `--watch ${durationOption(Number(watch))}` : `${grouped(count)} responses`;
  throw new CliError(`${asked} would use up the monthly quota`, {
    code: 'watch_unsafe',
    why: `${grouped(remaining)} requests are left, enough for one every ${formatDuration(safeIntervalMs)}`,
    facts,
    hints: ['As often as the quota allows:  --watch without an interval and --count', 'To continue anyway:  --force'],
  });
}

/**
 * Checks the file of recorded responses that a mock server can send, `{"base=EUR":<envelope>}` on each line. Returns what
 * has to precede a further line. @throws CliError for a file with other content, and for one that cannot be written
 */
async function checkRecording(path: string, invocation: Invocation): Promise<'' | '\n'> {
  await checkOutputFile(path, invocation);
  const stats = await fs.stat(path).catch(() => undefined);
  if (!stats?.isFile()) return ''; // reading a pipe, such as that of `>(jq)`, would never end
  const text = await fs.readFile(path, 'utf8').catch(cannotWrite(path, 'usage'));
  const [line = ''] = text.split('\n', 1);
  const [response] = Object.values(Object(parseJson(line)));
  if (text.trim() === '' || typeof Object(response).success === 'boolean') return /[^\n]$/.test(text) ? '\n' : '';
  const advice = 'pass a new path, or a file that --fixture-out has written';
  throw usageError(`--fixture-out ${path} is not a file of recorded responses`, advice);
}

/** A line of the file: the response with its digits unchanged and keys in it masked. */
function recordedLine(request: OperationRequest, rawBody: string, { screen }: Invocation): string {
  return `{${JSON.stringify(queryText(request))}:${screen.secrets.redact(compactJson(rawBody))}}\n`;
}

/** The parameters in the order of their names, encoded as the mock server compares them. */
function queryText({ operation, query }: OperationRequest): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    const texts = [values].flat().map(String);
    const isJoined = operation.parameters.some((parameter) => parameter.name === name && parameter.list === 'comma');
    for (const text of isJoined ? [texts.join(',')] : texts) parameters.append(name, text);
  }
  parameters.sort();
  return parameters.toString();
}
