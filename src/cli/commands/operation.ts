import { Option } from 'commander';
import type { Operation } from '../../generated/operations.ts';
import { cacheOption, fetchOrCache } from '../cache/fetch-or-cache.ts';
import type { CommandSpec, Invocation } from '../command.ts';
import { usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { printResponse } from '../output/print-json.ts';
import { namedQuery, parameterOption, parameterOptions, typedParameters } from '../parameters.ts';
import { dryRun, type OperationRequest, type ServiceResponse } from '../request/send-request.ts';
import { rememberCurrencies } from '../storage/seen-currencies.ts';
import { lowerFirst, quoteForShell } from '../terminal/text.ts';

type MakeOptions = () => readonly Option[];
type RunnableSpec = CommandSpec & Required<Pick<CommandSpec, 'run'>>;

/**
 * The command of an operation, generated from the contract, so a new operation needs no code here. `makeOptions`: the
 * options that are not in the contract.
 */
export function operationCommand(
  operation: Operation,
  makeOptions: MakeOptions = () => responseOptions(operation),
): RunnableSpec {
  const { id, description, consumesQuota, deprecated } = operation;
  const summary = operation.summary.replace(/\.$/, '');
  const takesParameters = operation.query !== 'none';
  const note = `${deprecated ? 'deprecated, ' : ''}${consumesQuota ? 'uses quota' : 'free'}`;
  return {
    name: id,
    summary: `${lowerFirst(summary)} (${note})`,
    description: `${summary}. ${deprecated ? 'Deprecated. ' : ''}${consumesQuota ? 'Uses one request of your monthly quota.' : 'Free: never uses your monthly quota.'}`,
    ...(takesParameters ? { argument: PARAMETERS } : {}),
    options: () => {
      const own = ownOptions(operation, makeOptions);
      return [...parameterOptions(operation, own).map(({ option }) => option), ...own];
    },
    notes: description === '' ? [] : [description],
    examples: [exampleOf(operation)],
    usesConnectionSettings: true,
    sendsRequest: true,
    printsData: true,
    takesParameters,
    run: (invocation) => runOperation(operation, invocation, makeOptions),
  };
}

const PARAMETERS = { syntax: '[name=value...]', description: 'parameters, sent unchanged' };

async function runOperation(operation: Operation, invocation: Invocation, makeOptions: MakeOptions): Promise<number> {
  const request = operationRequest(operation, invocation, makeOptions);
  if (invocation.settings.printRequestAs !== undefined) return dryRun(request, invocation);
  const response = await fetchOrCache(request, invocation);
  await printResponse(response, invocation);
  if (operation.consumesQuota) await rememberCurrencies(response.rawBody, invocation.io.env);
  await printFooter(operation, response, invocation);
  return exitCodes.ok;
}

/** The typed parameters as a request for `operation`. `makeOptions`: as for its command. */
export function operationRequest(
  operation: Operation,
  invocation: Invocation,
  makeOptions: MakeOptions,
): OperationRequest {
  const typed = typedParameters(invocation);
  const { options, settings } = invocation;
  if (options['shape'] === true && settings.get.length > 0) {
    throw usageError('--shape and --get cannot be used together', '--shape prints no values');
  }
  const named = parameterOptions(operation, ownOptions(operation, makeOptions));
  const query = operation.query === 'named' ? namedQuery(operation, typed, { options, named }) : typed;
  return { operation, query };
}

/** For people only: the duration, and the use of the quota. */
async function printFooter(
  { consumesQuota }: Operation,
  { status, durationMs, source }: ServiceResponse,
  { screen, settings }: Invocation,
): Promise<void> {
  if (!screen.isForPeople || !screen.err.isTTY || settings.get.length > 0) return;
  if (source === 'cache') return; // its age was printed before
  const took = `HTTP ${status} · ${Math.round(durationMs)} ms`;
  const [short, long] = consumesQuota ? [' · used 1 request', ' · used 1 of your monthly requests'] : ['', ''];
  const cost = took.length + long.length > screen.err.columns ? short : long;
  await screen.info(`\n${screen.err.palette.faint(took + cost)}\n`);
}

function ownOptions({ query }: Operation, makeOptions: MakeOptions): readonly Option[] {
  return [...(query === 'none' ? [] : [parameterOption()]), ...makeOptions()];
}

/** The options for printing and caching a response. */
export function responseOptions({ consumesQuota }: Operation): readonly Option[] {
  return [
    new Option('--envelope', 'print the whole response, not only its "data"'),
    new Option('--shape', 'print paths and types without values: safe to share'),
    ...(consumesQuota ? cacheOptions() : []),
  ];
}

/** For operations that use quota. */
function cacheOptions(): Option[] {
  return [
    cacheOption('use a cached response up to this age: 10m, snapshot'),
    new Option('--offline', 'use a cached response of any age; send nothing').conflicts('cache'),
  ];
}

function exampleOf({ id, parameters }: Operation): { readonly command: string; readonly comment: string } {
  const required = parameters.filter((parameter) => parameter.required);
  const words = required.map(({ name, example }) => quoteForShell(`${name}=${[example].flat().join(',')}`));
  return { command: ['fxrates', id, ...words].join(' '), comment: '' };
}
