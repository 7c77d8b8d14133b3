import { Option } from 'commander';
import { operations } from '../../../generated/operations.ts';
import { fetchOrCache } from '../../cache/fetch-or-cache.ts';
import type { CommandSpec, Invocation } from '../../command.ts';
import { usageError } from '../../errors/cli-error.ts';
import { exitCodes } from '../../exit-codes.ts';
import { printResponse } from '../../output/print-response.ts';
import { watchOptions, watchRequest } from '../../watch/watch.ts';
import { answerOptions, operationCommand, operationRequest } from '../operation.ts';
import { readFixture, saveFixture } from './save-fixture.ts';
import { watchLatest } from './watch-latest.ts';

const { latest } = operations;
const ownOptions = () => [
  ...answerOptions(latest),
  ...watchOptions({ text: 'repeat; default: as often as the quota allows', shortestMs: 1000 }),
  new Option('--force', 'with --watch: even if that exhausts the quota'),
  new Option('--fixture-out <file>', 'append the response to a file for mock --replay'),
];
const generated = operationCommand(latest, ownOptions);

export const latestCommand: CommandSpec = {
  ...generated,
  examples: [
    { command: 'fxrates latest', comment: 'everything the service returns' },
    { command: 'fxrates latest base=USD symbols=EUR,GBP', comment: 'parameters are sent as they are' },
    { command: 'fxrates latest base=USD --get rates.EUR', comment: 'one value, digits unchanged' },
    { command: 'fxrates latest -o csv > rates.csv', comment: 'for a spreadsheet' },
    { command: 'fxrates latest --watch', comment: 'paced so that the quota lasts' },
    { command: 'fxrates latest --cache snapshot', comment: 'asks only when there can be news' },
  ],
  notes: [
    'The service does not document the parameters or the fields of this endpoint, so fxrates neither checks nor changes them.',
  ],
  run: runLatest,
};

function runLatest(invocation: Invocation): Promise<number> {
  const watching = watchRequest(invocation);
  const fixture = invocation.options['fixtureOut'];
  if (watching !== undefined && invocation.settings.printRequestAs === undefined) {
    refuseOneAnswerOptions(invocation);
    return watchLatest(operationRequest(latest, invocation, ownOptions), watching, invocation);
  }
  if (typeof fixture === 'string' && invocation.settings.printRequestAs === undefined)
    return record(fixture, invocation);
  return generated.run?.(invocation) ?? Promise.resolve(exitCodes.failure);
}

function refuseOneAnswerOptions({ options }: Invocation): void {
  for (const name of ['cache', 'offline', 'shape', 'fixtureOut', 'envelope']) {
    const typed = name === 'fixtureOut' ? 'fixture-out' : name;
    if (options[name] !== undefined) throw usageError(`--watch and --${typed} cannot be used together`);
  }
}

async function record(path: string, invocation: Invocation): Promise<number> {
  const request = operationRequest(latest, invocation, ownOptions);
  const fixture = await readFixture(path); // before anything is spent
  const response = await fetchOrCache(request, invocation);
  await printResponse(response, invocation); // first: it is paid for
  await saveFixture(fixture, { query: request.query, rawBody: response.rawBody }, invocation);
  return exitCodes.ok;
}
