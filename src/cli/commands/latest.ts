import { promises as fs } from 'node:fs';
import type { QuotaData } from '../../client/index.ts';
import { operations } from '../../generated/operations.ts';
import { isJsonObject, jsonDocuments } from '../../json.ts';
import { nearestName } from '../../nearest-name.ts';
import type { Operation } from '../../operation.ts';
import { visible } from '../../text.ts';
import { CliError, cannotWrite, relatedCommand, systemReason, usageError } from '../errors/cli-error.ts';
import { readLimited } from '../io/io.ts';
import { asTable, dataOf } from '../output/print-json.ts';
import type { CliCommand } from '../parser/command.ts';
import { EXAMPLE_NAMES, type ParamOptions } from '../parser/parameters.ts';
import type { OperationRequest } from '../request/send-request.ts';
import { CliOption, outputFileOption, type ValuesOf } from '../settings/options.ts';
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
  outputFileOption('--fixture-out <file>', 'append the response to a file for mock --replay'),
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
  if (fixtureOut !== undefined) await requireFixture(fixtureOut, invocation); // before a request uses quota
  // The remark follows the table, in which people look for the reason.
  await sendAndPrint(request, invocation, async ({ rawBody }) => {
    if (fixtureOut !== undefined) await addToFixture(fixtureOut, { request, rawBody }, invocation);
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
 * A file of recorded responses that a mock server can send: `{"base=EUR":<envelope>}` on each line, of which the last one
 * of a query counts. It can begin with an object that was written by hand, `{ "base=EUR": <envelope>, … }`, over several lines.
 *
 * @throws CliError for a file with other content, to which no response is added, and for one that cannot be written
 */
async function requireFixture(path: string, invocation: Invocation): Promise<void> {
  await checkOutputFile(path, invocation);
  const stats = await fs.stat(path).catch(() => undefined);
  if (stats?.isFile()) await requireRecorded(path, invocation.io.interrupts.signal); // reading a pipe, such as that of `>(jq)`, would never end
}

async function requireRecorded(path: string, interrupted: AbortSignal): Promise<void> {
  const bytes = await readLimited(path, interrupted, (cause) => {
    throw usageError(`cannot read ${path}`, systemReason(cause));
  });
  const text = bytes.toString();
  const [first] = jsonDocuments(text);
  if (text.trim() === '' || isRecorded(first?.value)) return;
  throw usageError(
    `--fixture-out ${path} is not a file of recorded responses`,
    'pass a new path, or a file that --fixture-out has written',
  );
}

/** Whether the first member of an object is the envelope of a response. */
function isRecorded(value: unknown): boolean {
  const [response] = isJsonObject(value) ? Object.values(value) : [];
  return isJsonObject(response) && typeof response['success'] === 'boolean';
}

/** Adds a response with its digits unchanged; masks keys in it. */
async function addToFixture(
  path: string,
  { request, rawBody }: { readonly request: OperationRequest; readonly rawBody: string },
  { screen }: Invocation,
): Promise<void> {
  const response = screen.secrets.redact(compactJson(rawBody));
  await appendLine(path, `{${JSON.stringify(queryText(request))}:${response}}\n`).catch(cannotWrite(path));
  await screen.remark(`response added to ${path}`);
}

/** One write, so that the lines of commands at the same time do not mix. */
async function appendLine(path: string, line: string): Promise<void> {
  const file = await fs.open(path, 'a+');
  try {
    let rest = Buffer.from(`${(await endsInLine(file)) ? '\n' : ''}${line}`);
    while (rest.length > 0) rest = rest.subarray((await file.write(rest)).bytesWritten);
  } finally {
    await file.close();
  }
}

/** Whether a file ends in the middle of a line, such as after a command that was killed. */
async function endsInLine(file: Awaited<ReturnType<typeof fs.open>>): Promise<boolean> {
  const stats = await file.stat();
  if (!stats.isFile() || stats.size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, stats.size - 1);
  return buffer.toString() !== '\n';
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
