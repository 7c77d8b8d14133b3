import { Argument } from 'commander';
import { operations } from '../../generated/operations.ts';
import { isJson } from '../../json.ts';
import { createOperationFinder, isServicePath, type Operation } from '../../operation.ts';
import { CliError, usageError } from '../errors/cli-error.ts';
import { printJson, printRaw } from '../output/print-json.ts';
import { CliCommand } from '../parser/command.ts';
import {
  checkParameter,
  emptyValue,
  joinParameters,
  parameterOptions,
  parametersArgument,
  typedParameters,
} from '../parser/parameters.ts';
import { HttpTrace, type TracedResponse } from '../request/http-trace.ts';
import { type PathRequest, printCurl, sendRequest } from '../request/send-request.ts';
import { CliOption, connectionOptions, dataOptions, requestOptions, type ValuesOf } from '../settings/options.ts';
import type { Invocation } from '../settings/settings.ts';
import { quoteForShell } from '../terminal/text.ts';

const OPERATIONS: readonly Operation[] = Object.values(operations);
const PATHS = OPERATIONS.map(({ path }) => path);
const BASE_PATH = operations.quota.path.replace(/\/[^/]*$/, '');
const findOperation = createOperationFinder(OPERATIONS);

const apiOptions = () => [
  ...parameterOptions(OPERATIONS),
  new CliOption('-i, --include', 'print the status line and the headers first'),
];

type ApiOptions = ValuesOf<typeof apiOptions>;

export function apiCommand(): CliCommand {
  return new CliCommand('api')
    .about({
      summary: 'raw GET of any path, body byte for byte',
      description: 'Sends a GET to any path of the service, with your key, and prints the body unchanged.',
      examples: [
        { command: 'fxrates api /api/v1/quota', comment: 'the whole envelope' },
        { command: 'fxrates api /api/v1/latest base=USD -i', comment: 'with status and headers' },
      ],
      notes: ['The body is printed for every status. The exit code is not 0 if the status is an error.'],
    })
    .takes(new Argument('<path>', 'a path such as /api/v1/latest, and parameters'), PATHS)
    .takes(parametersArgument(OPERATIONS))
    .with(apiOptions)
    .with(() => [...dataOptions(), ...connectionOptions(), ...requestOptions()])
    .runs(runApi);
}

async function runApi(invocation: Invocation<ApiOptions>): Promise<void> {
  const request = requestOf(invocation);
  if (invocation.settings.printsCurl) return printCurl(request, invocation);
  const trace = new HttpTrace(invocation, request.path);
  const failure = await sendRequest(request, invocation, { trace }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const { received } = trace;
  if (failure === undefined || isOtherJson(failure, request, received))
    return received && printReceived(received, invocation);
  if (received !== undefined) {
    // The body often has the reason. It may lack what `--get` selects.
    const printed = printReceived(received, invocation).catch(() => printRaw(bodyOf(received), invocation));
    await printed.catch(() => undefined); // the failure of the request is the one to report
  }
  throw withBasePath(failure, request);
}

/** Whether a path that the contract does not have responded with JSON that is not an envelope, which only the client rejects. */
function isOtherJson(failure: unknown, { path }: PathRequest, received: TracedResponse | undefined): boolean {
  const isOdd = failure instanceof CliError && failure.details.code === 'response' && received !== undefined;
  return isOdd && received.status < 300 && findOperation(path) === undefined && isJson(bodyOf(received).toString());
}

function bodyOf({ body }: TracedResponse): Buffer {
  return Buffer.concat(body);
}

/** A 404 of a path outside the API is about the path, not about the base URL. */
function withBasePath(error: unknown, { path }: PathRequest): unknown {
  const isNotFound = error instanceof CliError && error.details.facts?.status === 404;
  if (!isNotFound || path.startsWith(`${BASE_PATH}/`)) return error;
  const { why: _, ...details } = error.details; // the message has the reason
  return new CliError(error.message, { ...details, hints: [`Paths begin with ${BASE_PATH}`], cause: error });
}

async function printReceived(response: TracedResponse, invocation: Invocation<ApiOptions>): Promise<void> {
  const { settings, options } = invocation;
  const body = bodyOf(response);
  if (options.include) await printRaw(head(response), invocation);
  const isAsItCame = settings.output === 'auto' && settings.get.length === 0;
  if (isAsItCame || !isJson(body.toString())) await printRaw(body, invocation);
  else await printJson(body.toString().trim(), invocation);
}

function head({ status, statusText, headers }: TracedResponse): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP ${status} ${statusText}`.trimEnd(), ...lines].join('\n')}\n\n`;
}

function requestOf(invocation: Invocation<ApiOptions>): PathRequest {
  const { args, options } = invocation;
  const [target = '', ...texts] = args;
  const [path = ''] = target.split('?', 1);
  const search = target.slice(path.length + 1);
  if (/^[a-z]+:\/\//i.test(target)) {
    const url = URL.canParse(target) ? new URL(target) : new URL('https://host/api/v1/latest');
    throw usageError(`'${target}' is a URL`, 'api expects a path; set the host with --base-url', [
      `The path:  ${quoteForShell(url.pathname + url.search)}`,
    ]);
  }
  if (/^[A-Z]:[\\/]/i.test(target)) {
    throw usageError(`'${target}' is a path of Windows`, 'Git Bash changes arguments that begin with /', [
      'Without the first /:  fxrates api api/v1/latest',
    ]);
  }
  const inPath = [...new URLSearchParams(search)];
  if (path === '')
    throw usageError(`api expects a path, got '${target}'`, undefined, ['e.g. fxrates api /api/v1/quota']);
  for (const [name, value] of [['path', path], ...inPath] as const) {
    if (value === '') throw emptyValue(name);
    checkParameter(name, value);
  }
  const typed = Object.entries(typedParameters({ args: texts, options }));
  const query = joinParameters([...inPath, ...typed]);
  return { path: checkedPath(path.startsWith('/') ? path : `/${path}`), query };
}

function checkedPath(path: string): string {
  if (isServicePath(path)) return path;
  throw usageError(`'${path}' is not a path of the service`, "without host, '..', '#' and white space", [
    'e.g. fxrates api /api/v1/latest base=USD',
  ]);
}
