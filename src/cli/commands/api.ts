import { Argument } from 'commander';
import { operations } from '../../generated/operations.ts';
import { isJson } from '../../json.ts';
import { isServicePath, type Operation } from '../../operation.ts';
import { CliError, changedCommand, usageError } from '../errors/cli-error.ts';
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

const OPERATIONS: readonly Operation[] = Object.values(operations);
const PATHS = OPERATIONS.map(({ path }) => path);
const BASE_PATH = operations.quota.path.replace(/\/[^/]*$/, '');
const [, FIRST_SEGMENT] = BASE_PATH.split('/');
const LAST_SEGMENT = BASE_PATH.replace(/.*(?=\/)/, '');

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
  try {
    await sendRequest(request, invocation, { trace }).catch(withWholePath(request.path, invocation));
  } finally {
    // Also after a failure: the body often has the reason.
    if (trace.received !== undefined) await printReceived(trace.received, invocation);
  }
}

/** Adds a hint with the complete path to a 404, if the typed path lacks the beginning. */
function withWholePath(path: string, { argv, args: [typed = ''] }: Invocation): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CliError) || error.details.facts?.status !== 404 || path.split('/')[1] === FIRST_SEGMENT)
      throw error;
    const missing = path.startsWith(`${LAST_SEGMENT}/`) ? BASE_PATH.slice(0, -LAST_SEGMENT.length) : BASE_PATH;
    const whole = PATHS.find((known) => known.endsWith(path)) ?? missing + path;
    const complete = typed.replace(/^[^?]*/, () => whole);
    const hint = `Paths begin with ${BASE_PATH}:  ${changedCommand(argv.with(argv.indexOf(typed), complete), {})}`;
    const { why: _, ...details } = error.details; // the message has the reason
    throw new CliError(error.message, { ...details, hints: [hint], cause: error });
  };
}

async function printReceived(response: TracedResponse, invocation: Invocation<ApiOptions>): Promise<void> {
  const { settings, options } = invocation;
  const body = Buffer.concat(response.body);
  if (options.include) await printRaw(head(response), invocation);
  const isAsItCame = settings.output === 'auto' && settings.get.length === 0;
  if (isAsItCame || !isJson(body.toString())) await printRaw(body, invocation);
  else await printJson(body.toString().trim(), invocation);
}

function head({ status, statusText, headers }: TracedResponse): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP ${status} ${statusText}`.trimEnd(), ...lines].join('\n')}\n\n`;
}

function requestOf({ args, options, argv }: Invocation<ApiOptions>): PathRequest {
  const [target = '', ...texts] = args;
  const [path = ''] = target.split('?', 1);
  const search = target.slice(path.length + 1);
  if (/^[a-z]+:\/\//i.test(target)) {
    throw usageError(`'${target}' is a URL`, 'api expects a path; set the host with --base-url', [
      `fxrates api ${URL.canParse(target) ? new URL(target).pathname : '/api/v1/latest'}`,
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
  const typed = Object.entries(typedParameters({ args: texts, options, argv }));
  return { path: checkedPath(path.startsWith('/') ? path : `/${path}`), query: joinParameters([...inPath, ...typed]) };
}

function checkedPath(path: string): string {
  if (isServicePath(path)) return path;
  throw usageError(`'${path}' is not a path of the service`, "without host, '..', '#' and white space", [
    'e.g. fxrates api /api/v1/latest base=USD',
  ]);
}
