import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { operations } from '../../../generated/operations.ts';
import { nearestName } from '../../../nearest-name.ts';
import { checkWritable, replaceFile } from '../../../replace-file.ts';
import { visible } from '../../../visible-text.ts';
import { fetchOrCache } from '../../cache/fetch-or-cache.ts';
import type { CommandSpec, Invocation } from '../../command.ts';
import { cannotWrite, fileError, usageError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { jsonFault } from '../../json/json-fault.ts';
import { memberTexts, selectValue } from '../../json/select-value.ts';
import { printResponse } from '../../output/print-json.ts';
import type { OperationRequest, Query } from '../../request/send-request.ts';
import { fileOption } from '../../settings/option-types.ts';
import { withFileLock } from '../../storage/json-file.ts';
import { watchOptions, watchRequest } from '../../watch/watch.ts';
import { operationCommand, operationRequest, responseOptions } from '../operation.ts';
import { watchLatest } from './watch-latest.ts';

const { latest } = operations;
const ownOptions = () => [
  ...responseOptions(latest),
  ...watchOptions({ text: 'repeat; default: as often as the quota allows', shortestMs: 1000 }),
  new Option('--force', 'with --watch: continue even if that exhausts the quota'),
  fileOption('--fixture-out <file>', 'append the response to a file for mock --replay'),
];
const generated = operationCommand(latest, ownOptions);

export const latestCommand: CommandSpec = {
  ...generated,
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
  run: runLatest,
};

/** The parameters of the examples. The service documents none. */
const EXAMPLE_NAMES = ['base', 'symbols'];

/** A misspelled parameter may be ignored by the service, and the response then has other rates. */
async function remarkOnNames({ query }: OperationRequest, { screen }: Invocation): Promise<void> {
  for (const name of Object.keys(query)) {
    const nearest = EXAMPLE_NAMES.includes(name) ? undefined : nearestName(name, EXAMPLE_NAMES);
    if (nearest !== undefined) await screen.remark(`'${visible(name)}' is sent as typed; did you mean ${nearest}?`);
  }
}

async function runLatest(invocation: Invocation): Promise<number> {
  const watching = watchRequest(invocation);
  await remarkOnNames(operationRequest(latest, invocation, ownOptions), invocation);
  if (invocation.settings.printRequestAs !== undefined) return generated.run(invocation);
  if (watching !== undefined) {
    refuseSingleResponseOptions(invocation);
    return watchLatest(operationRequest(latest, invocation, ownOptions), watching, invocation);
  }
  const fixture = invocation.options['fixtureOut'];
  return typeof fixture === 'string' ? record(fixture, invocation) : generated.run(invocation);
}

function refuseSingleResponseOptions({ options }: Invocation): void {
  for (const name of ['cache', 'offline', 'shape', 'fixtureOut', 'envelope']) {
    const typed = name === 'fixtureOut' ? 'fixture-out' : name;
    if (options[name] !== undefined) throw usageError(`--watch and --${typed} cannot be used together`);
  }
}

async function record(path: string, invocation: Invocation): Promise<number> {
  const request = operationRequest(latest, invocation, ownOptions);
  // Both before a request uses quota.
  await readFixture(path);
  await checkWritable(path).catch(cannotWrite(path));
  const response = await fetchOrCache(request, invocation);
  await printResponse(response, invocation); // first, because it has used quota
  await saveFixture(path, { query: request.query, rawBody: response.rawBody }, invocation);
  return exitCodes.ok;
}

/**
 * The texts of the responses by query in a file of recorded responses, `{ "base=EUR": <envelope>, … }`, which a mock server
 * can send. @throws CliError for a file with other content
 */
async function readFixture(path: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '{}';
    throw fileError(`cannot read ${path}`, cause);
  });
  const json = text.trim();
  if (jsonFault(json) !== undefined || !json.startsWith('{') || selectValue(json, ['success']) !== undefined) {
    throw usageError(
      `--fixture-out ${path} is not a file of recorded responses`,
      'pass a new path, or a file that --fixture-out has written',
    );
  }
  return memberTexts(json);
}

/** Adds a response with its digits unchanged, in place of an earlier one to the same query; masks keys in it. */
async function saveFixture(
  path: string,
  { query, rawBody }: { readonly query: Query; readonly rawBody: string },
  { screen, io }: Invocation,
): Promise<void> {
  const write = async () => {
    // Again, because another command may have added a response since.
    const recorded = new Map(await readFixture(path));
    recorded.set(queryText(query), screen.secrets.redact(rawBody.trim()));
    const entries = [...recorded].map(([text, response]) => `  ${JSON.stringify(text)}: ${response}`);
    await replaceFile(path, `{\n${entries.join(',\n')}\n}\n`);
  };
  await withFileLock(path, io.clock, write).catch(cannotWrite(path));
  await screen.remark(`response added to ${path}`);
}

/** The parameters in the order of their names. */
function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of Array.isArray(values) ? values : [values]) parameters.append(name, String(value));
  }
  parameters.sort();
  return parameters.toString();
}
