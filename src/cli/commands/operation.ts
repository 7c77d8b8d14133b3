import type { Option } from 'commander';
import type { Operation } from '../../operation.ts';
import { usageError } from '../errors/cli-error.ts';
import { dataOf, printJson } from '../output/print-json.ts';
import { CliCommand } from '../parser/command.ts';
import {
  exampleWord,
  type ParamOptions,
  parameterEntry,
  parameterOptions,
  parametersArgument,
  queryOf,
  typedParameters,
} from '../parser/parameters.ts';
import { cacheOf } from '../request/response-cache.ts';
import { type OperationRequest, printCurl, type ServiceResponse, sendRequest } from '../request/send-request.ts';
import { CliOption, connectionOptions, dataOptions, requestOptions, type ValuesOf } from '../settings/options.ts';
import type { Invocation } from '../settings/settings.ts';
import { formatDuration, parseDuration } from '../settings/values.ts';
import { lowerFirst } from '../terminal/text.ts';

/** What was typed for the response of an operation. */
export type ResponseOptions = ParamOptions & ValuesOf<typeof responseOptions>;

/**
 * The command of an operation, generated from the contract, so a new operation needs no code here. `options`: those that
 * are not in the contract. `run` prints the response of the request.
 */
export function operationCommand<Options extends ResponseOptions = ResponseOptions>(
  operation: Operation,
  options: () => readonly Option[] = () => responseOptions(operation),
  run: (request: OperationRequest, invocation: Invocation<Options>) => Promise<void> = sendAndPrint,
): CliCommand {
  const { id, description, parameters, consumesQuota, deprecated } = operation;
  const summary = operation.summary.replace(/\.$/, '');
  const note = `${deprecated ? 'deprecated, ' : ''}${consumesQuota ? 'uses quota' : 'free'}`;
  const command = new CliCommand(id)
    .about({
      summary: `${lowerFirst(summary)} (${note})`,
      description: `${summary}. ${deprecated ? 'Deprecated. ' : ''}${consumesQuota ? 'Uses one request of your monthly quota.' : 'Free: never uses your monthly quota.'}`,
      notes: description.split('\n\n').filter((paragraph) => paragraph !== ''),
      parameters: parameters.map(parameterEntry),
      examples: [exampleOf(operation)],
    })
    .with(() => [...(operation.query === 'none' ? [] : parameterOptions([operation])), ...options()])
    .with(() => [...dataOptions(), ...connectionOptions(), ...requestOptions()])
    .runs<Options>(async (invocation) => {
      const request = { operation, query: queryOf(operation, typedParameters(invocation, operation)) };
      await (invocation.settings.printsCurl ? printCurl(request, invocation) : run(request, invocation));
    });
  const text = operation.query === 'named' ? 'parameters' : 'parameters, sent unchanged';
  if (operation.query !== 'none') command.takes(parametersArgument([operation], text));
  return command;
}

/**
 * Sends the request, or with `--cache` uses a stored response. Prints the response, with a footer for people. `keep` gets it
 * also if it cannot be printed, because it may have used quota.
 */
export async function sendAndPrint(
  request: OperationRequest,
  invocation: Invocation<ResponseOptions>,
  keep?: (response: ServiceResponse) => Promise<void>,
): Promise<void> {
  const response = await sendRequest(request, invocation, { cache: cacheOf(invocation) });
  const { rawBody, source, ageMs } = response;
  const event = { event: 'cached_response', age_seconds: Math.floor(ageMs / 1000) };
  if (source === 'cache') await invocation.screen.report(`cached response, ${formatDuration(ageMs)} old`, event);
  try {
    await printJson(invocation.options.envelope ? rawBody.trim() : dataOf(rawBody), invocation);
    await printFooter(request.operation, response, invocation);
  } finally {
    await keep?.(response);
  }
}

/** For people only: the duration, and the use of the quota. */
async function printFooter(
  { consumesQuota }: Operation,
  { status, durationMs, source }: ServiceResponse,
  { screen, settings }: Invocation,
): Promise<void> {
  if (!screen.isForPeople || !screen.err.isTTY || settings.get.length > 0) return;
  if (source === 'cache') return; // its age was printed before
  const cost = consumesQuota ? ' · used 1 of your monthly requests' : '';
  await screen.info(`\n${screen.err.palette.faint(`HTTP ${status} · ${Math.round(durationMs)} ms${cost}`)}\n`);
}

/** The options for printing and caching a response. */
export function responseOptions({ consumesQuota }: Operation) {
  return [
    new CliOption('--envelope', 'print the whole response, not only its "data"'),
    ...(consumesQuota ? [cacheOption('use a cached response up to this age: 10m, snapshot')] : []),
  ];
}

export function cacheOption(description: string) {
  return new CliOption('--cache <age>', description, Object.assign(parseCacheAge, { choices: ['snapshot'] }));
}

/** `--cache 10m` or `--cache snapshot`. */
function parseCacheAge(text: string): number | 'snapshot' {
  if (text === 'snapshot') return text;
  const maxAgeMs = /^\d/.test(text) ? parseDuration(text, '--cache') : 0;
  if (maxAgeMs > 0) return maxAgeMs;
  throw usageError(`--cache expects a time above 0 or snapshot, got '${text}'`, 'e.g. 10m');
}

/** With the parameters that the operation requires. */
export function exampleOf({ id, parameters }: Operation): { readonly command: string; readonly comment: string } {
  const required = parameters.filter((parameter) => parameter.required);
  return { command: ['fxrates', id, ...required.map(exampleWord)].join(' '), comment: '' };
}
